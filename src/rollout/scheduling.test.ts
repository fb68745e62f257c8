/** How episodes share slots, sessions and time: rollout() seen from the sampler and the environment. */

import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ResetOptions } from '../core/environment'
import { RandomStream } from '../core/random'
import { PlaygroundError } from '../core/errors'
import { rollout } from './rollout'
import { SessionGate } from './sessions'
import { deferred, episodeIndex, FakeEnvironment } from './testing/fake-environment'
import { chat, prepare, say, timeless } from './testing/setup'

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const ticks = async (n: number): Promise<void> => {
  for (let i = 0; i < n; i++) await tick()
}
/** A delay that holds one kind of question of one episode. */
const hold =
  (what: 'reset' | 'step', index: number, until: Promise<void>) =>
  async (asked: string, options: ResetOptions | null): Promise<void> => {
    if (asked === what && options && episodeIndex(options) === index) await until
  }
const oneCall = (turn: number): string => (turn === 0 ? say('hi') : 'Done.')

describe('concurrency', () => {
  it('decodes all episodes in one batch', async () => {
    const { request, sampler } = prepare({ reply: () => 'one two three', request: { num_generations: 4 } })
    await rollout(request)
    const decodes = sampler.calls.filter((call) => call.kind === 'decode')
    expect(new Set(decodes.map((call) => call.slots.join()))).toEqual(new Set(['0,1,2,3']))
    expect(sampler.count('sample')).toBe(decodes.length + 1)
  })

  it('a slow environment never stops the others', async () => {
    const slow = deferred()
    const { request, events } = prepare({
      reply: oneCall,
      request: { num_generations: 4 },
      environment: { delay: hold('step', 1, slow.promise) },
    })
    const all = rollout(request)
    const finished = (): number[] => events.flatMap((event) => (event.type === 'episode-finished' ? [event.episode.index] : []))
    while (finished().length < 3) await tick()
    expect(finished().sort()).toEqual([0, 2, 3])
    slow.resolve()
    expect((await all).map((episode) => episode.exit)).toEqual(Array(4).fill('answered'))
  })

  it('a slow reset never stops the others', async () => {
    const slow = deferred()
    const { request, events } = prepare({
      reply: oneCall,
      request: { num_generations: 3 },
      environment: { delay: hold('reset', 0, slow.promise) },
    })
    const all = rollout(request)
    while (events.filter((event) => event.type === 'episode-finished').length < 2) await tick()
    slow.resolve()
    expect((await all).map((episode) => episode.exit)).toEqual(Array(3).fill('answered'))
  })

  it('waits without spinning when nobody can write', async () => {
    const slow = deferred()
    const environment = { delay: async (asked: string) => (asked === 'step' ? slow.promise : undefined) }
    const { request, sampler } = prepare({ reply: oneCall, environment })
    const all = rollout(request)
    await ticks(100)
    const before = sampler.calls.length
    await ticks(50)
    expect(sampler.calls.length).toBe(before)
    slow.resolve()
    await all
  })
})

describe('slots and sessions', () => {
  it('plays more episodes than there are slots', async () => {
    const { request, environment, sampler } = prepare({
      reply: oneCall,
      slots: 3,
      request: { groupSeeds: [5, 6, 7], num_generations: 3 },
      environment: { reset: ({ seed }) => `seed ${seed}`, step: () => ({ reward: 1 }) },
    })
    const episodes = await rollout(request)
    expect(episodes.map(({ index, group, seed, reward }) => [index, group, seed, reward])).toEqual(
      Array.from({ length: 9 }, (_, i) => [i, Math.floor(i / 3), 5 + Math.floor(i / 3), 1]),
    )
    expect(new Set(environment.resets.map((options) => options.seed))).toEqual(new Set([5, 6, 7]))
    expect(Math.max(...sampler.calls.map((call) => call.slots.length))).toBe(3)
    expect(environment.closed).toBe(9)
    expect([0, 1, 2].map((slot) => sampler.length(slot))).toEqual([0, 0, 0])
  })

  it('never holds more sessions than the environment allows', async () => {
    const environment = new FakeEnvironment({ delay: tick, step: () => ({ reward: 1 }) }, 2)
    const { request } = prepare({ reply: oneCall, environment, request: { num_generations: 6 } })
    const episodes = await rollout(request)
    expect(episodes.map((episode) => episode.exit)).toEqual(Array(6).fill('answered'))
    expect(environment.peak).toBe(2)
  })

  it('tries again when the server turns out to be smaller', async () => {
    const environment = new FakeEnvironment({ capacity: 2, delay: tick, step: () => ({ reward: 1 }) }, 8)
    const { request } = prepare({ reply: oneCall, environment, request: { num_generations: 6 } })
    const episodes = await rollout(request)
    expect(episodes.map(({ exit, reward }) => [exit, reward])).toEqual(Array(6).fill(['answered', 1]))
    expect(environment.peak).toBe(2)
  })
})

describe('connections', () => {
  const lost = (recurrence?: 'passing' | 'lasting') =>
    new PlaygroundError('environment', 'No connection.', '', recurrence ? { recurrence } : {})
  const flaky = (failures: number, error: Error) => {
    let asked = 0
    const environment = new FakeEnvironment({ step: () => ({ reward: 1 }) })
    const open = environment.open.bind(environment)
    environment.open = () => (asked++ < failures ? Promise.reject(error) : open())
    return { environment, asked: () => asked }
  }

  it('that break before an episode begins are made again', async () => {
    const { environment, asked } = flaky(3, lost('passing'))
    const gate = new SessionGate(environment, 8, () => {}, 1)
    expect((await gate.begin({ seed: 1, episode_id: 'e', split: 'train' })).kind).toBe('begun')
    expect(asked()).toBe(4)
  })

  it.each([
    ['stay broken', 9, lost('passing'), 4],
    ['were refused for good', 1, lost('lasting'), 1],
    ['failed for an unknown reason', 1, lost(), 1],
  ])('that %s fail the episode', async (_, failures, error, tries) => {
    const { environment, asked } = flaky(failures, error)
    const gate = new SessionGate(environment, 8, () => {}, 1)
    const begun = await gate.begin({ seed: 1, episode_id: 'e', split: 'train' })
    expect(begun).toEqual({ kind: 'failed', error: 'No connection.', lasting: error.recurrence === 'lasting' })
    expect(asked()).toBe(tries)
  })

  it('that break inside an episode are not', async () => {
    const environment = new FakeEnvironment({
      step: () => {
        throw lost('passing')
      },
    })
    const { request } = prepare({ reply: oneCall, environment, request: { num_generations: 2 } })
    expect((await rollout(request)).map(({ exit, reward }) => [exit, reward])).toEqual(Array(2).fill(['env_error', null]))
    expect(environment.opened).toBe(2)
  })

  it('stop waiting when the rollout ends', async () => {
    const { environment } = flaky(Infinity, lost('passing'))
    const gate = new SessionGate(environment, 8, () => {}, 60_000)
    const begun = gate.begin({ seed: 1, episode_id: 'e', split: 'train' })
    await tick()
    await gate.endAll()
    expect((await begun).kind).toBe('failed')
  })
})

describe('prefill', () => {
  const { tools } = new FakeEnvironment()
  const prompt = (seed: number): number => chat.prompt([{ role: 'user', content: 'Play.\n' }], tools, `Seed ${seed}`).ids.length
  const reset = ({ seed }: { seed: number }): string => `Seed ${seed}`

  it('prefills a group’s prompt once', async () => {
    const { request, sampler } = prepare({ reply: () => 'ok', environment: { reset }, request: { num_generations: 5 } })
    await rollout(request)
    expect(sampler.calls.filter((call) => call.kind === 'prefill').map((call) => call.tokens)).toEqual([prompt(100)])
    expect(sampler.calls.filter((call) => call.kind === 'copy').map((call) => call.slots.length)).toEqual([4])
  })

  it('prefills once even when the members’ resets come one after another', async () => {
    const gates = [0, 1, 2, 3].map(() => deferred())
    const inTurn = async (asked: string, options: ResetOptions | null): Promise<void> => {
      if (asked === 'reset' && options) await gates[episodeIndex(options)]?.promise
    }
    const { request, sampler } = prepare({
      reply: () => 'a b c d e f g h',
      environment: { reset, delay: inTurn },
      request: { num_generations: 4 },
    })
    const all = rollout(request)
    for (const { resolve } of gates) {
      await ticks(5)
      resolve()
    }
    await all
    expect(sampler.count('prefill')).toBe(1)
  })

  it('prefills what groups share once, then each group’s rest', async () => {
    const { request, sampler } = prepare({
      reply: () => 'ok',
      environment: { reset },
      request: { groupSeeds: [1, 2, 3], num_generations: 2 },
    })
    await rollout(request)
    const [prefix = 0, ...rests] = sampler.calls.filter((call) => call.kind === 'prefill').map((call) => call.tokens)
    expect(rests).toEqual([1, 2, 3].map((seed) => prompt(seed) - prefix))
    expect(prefix).toBeGreaterThan(100)
    expect(Math.max(...rests)).toBeLessThan(20)
  })

  it('prefills once for all groups when their prompts are equal', async () => {
    const { request, sampler } = prepare({ reply: () => 'ok', request: { groupSeeds: [1, 2, 3], num_generations: 2 } })
    await rollout(request)
    expect(sampler.count('prefill')).toBeLessThanOrEqual(2)
    expect(sampler.calls.filter((call) => call.kind === 'copy').flatMap((call) => call.slots)).toHaveLength(6)
  })

  it('shares a prefix with fewer slots than episodes, and none with a text that glues to the prompt', async () => {
    const odd = prepare({
      reply: oneCall,
      slots: 2,
      environment: { reset: ({ seed }) => (seed === 2 ? '\u0301x' : `${seed}`), step: () => ({ reward: 1 }) },
      request: { groupSeeds: [1, 2, 3], num_generations: 3, user_prompt: 'e' },
    })
    const episodes = await rollout(odd.request)
    expect(episodes.map(({ reward }) => reward)).toEqual(Array(9).fill(1))
    for (const episode of episodes) {
      const text = { 1: 'e1', 2: 'e\u0301x'.normalize('NFC'), 3: 'e3' }[episode.seed]
      expect(chat.text(episode.ids)).toContain(`user\n${text}<|im_end|>`)
    }
  })
})

describe('determinism', () => {
  const play = async (order: number | null, slots: number, maxSessions = Infinity) => {
    const random = new RandomStream(order ?? 0)
    const wait = order === null ? undefined : async () => ticks(random.int(6))
    const environment = new FakeEnvironment(
      {
        reset: ({ seed }) => `Seed ${seed}`,
        step: ({ arguments: { word } }, n, { seed }) => ({ text: `${String(word)} ${n} ${seed}`, reward: n, done: word === 'stop' }),
        ...(wait ? { delay: wait } : {}),
      },
      maxSessions,
    )
    const { request } = prepare({
      reply: () => [say('left'), say('right'), say('stop'), 'I stop here.', '<tool_call>{'],
      environment,
      slots,
      request: { groupSeeds: [11, 12, 13], num_generations: 4 },
      config: { max_completion_length: 180 },
    })
    return (await rollout(request)).map(timeless)
  }

  it('gives the same episodes whatever the delays, slots and sessions', async () => {
    const expected = await play(null, 12)
    expect(new Set(expected.map((episode) => episode.exit)).size).toBeGreaterThan(2)
    expect(new Set(expected.map((episode) => episode.ids.join())).size).toBeGreaterThan(6)
    expect(await play(null, 12)).toEqual(expected)
    expect(await play(1, 12)).toEqual(expected)
    expect(await play(2, 5)).toEqual(expected)
    expect(await play(3, 1)).toEqual(expected)
    expect(await play(4, 7, 2)).toEqual(expected)
  })
})

describe('pause and stop', () => {
  afterEach(() => void vi.useRealTimers())

  it('does nothing while paused and goes on afterwards', async () => {
    const hold = deferred()
    let asked = 0
    const { request, sampler } = prepare({
      reply: oneCall,
      request: { gate: () => (++asked === 6 ? hold.promise : Promise.resolve()) },
      environment: { step: () => ({ reward: 1 }) },
    })
    const all = rollout(request)
    await ticks(40)
    const before = sampler.calls.length
    expect(asked).toBe(6)
    await ticks(20)
    expect(sampler.calls.length).toBe(before)
    hold.resolve()
    expect((await all).map((episode) => episode.reward)).toEqual([1, 1])
  })

  it('shows a pause at once while it waits for a slow environment, and loses nothing of the step', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const slow = deferred()
    const pause = deferred()
    let paused = false
    let arrived = 0
    const { request, events, sampler } = prepare({
      reply: oneCall,
      request: {
        gate: () => {
          if (!paused) return Promise.resolve()
          arrived++
          return pause.promise
        },
      },
      environment: { step: () => ({ reward: 1 }), delay: async (asked) => (asked === 'step' ? slow.promise : undefined) },
    })
    const all = rollout(request)
    while (events.filter((event) => event.type === 'environment-waiting').length < 2) await tick()
    await ticks(5)
    paused = true
    await vi.advanceTimersByTimeAsync(100)
    expect(arrived).toBe(1)
    slow.resolve()
    await ticks(20)
    const before = sampler.calls.length
    await ticks(20)
    expect(sampler.calls.length).toBe(before)
    paused = false
    pause.resolve()
    expect((await all).map(({ exit, reward }) => [exit, reward])).toEqual(Array(2).fill(['answered', 1]))
  })

  it('stops while writing, while waiting for an environment, before a reset and while paused', async () => {
    const never = new Promise<void>(() => undefined)
    const stop = new AbortController()
    const { request, environment, events } = prepare({
      reply: oneCall,
      slots: 3,
      request: { num_generations: 4, signal: stop.signal },
      environment: {
        step: () => ({ reward: 1 }),
        delay: async (asked, options) => {
          if (options && asked === 'step' && episodeIndex(options) === 0) await never
          if (options && asked === 'reset' && episodeIndex(options) === 3) await never
        },
      },
    })
    const all = rollout({ ...request, gate: () => (stop.signal.aborted ? never : Promise.resolve()) })
    while (!events.some((event) => event.type === 'environment-answered')) await tick()
    stop.abort()
    const episodes = await all
    expect(episodes.map(({ exit, reward }) => [exit, reward])).toEqual(Array(4).fill(['stopped', null]))
    expect(episodes.map((episode) => episode.turns.length > 0)).toEqual([true, true, true, false])
    expect(environment.closed).toBe(environment.opened)
    const paused = new AbortController()
    const second = prepare({ reply: oneCall, request: { signal: paused.signal, gate: () => never } })
    const stopped = rollout(second.request)
    await ticks(3)
    paused.abort()
    expect((await stopped).map((episode) => episode.exit)).toEqual(['stopped', 'stopped'])
  })

  it('closes a session that opens only after the stop', async () => {
    const late = deferred()
    const stop = new AbortController()
    const opensLate = { delay: () => late.promise }
    const { request, environment } = prepare({ reply: oneCall, request: { signal: stop.signal }, environment: opensLate })
    const all = rollout(request)
    await ticks(2)
    stop.abort()
    await all
    late.resolve()
    await ticks(3)
    expect(environment.opened).toBe(2)
    expect(environment.closed).toBe(2)
  })
})
