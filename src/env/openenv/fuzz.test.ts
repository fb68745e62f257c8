/** Ten thousand damaged frames: only PlaygroundErrors come out, no reward that the frame does not hold, and nothing is kept. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { Observation } from '../../core/environment'
import { PlaygroundError } from '../../core/errors'
import { RandomStream } from '../../core/random'
import { OpenEnvEnvironment } from './client'
import { errorFrame, fakeServer, missing, noMcp, observation } from './testing/fake-socket'
import { KINDS, mutate } from './testing/mutate'

const FRAMES = 10_000
const MB = 2 ** 20
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const start = { seed: 7, episode_id: 'ep', split: 'train' } as const
const listing = {
  type: 'mcp',
  data: {
    jsonrpc: '2.0',
    id: 1,
    result: {
      tools: [{ name: 'echo', description: 'Say it.', input_schema: { type: 'object', required: ['message'], properties: { message: { type: 'string' } } } }],
    },
  },
}
const FAMILIES = {
  typed: {
    hello: noMcp as unknown,
    call: { name: 'move', arguments: { to: 'left' } },
    answers: [
      observation({ text: 'height 3, ball a, paddle b' }, 0.25),
      { type: 'observation', data: { observation: { text: 'x', metadata: { turn: 1 } }, reward: 1, done: true, metadata: { turn: 1 } } },
      { type: 'observation', data: { text: 'home-made', reward: -1, done: false } },
      errorFrame('VALIDATION_ERROR', 'Invalid message', { errors: [{ type: 'literal_error', loc: ['to'], msg: 'no such way', ctx: { expected: "'left'" } }] }),
      errorFrame('EXECUTION_ERROR', 'asked to fail'),
    ] as unknown[],
  },
  mcp: {
    hello: listing as unknown,
    call: { name: 'echo', arguments: { message: 'hi' } },
    answers: [
      observation({ tool_name: 'echo', result: { content: [{ type: 'text', text: 'hi' }], structured_content: { result: 'hi' }, data: 'hi', is_error: false }, error: null }, 0.75),
      observation({ tool_name: 'echo', result: null, error: { error_type: 'invalid_args', message: 'no' } }),
      observation({ tool_name: 'echo', result: 'plain', error: null, image: `iVBORw0KGgo${'A'.repeat(100)}` }, 0.5, true),
    ] as unknown[],
  },
} as const
type FamilyName = keyof typeof FAMILIES

/** What the server says next: text as it is, or a frame that is whole. */
interface Plan {
  hello?: string
  reset?: string
  step?: string[]
}

/** An environment whose server follows the plan of the moment; whoever waits after that is hung up on. */
function scripted(family: FamilyName) {
  const plan: { now: Plan } = { now: {} }
  const { hello } = FAMILIES[family]
  const { WebSocket, peers } = fakeServer({
    onFrame: (frame, peer) => {
      const say = (text: string | undefined, whole: unknown) => {
        if (text === undefined) return peer.send(whole)
        peer.sendRaw(text)
        peer.hangUp(1000)
      }
      if (frame.type === 'mcp') say(plan.now.hello, hello)
      else if (frame.data && '__probe__' in frame.data) peer.send(missing('to'))
      else if (frame.type === 'state') peer.send({ type: 'state', data: {} })
      else if (frame.type === 'reset') say(plan.now.reset, observation({ text: 'height 5, ball a, paddle b' }))
      else if (frame.type === 'step') {
        for (const text of plan.now.step ?? []) peer.sendRaw(text)
        peer.hangUp(1000)
      }
    },
  })
  const environment = new OpenEnvEnvironment('example.org', {
    WebSocket,
    fetch: () => Promise.reject(new TypeError('Failed to fetch')),
    deadlines: { openMs: 1000, helloMs: 1000, resetMs: 1000, stepMs: 1000, quietMs: 0, capacityMs: 0, backoffMs: 1 },
  })
  return { environment, plan, peers }
}

/** What a plain reading of a frame calls its reward; undefined where it is no observation or names no usable reward. */
function plainReward(text: string): number | null | undefined {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g, (part) => (part.startsWith('"') ? part : 'null')))
  } catch {
    return undefined
  }
  const { type, data } = (value ?? {}) as { type?: unknown; data?: { reward?: unknown; observation?: { reward?: unknown } | null } }
  if (type !== 'observation' || typeof data !== 'object' || data === null) return undefined
  const given = Object.hasOwn(data, 'reward') ? data.reward : data.observation?.reward
  if (given === undefined || given === null || given === Infinity || given === -Infinity) return null
  return typeof given === 'number' || typeof given === 'boolean' ? Number(given) : undefined
}

async function outcome<T>(promise: Promise<T>): Promise<T | PlaygroundError> {
  try {
    return await promise
  } catch (error) {
    if (error instanceof PlaygroundError && error.kind === 'environment') return error
    throw new Error(`Something else than an environment's error came out: ${String(error)}`, { cause: error })
  }
}

/** Plays one episode of one step with the damage where the plan says; the step's observation, or what ended it. */
async function play(server: ReturnType<typeof scripted>, family: FamilyName, now: Plan): Promise<Observation | PlaygroundError> {
  const { environment, plan, peers } = server
  plan.now = now
  // The fake keeps every connection; what may grow here is only what the client keeps.
  peers.length = 0
  const session = await outcome(environment.open())
  if (session instanceof PlaygroundError) return session
  try {
    const first = await outcome(session.reset(start))
    if (first instanceof PlaygroundError) return first
    // A damaged reset may well claim a reward or an end, which then stand in it.
    if (now.reset !== undefined) {
      expect(first.reward).toBe(plainReward(now.reset))
      if (first.done) return first
    }
    return await outcome(session.step(FAMILIES[family].call))
  } finally {
    await session.close()
  }
}

describe('damaged frames', () => {
  it(`${FRAMES} of them: an error, or exactly the reward that stands in the frame`, async () => {
    const random = new RandomStream(20_261_129)
    const servers = { typed: scripted('typed'), mcp: scripted('mcp') }
    await Promise.all([servers.typed.environment.connect(), servers.mcp.environment.connect()])
    const seen = { rewarded: 0, silent: 0, errors: 0, ambiguous: 0 }
    let before = 0
    for (let i = 0; i < FRAMES; i++) {
      if (i === 2000) {
        collect()
        before = process.memoryUsage().heapUsed
      }
      const family: FamilyName = random.int(3) === 0 ? 'mcp' : 'typed'
      const kind = random.pick(KINDS)
      const whole = random.pick(FAMILIES[family].answers)
      const damaged = mutate(whole, kind, random)
      const where = random.int(10)
      if (where === 0) {
        await play(servers[family], family, { hello: mutate(FAMILIES[family].hello, kind, random) })
      } else if (where === 1) {
        await play(servers[family], family, { reset: damaged })
      } else {
        const result = await play(servers[family], family, { step: [damaged] })
        const wanted = plainReward(damaged)
        if (result instanceof PlaygroundError) {
          seen.errors++
          expect(result.message.length).toBeLessThan(4000)
          continue
        }
        // A refused call has no reward; everything else has the frame's.
        if (!result.toolError || wanted !== undefined) expect([kind, damaged.slice(0, 500), result.reward]).toEqual([kind, damaged.slice(0, 500), wanted ?? null])
        expect(result.reward === null || Number.isFinite(result.reward)).toBe(true)
        expect(result.text.length).toBeLessThan(25_000)
        if (kind === 'duplicated' && /"reward":[^,]*,"reward":/.test(damaged)) seen.ambiguous++
        if (result.reward === null) seen.silent++
        else seen.rewarded++
      }
    }
    collect()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(16 * MB)
    expect(seen.ambiguous).toBe(0)
    // The damage is neither so great that nothing passes nor so small that everything does.
    for (const n of [seen.rewarded, seen.silent, seen.errors]) expect(n).toBeGreaterThan(FRAMES / 20)
  }, 300_000)

  it('in the wrong order never pass for an answer', async () => {
    const random = new RandomStream(4)
    const server = scripted('typed')
    await server.environment.connect()
    const good = JSON.stringify(observation({ text: 'x' }, 0.25))
    const others = [
      { type: 'state', data: { episode_id: 'e', step_count: 1, reward: 1 } },
      { type: 'mcp', data: { jsonrpc: '2.0', id: 1, result: { reward: 1 } } },
      errorFrame('SESSION_ERROR', 'over'),
    ].map((frame) => JSON.stringify(frame))
    for (let i = 0; i < 200; i++) {
      const result = await play(server, 'typed', { step: [random.pick(others), good] })
      expect(result).toBeInstanceOf(PlaygroundError)
    }
    // What a newer server tells in between is passed over.
    expect(await play(server, 'typed', { step: ['{"type":"progress","data":{"reward":1}}', good] })).toMatchObject({ reward: 0.25 })
  })

  it('in a listing of tools end in tools or in an error', async () => {
    const random = new RandomStream(5)
    let usable = 0
    for (let i = 0; i < 600; i++) {
      const { environment, plan } = scripted('mcp')
      plan.now = { hello: mutate(listing, random.pick(KINDS), random) }
      const result = await outcome(environment.connect())
      if (result instanceof PlaygroundError) continue
      usable++
      expect(environment.tools.length).toBeGreaterThan(0)
      for (const { function: tool } of environment.tools) expect([typeof tool.name, typeof tool.description]).toEqual(['string', 'string'])
    }
    expect(usable).toBeGreaterThan(20)
  })
})
