/** Frames as servers of several ages write them, and frames that are none: read rightly or refused, never misread. */

import { describe, expect, it } from 'vitest'
import { RandomStream } from '../../core/random'
import { clientFrame, describeFieldErrors, parseServerFrame } from './protocol'

const read = (frame: unknown) => parseServerFrame(JSON.stringify(frame))
const observed = (data: unknown) => read({ type: 'observation', data })

describe('observations', () => {
  it.each([
    ['number', { reward: 0.5 }, 0.5],
    ['integer', { reward: -1 }, -1],
    ['zero', { reward: 0 }, 0],
    ['none', { reward: null }, null],
    ['absent', {}, null],
    ['true', { reward: true }, 1],
    ['false', { reward: false }, 0],
  ])('reward: %s', (_, data, reward) => {
    expect(observed({ observation: { a: 1 }, ...data })).toMatchObject({ kind: 'observation', reward, done: false, observation: { a: 1 } })
  })

  it('an infinite reward is none, and bare NaN can be read', () => {
    expect(parseServerFrame('{"type":"observation","data":{"observation":{},"reward":1e999}}')).toMatchObject({ reward: null })
    expect(parseServerFrame('{"type":"observation","data":{"observation":{"a":"NaN \\" NaN","b":-Infinity},"reward":NaN}}')).toMatchObject({
      reward: null,
      observation: { a: 'NaN " NaN', b: null },
    })
  })

  it.each([[{ reward: '1.0' }], [{ reward: {} }], [{ reward: [1] }], [{ done: 'yes' }], [{ done: 1 }]])('%j is no observation', (data) => {
    expect(observed({ observation: {}, ...data }).kind).toBe('garbage')
  })

  it('finds metadata in both places', () => {
    expect(observed({ observation: { metadata: { a: 1 }, text: 'x' } })).toMatchObject({ metadata: { a: 1 }, observation: { text: 'x' } })
    expect(observed({ observation: { metadata: { a: 1 } }, metadata: { b: 2 } })).toMatchObject({ metadata: { b: 2 }, observation: {} })
    expect(observed({ observation: {} })).toMatchObject({ metadata: {} })
  })

  it('reads home-made servers: no envelope, or reward and done inside', () => {
    expect(observed({ text: 'x', reward: 1, done: true })).toEqual({
      kind: 'observation',
      observation: { text: 'x' },
      reward: 1,
      done: true,
      metadata: {},
    })
    expect(observed({ observation: { text: 'x', reward: 1, done: true } })).toMatchObject({
      reward: 1,
      done: true,
      observation: { text: 'x' },
    })
    // The envelope comes first, also when it says null.
    expect(observed({ observation: { reward: 1 }, reward: null })).toMatchObject({ reward: null })
  })
})

describe('other frames', () => {
  it('state, mcp, unknown', () => {
    expect(read({ type: 'state', data: { episode_id: null, step_count: 1 } })).toEqual({
      kind: 'state',
      state: { episode_id: null, step_count: 1 },
    })
    expect(read({ type: 'mcp', data: { jsonrpc: '2.0', id: 1, result: { tools: [] } } })).toEqual({
      kind: 'mcp',
      result: { tools: [] },
      error: null,
    })
    expect(read({ type: 'mcp', data: { error: { code: -32603, message: 'no' } } })).toMatchObject({
      kind: 'mcp',
      error: { code: -32603, message: 'no' },
    })
    expect(read({ type: 'validation', data: 1 })).toEqual({ kind: 'unknown', type: 'validation' })
  })

  it('errors, with and without what they should carry', () => {
    const full = { message: 'full', code: 'CAPACITY_REACHED', active_sessions: 2, max_sessions: 2 }
    expect(read({ type: 'error', data: full })).toMatchObject({ code: 'CAPACITY_REACHED', activeSessions: 2, maxSessions: 2, errors: [] })
    expect(read({ type: 'error', data: {} })).toMatchObject({ kind: 'error', code: 'UNKNOWN', message: '', maxSessions: null })
    const errors = [{ type: 'missing', loc: ['a', 0], msg: 'Field required' }, 'odd', { type: 'x', loc: [], msg: 'bad', ctx: 5 }]
    const frame = read({ type: 'error', data: { code: 'VALIDATION_ERROR', message: 'Invalid message', errors } })
    expect(frame.kind === 'error' && describeFieldErrors(frame)).toBe('a.0: Field required; bad')
  })

  it.each([
    '',
    'null',
    '[]',
    '"hi"',
    '5',
    '{',
    '{"type":5}',
    '{"data":{}}',
    '{"type":"observation"}',
    '{"type":"observation","data":[]}',
    '{"type":"observation","data":{"observation":"x"}}',
    '{"type":"error","data":null}',
  ])('garbage: %s', (text) => {
    expect(parseServerFrame(text).kind).toBe('garbage')
  })
})

it('our own frames are strict', () => {
  expect(clientFrame.safeParse({ type: 'state' }).success).toBe(true)
  expect(clientFrame.safeParse({ type: 'state', data: {} }).success).toBe(false)
  expect(clientFrame.safeParse({ type: 'step', data: {}, request_id: 1 }).success).toBe(false)
})

it('600 damaged frames: never an exception, never a reward that does not stand in the frame', () => {
  const good = [
    '{"type":"observation","data":{"observation":{"text":"height 3","score":7},"reward":0.25,"done":false,"metadata":{"turn":1}}}',
    '{"type":"observation","data":{"observation":{"tool_name":"echo","result":{"data":"NaN"},"error":null},"reward":null,"done":true}}',
    '{"type":"error","data":{"message":"full","code":"CAPACITY_REACHED","active_sessions":2,"max_sessions":2}}',
  ]
  const random = new RandomStream(20)
  const scraps = ['"', '{', '}', ',', ':', 'null', 'NaN', '[', '1e999', '"reward":', 'true', '\\', '\u0000', '-']
  const rewards = new Set<number | null>()
  for (let i = 0; i < 600; i++) {
    let text = random.pick(good)
    for (let n = random.int(3); n >= 0; n--) {
      const at = random.int(text.length)
      const rest = [text.slice(at + 1 + random.int(8)), text.slice(at), ''][random.int(3)] ?? ''
      text = text.slice(0, at) + random.pick(scraps) + rest
    }
    const frame = parseServerFrame(text)
    if (frame.kind !== 'observation' || frame.reward === null) continue
    rewards.add(frame.reward)
    // A second, naive reading agrees.
    const data = (JSON.parse(text.replace(/\bNaN\b/g, 'null')) as { data: { reward?: unknown; observation?: { reward?: unknown } } }).data
    expect(Number(Object.hasOwn(data, 'reward') ? data.reward : data.observation?.reward)).toBe(frame.reward)
    expect(Number.isFinite(frame.reward)).toBe(true)
  }
  expect(rewards.size).toBeGreaterThan(0)
})
