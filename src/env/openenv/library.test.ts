/** What the real library sent for the reference's echo server in June and July 2026 (see openenv-protocol.md), read by our code. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { factsFromRefusals, factsFromSchema, readTools } from './discovery'
import { findTyped } from './catalogue'
import { observationText, withoutPictures } from './observe'
import { MAX_FRAME_CHARACTERS, parseServerFrame, type ServerFrame } from './protocol'
import { deriveTools } from './typed-tools'

interface Exchange {
  /** null for what came unasked. */
  sent: string | null
  frame: ServerFrame
  raw: { type?: string; data?: Record<string, unknown> }
}

const read = (file: string) => readFileSync(new URL(`../../../e2e/openenv/transcripts/library/${file}`, import.meta.url), 'utf8')

function exchanges(file: string): Exchange[] {
  const lines = read(file)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { dir: string; text?: string })
  return lines.flatMap(({ dir, text = '' }, i) => {
    if (dir !== 'recv') return []
    const before = lines[i - 1]
    return [
      {
        sent: before?.dir === 'send' ? (before.text ?? '') : null,
        frame: parseServerFrame(text),
        raw: JSON.parse(text) as Exchange['raw'],
      },
    ]
  })
}

const FILES = ['typed-2026-june.jsonl', 'typed-2026-july.jsonl', 'mcp-2026-june.jsonl', 'mcp-2026-july.jsonl']

describe.each(FILES)('%s', (file) => {
  it('has no frame that we cannot read, and every reward and done is the one that was sent', () => {
    const all = exchanges(file)
    expect(all.length).toBeGreaterThan(8)
    for (const { frame, raw } of all) {
      expect(frame.kind).toBe(raw.type)
      if (frame.kind === 'observation') {
        expect(frame.reward).toBe(raw.data?.['reward'] ?? null)
        expect(frame.done).toBe(raw.data?.['done'])
        expect(Object.keys(frame.observation)).not.toContain('metadata')
      }
      if (frame.kind === 'error') expect(frame.code).toBe(raw.data?.['code'])
    }
  })
})

describe('June and July', () => {
  it.each(['typed', 'mcp'])('%s: say the same to the model, though metadata is in another place', (name) => {
    const texts = (month: string) =>
      exchanges(`${name}-2026-${month}.jsonl`).flatMap(({ frame }) => {
        if (frame.kind !== 'observation') return []
        const { frame: plain, images } = withoutPictures(frame)
        // Resets draw a number at random.
        const text = observationText(plain).text.replace(/ready \d+/g, 'ready N')
        return [
          { text, reward: frame.reward, done: frame.done, images: images.map(({ width, height, mime }) => `${mime} ${width}×${height}`) },
        ]
      })
    const june = texts('june')
    expect(texts('july')).toEqual(june)
    expect(june.length).toBeGreaterThan(4)
    const pictures = june.flatMap(({ images }) => images)
    expect(pictures).toEqual(name === 'typed' ? ['image/png 1×1'] : [])
  })
})

describe('discovery', () => {
  it('lists the MCP tools in prompt form', () => {
    const listing = exchanges('mcp-2026-july.jsonl').find(({ frame }) => frame.kind === 'mcp')?.frame
    const tools = listing?.kind === 'mcp' ? readTools(listing.result) : null
    expect(tools?.map((tool) => tool.function.name)).toEqual(['echo', 'measure', 'fail'])
    expect(tools?.[0]?.function).toEqual({
      name: 'echo',
      description: 'Send the message back.',
      parameters: {
        type: 'object',
        properties: { message: { type: 'string' }, times: { type: 'integer', default: 1 } },
        required: ['message'],
      },
    })
  })

  it('reads the probe’s refusal and the schema alike', () => {
    const refusal = exchanges('typed-2026-june.jsonl').find(({ sent }) => sent?.includes('__probe__') === true)?.frame
    if (refusal?.kind !== 'error') throw new Error('no refusal')
    const probed = factsFromRefusals(refusal, null)
    const told = factsFromSchema((JSON.parse(read('schema-typed.json')) as { action: unknown }).action)
    expect(probed.required).toEqual(['message'])
    expect(told).toMatchObject({ required: ['message'], title: 'EchoAction', types: { message: 'string', repeat: 'integer' } })
    expect(told && findTyped(told)?.id).toBe('echo-typed')
    expect(told && deriveTools(told)?.map(({ tool }) => tool.function)).toEqual([
      {
        name: 'echo',
        description: 'Takes the action EchoAction.',
        parameters: {
          type: 'object',
          properties: {
            message: { type: 'string', description: 'Text to send back', minLength: 1 },
            repeat: { type: 'integer', default: 1, description: 'How many times', minimum: 1, maximum: 5 },
          },
          required: ['message'],
        },
      },
    ])
  })

  it('the MCP action’s schema is read, too', () => {
    const told = factsFromSchema((JSON.parse(read('schema-mcp.json')) as { action: unknown }).action)
    expect(told).toMatchObject({ title: 'CallToolAction', required: ['tool_name'] })
  })
})

describe('large frames', () => {
  it('a screenshot of 1280×720 as numbers is read and made small in seconds; what is larger than the limit is not read', () => {
    const row = JSON.stringify(Array.from({ length: 1280 }, (_, x) => [x % 256, 200, 255]))
    const text = `{"type":"observation","data":{"observation":{"goal":"g","screenshot":[${Array<string>(720).fill(row).join()}]},"reward":0,"done":false}}`
    expect(text.length).toBeGreaterThan(9e6)
    expect(text.length).toBeLessThan(MAX_FRAME_CHARACTERS)
    const frame = parseServerFrame(text)
    if (frame.kind !== 'observation') throw new Error('not read')
    const { frame: plain, images } = withoutPictures(frame)
    expect(images).toMatchObject([{ width: 1280, height: 720, mime: 'image/png' }])
    expect(images[0]?.bytes.length).toBeLessThan(200_000)
    expect(observationText(plain).text).toBe('{"goal":"g","screenshot":"[image 1280×720, not shown to a text-only model]"}')
    const huge = `{"type":"observation","data":{"observation":{"t":"${'x'.repeat(MAX_FRAME_CHARACTERS)}"},"reward":1,"done":false}}`
    expect(parseServerFrame(huge)).toEqual({ kind: 'garbage', why: 'it has 40.0 MiB, more than the 40 that are read' })
  })
})
