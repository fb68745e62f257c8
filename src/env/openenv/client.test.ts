/** The environment as a rollout uses it: capacity, seeds, what is an observation and what an error; recorded servers replayed. */

import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Observation } from '../../core/environment'
import { isLasting, PlaygroundError } from '../../core/errors'
import { RandomStream } from '../../core/random'
import type { ToolCall } from '../../core/tools'
import { OpenEnvEnvironment, type OpenEnvOptions } from './client'
import { errorFrame, fakeServer, missing, noMcp, observation, type Script } from './testing/fake-socket'

const reset = { seed: 7, episode_id: 'ep', split: 'train' } as const
const left: ToolCall = { name: 'move', arguments: { to: 'left' } }
const offline = () => Promise.reject(new TypeError('Failed to fetch'))

/** A typed catch server; `play` answers resets and steps. */
function catchServer(play: Script['onFrame'], onConnect?: Script['onConnect'], options: Partial<OpenEnvOptions> = {}) {
  const { WebSocket, peers } = fakeServer({
    ...(onConnect ? { onConnect } : {}),
    onFrame: (frame, peer) => {
      if (frame.type === 'mcp') peer.send(noMcp)
      else if (frame.data && '__probe__' in frame.data) peer.send(missing('to'))
      else if (frame.type !== 'close') play?.(frame, peer)
    },
  })
  const deadlines = { openMs: 500, helloMs: 500, resetMs: 200, stepMs: 100, capacityMs: 300, backoffMs: 10 }
  return {
    peers,
    environment: new OpenEnvEnvironment('example.org', { WebSocket, fetch: offline, deadlines, random: () => 0.5, ...options }),
  }
}

async function started(step: unknown, options: Partial<OpenEnvOptions> = {}) {
  const server = catchServer(
    (frame, peer) => {
      if (frame.type === 'reset') peer.send(observation({ text: 'height 5, ball a, paddle b' }))
      else if (step !== 'nothing') peer.send(step)
    },
    undefined,
    options,
  )
  await server.environment.connect()
  const session = await server.environment.open()
  await session.reset(reset)
  return { ...server, session }
}

async function failure(promise: Promise<unknown>): Promise<PlaygroundError> {
  const error: unknown = await promise.then(
    () => null,
    (e: unknown) => e,
  )
  expect(error).toBeInstanceOf(PlaygroundError)
  return error as PlaygroundError
}

describe('episodes', () => {
  it('send seed and episode_id, one socket an episode, and say goodbye', async () => {
    const { peers, session } = await started(observation({ text: 'x' }, 0))
    await session.step(left)
    await session.close()
    expect(peers).toHaveLength(2)
    expect(peers[1]?.received.slice(1)).toEqual([
      '{"type":"reset","data":{"seed":7,"episode_id":"ep"}}',
      '{"type":"step","data":{"to":"left"}}',
      '{"type":"close"}',
    ])
  })

  it('go on after VALIDATION_ERROR, and after calls that are not even sent', async () => {
    const errors = [{ type: 'literal_error', loc: ['to'], msg: 'no such way' }]
    const { session, peers } = await started(errorFrame('VALIDATION_ERROR', 'Invalid message', { errors }))
    expect(await session.step(left)).toMatchObject({ text: 'Error: to: no such way', toolError: true, reward: null, done: false })
    expect(await session.step({ name: 'jump', arguments: {} })).toMatchObject({ refused: true, text: 'Error: There is no tool named "jump". The tools are: move.', toolError: true })
    expect(peers[1]?.received.filter((text) => text.includes('"step"'))).toHaveLength(1)
    await session.close()
  })

  it.each(['EXECUTION_ERROR', 'SESSION_ERROR', 'INVALID_JSON', 'UNKNOWN_TYPE', 'FACTORY_ERROR', 'CAPACITY_REACHED', 'NEWER_CODE'])(
    'end with %s',
    async (code) => {
      const { session } = await started(errorFrame(code, 'the reason'))
      const error = await failure(session.step(left))
      expect(error.kind).toBe('environment')
      expect(error.message).toContain('the reason')
      expect((await failure(session.step(left))).message).toContain('after the session had failed')
      await session.close()
    },
  )

  it('are blamed on the action by SESSION_ERROR that answers it, and on nobody by one that comes unasked', async () => {
    const answered = await started(errorFrame('SESSION_ERROR', 'cannot serialise'))
    const blamed = await failure(answered.session.step(left))
    expect([blamed.message, isLasting(blamed)]).toEqual([expect.stringContaining('ended the session over an action'), true])
    const { session, peers } = await started(observation({ text: 'x' }, 0))
    peers[1]?.send(errorFrame('SESSION_ERROR', 'The environment was reaped.'))
    await new Promise((resolve) => setTimeout(resolve, 5))
    const unasked = await failure(session.step(left))
    expect(unasked.message).toBe('example.org reported SESSION_ERROR though nothing had been asked of it: The environment was reaped.')
    expect([unasked.recurrence, isLasting(unasked)]).toEqual(['passing', false])
    // The action was not even sent.
    expect(peers[1]?.received.some((text) => text.includes('"step"'))).toBe(false)
  })

  it.each([['VALIDATION_ERROR', true], ['SESSION_ERROR', false]] as const)('do not begin when reset is answered with %s; lasting: %s', async (code, lasting) => {
    const { environment } = catchServer((_, peer) => peer.send(errorFrame(code, 'no')))
    await environment.connect()
    const error = await failure((await environment.open()).reset(reset))
    expect([error.message, isLasting(error)]).toEqual([expect.stringContaining(`answered to reset with ${code}: no`), lasting])
  })

  it('end at a deadline, after done, and do not begin without reset', async () => {
    const { session } = await started('nothing')
    expect((await failure(session.step(left))).message).toContain('within 0.1 s')
    await session.close()
    const over = await started(observation({ text: 'x' }, 1, true))
    expect(await over.session.step(left)).toMatchObject({ reward: 1, done: true })
    expect((await failure(over.session.step(left))).message).toContain('after the episode was done')
    const fresh = await over.environment.open()
    expect((await failure(fresh.step(left))).message).toContain('before reset')
    await over.environment.close()
  })

  it('300 damaged replies: an error or the reward that was written, nothing else', async () => {
    const random = new RandomStream(3)
    let answers = 0
    for (let i = 0; i < 300; i++) {
      const good = JSON.stringify(observation({ text: 'height 1, ball a, paddle a' }, 0.75, false))
      const at = random.int(good.length)
      const damaged =
        random.int(4) === 0
          ? good.slice(0, at)
          : good.slice(0, at) + random.pick(['x', '"', '}', '{', ',', '']) + good.slice(at + random.int(3))
      const { session } = await started('nothing', {
        WebSocket: fakeServer({
          onFrame: (frame, peer) => {
            if (frame.type === 'mcp') peer.send(noMcp)
            else if (frame.data && '__probe__' in frame.data) peer.send(missing('to'))
            else if (frame.type === 'reset') peer.send(observation({ text: 'go' }))
            else if (frame.type === 'step') peer.sendRaw(damaged)
          },
        }).WebSocket,
        deadlines: { stepMs: 1, helloMs: 500, resetMs: 500, quietMs: 0 },
      })
      const outcome: Observation | PlaygroundError = await session.step(left).catch((e: PlaygroundError) => e)
      if (!(outcome instanceof PlaygroundError)) {
        answers++
        const { data } = JSON.parse(damaged) as { data: { reward?: number } }
        expect(outcome.reward).toBe(data.reward ?? null)
      }
      await session.close()
    }
    expect(answers).toBeGreaterThan(0)
    expect(answers).toBeLessThan(300)
  })
})

describe('rewards', () => {
  const { environment } = catchServer(undefined)
  it('are summed, null when none was given', () => {
    expect(environment.episodeReward([null, 0, 0.5, null, 0.5])).toBe(1)
    expect(environment.episodeReward([null, 0])).toBe(0)
    expect(environment.episodeReward([null, null])).toBeNull()
    expect(environment.episodeReward([])).toBeNull()
    expect([1, 1.5].every((r) => environment.isSuccess(r))).toBe(true)
    expect(environment.isSuccess(0.9)).toBe(false)
  })
})

describe('capacity', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())
  /** What the promise comes to, as the clock goes on. */
  async function inTime<T>(promise: Promise<T>): Promise<T> {
    let over = false
    const end = () => (over = true)
    promise.then(end, end)
    for (let ms = 0; !over && ms < 60_000; ms++) await vi.advanceTimersByTimeAsync(1)
    return promise
  }

  /** Refuses beyond `max` sessions, as the server does: after accepting. */
  function limited(max: number) {
    let open = 0
    let most = 0
    const server = catchServer(
      (frame, peer) => peer.send(frame.type === 'reset' ? observation({ text: 'go' }) : observation({ text: 'x' }, 0)),
      (peer) => {
        if (open >= max) {
          queueMicrotask(() => {
            peer.send(errorFrame('CAPACITY_REACHED', `Server at capacity: ${open}/${max}.`, { active_sessions: open, max_sessions: max }))
            peer.hangUp(1000)
          })
          return 'accept'
        }
        most = Math.max(most, ++open)
        const { hangUp } = peer
        // The goodbye frees the slot.
        peer.hangUp = (code, reason) => {
          open--
          hangUp(code, reason)
        }
        return 'accept'
      },
      { deadlines: { capacityMs: 2000, backoffMs: 10, helloMs: 500, openMs: 500 } },
    )
    return { ...server, most: () => most, occupy: () => open++ }
  }

  it('ten at once on a server with three: all get a turn, never more than three, and the limit is learnt', async () => {
    const { environment, most, peers } = limited(3)
    await inTime(environment.connect())
    expect(environment.maxSessions).toBe(16)
    const play = async () => {
      const session = await environment.open()
      const { text } = await session.reset(reset)
      await new Promise((resolve) => setTimeout(resolve, 5))
      await session.close()
      return text
    }
    const texts = await inTime(Promise.all(Array.from({ length: 10 }, play)))
    expect(texts).toEqual(Array.from({ length: 10 }, () => 'go'))
    expect(environment.maxSessions).toBe(3)
    expect(most()).toBe(3)
    // Asked for 1, 2 and 4: few had to be refused to find that out.
    const refused = peers.filter((peer) => peer.received.length > 0 && !peer.received.some((text) => text.includes('"reset"'))).length
    expect(refused).toBeLessThan(6)
  })

  it('a server that builds its sessions one after the other, slowly, is asked for fewer at once and loses none', async () => {
    let busy = Promise.resolve()
    const { WebSocket, peers } = fakeServer({
      onFrame: (frame, peer) => {
        if (frame.type === 'close') return
        const first = peer.received.length === 1
        const reply = () => peer.send(frame.type === 'mcp' ? noMcp : frame.data && '__probe__' in frame.data ? missing('to') : observation({ text: 'x' }))
        if (!first) reply()
        // A session that was given up meanwhile is not built any more.
        else busy = busy.then(() => (peer.left ? undefined : new Promise<void>((resolve) => setTimeout(resolve, 25)).then(reply)))
      },
    })
    const deadlines = { openMs: 500, helloMs: 20, resetMs: 110, stepMs: 100, capacityMs: 2000, backoffMs: 10 }
    const environment = new OpenEnvEnvironment('example.org', { WebSocket, fetch: offline, deadlines, random: () => 0.5 })
    await inTime(environment.connect())
    const sessions = await inTime(Promise.all(Array.from({ length: 16 }, () => environment.open())))
    expect(sessions).toHaveLength(16)
    expect(peers.length).toBeGreaterThan(17)
    await environment.close()
  })

  it('a server that stays full is reported with its own words', async () => {
    const { environment, occupy } = limited(1)
    await inTime(environment.connect())
    occupy()
    const error = await inTime(failure(environment.open()))
    expect(error.message).toBe('example.org stayed full for 2 s: Server at capacity: 1/1.')
    expect(error.advice).toContain('duplicate the Space')
  })

  it('who waits when the environment is closed is refused', async () => {
    const { environment } = limited(1)
    await inTime(environment.connect())
    await inTime(environment.open())
    const waiting = failure(environment.open())
    await vi.advanceTimersByTimeAsync(20)
    await inTime(environment.close())
    expect((await waiting).message).toContain('was closed')
  })
})

type Line =
  | { dir: 'open' }
  | { dir: 'send' | 'recv'; text: string }
  | { dir: 'closed'; code: number }
  | { dir: 'call'; call: ToolCall }
  | { dir: 'seen'; observation: Observation }
  | { dir: 'failed'; message: string }

describe.each(['echo', 'catch', 'misbehave'])('the recorded %s server', (name) => {
  it('gives the same episodes again, and gets the same frames from us', async () => {
    const path = new URL(`../../../e2e/openenv/transcripts/${name}.jsonl`, import.meta.url)
    const lines = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
    const wire = lines.filter((line) => ['send', 'recv', 'closed'].includes(line.dir))
    let at = 0
    const { WebSocket } = fakeServer({
      onFrame: (frame, peer) => {
        expect({ dir: 'send', text: JSON.stringify(frame) }).toEqual(wire[at])
        for (at++; at < wire.length; at++) {
          const line = wire[at]
          if (line?.dir === 'recv') peer.sendRaw(line.text)
          else if (line?.dir === 'closed') peer.hangUp(line.code)
          else break
        }
      },
    })
    const environment = new OpenEnvEnvironment('127.0.0.1:1', { WebSocket, fetch: offline })
    await environment.connect()
    let session = await environment.open()
    let seed = 0
    const told = lines.filter((line) => ['call', 'seen', 'failed'].includes(line.dir))
    for (let i = 0; i < told.length; i++) {
      const line = told[i]
      if (line?.dir === 'seen') {
        if (seed > 0) {
          await session.close()
          session = await environment.open()
        }
        expect(await session.reset({ seed, episode_id: `${name}-${seed}`, split: 'train' })).toEqual(line.observation)
        seed++
      } else if (line?.dir === 'call') {
        const outcome = told[++i]
        const result = session.step(line.call)
        if (outcome?.dir === 'seen') expect(await result).toEqual(outcome.observation)
        if (outcome?.dir === 'failed') expect((await failure(result)).message.replace('127.0.0.1:1', 'HOST')).toBe(outcome.message)
      }
    }
    await session.close()
    expect(seed).toBeGreaterThan(1)
    expect(at).toBe(wire.length)
  })
})
