/** Damages a server's frame in the ways that frames are damaged: bytes, cuts, types, depth, numbers, duplicate keys, other envelopes. */

import type { RandomStream } from '../../../core/random'
import { isRecord } from '../../../core/records'
import type { Fields } from '../fields'

const SCRAPS = ['"', '{', '}', ',', ':', 'null', 'NaN', '[', ']', '1e999', '"reward":', 'true', '\\', '\u0000', '-', '\ud800', ' ', '0']
const VALUES: readonly unknown[] = [
  null, true, false, 0, -0, 1, -1, 1e308, -1e308, 5e-324, 2 ** 53 + 1, '', '0.25', 'NaN', 'true', [], [0.25], {}, { reward: 1 }, ['x', {}], 'x'.repeat(3000),
]
const BARE = ['NaN', 'Infinity', '-Infinity', '1e999', '-1e999', '0x10', '1_0', '.5', '01', '+1', '1.', 'nan', 'None', 'True', 'undefined']
const TYPES = ['observation', 'state', 'mcp', 'error', 'close', 'progress', '', 'Observation', 5, null, ['observation']]
const KEYS = ['reward', 'done', 'observation', 'metadata', 'type', 'data', 'text', '__proto__', 'constructor', 'code', 'message', 'errors', 'result', 'tools']

/** Every object inside, itself included. */
function objects(value: unknown, found: Fields[] = []): Fields[] {
  if (Array.isArray(value)) for (const item of value) objects(item, found)
  if (isRecord(value)) {
    found.push(value)
    for (const item of Object.values(value)) objects(item, found)
  }
  return found
}

/** Changes one place of the parsed frame. */
function graft(frame: unknown, random: RandomStream, change: (object: Fields, key: string) => void): string {
  const copy = structuredClone(frame)
  const object = random.pick(objects(copy))
  const keys = Object.keys(object)
  change(object, keys.length > 0 && random.int(4) > 0 ? random.pick(keys) : random.pick(KEYS))
  return JSON.stringify(copy)
}

const MUTATIONS: Record<string, (frame: unknown, random: RandomStream) => string> = {
  bytes: (frame, random) => {
    const bytes = Buffer.from(JSON.stringify(frame))
    for (let n = random.int(4); n >= 0; n--) bytes[random.int(bytes.length)] = random.int(256)
    return bytes.toString()
  },
  scraps: (frame, random) => {
    let text = JSON.stringify(frame)
    for (let n = random.int(3); n >= 0; n--) {
      const at = random.int(text.length)
      text = text.slice(0, at) + random.pick(SCRAPS) + text.slice(at + random.int(6))
    }
    return text
  },
  truncated: (frame, random) => {
    const text = JSON.stringify(frame)
    return text.slice(0, random.int(text.length))
  },
  swapped: (frame, random) => graft(frame, random, (object, key) => (object[key] = random.pick(VALUES))),
  removed: (frame, random) => graft(frame, random, (object, key) => delete object[key]),
  renamed: (frame, random) =>
    graft(frame, random, (object, key) => {
      const value = object[key]
      delete object[key]
      object[random.pick([key.toUpperCase(), `${key} `, random.pick(KEYS)])] = value
    }),
  moved: (frame, random) => graft(frame, random, (object, key) => (object[key] = structuredClone(frame))),
  deep: (frame, random) => {
    const depth = random.pick([20, 90, 200, 50_000])
    const [open, close] = random.pick([
      ['[', ']'],
      ['{"a":', '}'],
    ])
    const nest = open.repeat(depth) + '1' + close.repeat(depth)
    return graft(frame, random, (object, key) => (object[key] = '@@')).replace('"@@"', nest)
  },
  bare: (frame, random) => graft(frame, random, (object, key) => (object[key] = '@@')).replace('"@@"', random.pick(BARE)),
  duplicated: (frame, random) => {
    const text = JSON.stringify(frame)
    const key = random.pick(['"reward":', '"done":', '"observation":', '"type":', '"data":'])
    const value = random.pick(['0', '1', '0.5', 'null', 'true', '{}', '"state"', '"observation"'])
    const at = text.indexOf(key)
    return at < 0 ? text : `${text.slice(0, at)}${key}${value},${text.slice(at)}`
  },
  retyped: (frame, random) => (isRecord(frame) ? JSON.stringify({ ...frame, type: random.pick(TYPES) }) : ''),
  wrapped: (frame, random) => JSON.stringify(random.pick([[frame], { data: frame }, { type: 'observation', data: frame }, JSON.stringify(frame), null, 0])),
}

export const KINDS = Object.keys(MUTATIONS)

/** One damaged frame. The same random numbers give the same damage. */
export function mutate(frame: unknown, kind: string, random: RandomStream): string {
  return MUTATIONS[kind]?.(frame, random) ?? ''
}
