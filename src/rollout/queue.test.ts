/** What is said while a step has more episodes than the server has sessions. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { TrainEvent } from '../core/events'
import { Queue, secondsLeft } from './queue'
import { rollout } from './rollout'
import { FakeEnvironment } from './testing/fake-environment'
import { prepare, say } from './testing/setup'

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const oneCall = (turn: number): string => (turn === 0 ? say('hi') : 'Done.')

// Every estimate is of the clock: a machine that is slow for a moment would make it a longer one.
beforeEach(() => void vi.spyOn(performance, 'now').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

describe('a queue', () => {
  it('is told once with an estimate, when the server has fewer sessions than the step has episodes', async () => {
    const environment = new FakeEnvironment({ delay: tick, step: () => ({ reward: 1 }) }, 2)
    const texts = async () => {
      const { request, events } = prepare({ reply: oneCall, environment, request: { num_generations: 6 } })
      await rollout(request)
      return events.flatMap((event) => (event.type === 'notice' ? [event.text] : []))
    }
    expect(await texts()).toEqual(['fake allows 2 sessions at once, so the 6 episodes of a step take turns: about 1 s more for this step.'])
    expect(await texts()).toEqual([])
    environment.maxSessions = 1
    expect(await texts()).toEqual([expect.stringContaining('allows one session')])
    environment.maxSessions = 6
    expect(await texts()).toEqual([])
  })

  it('is told each time it changes, with an estimate once an episode was measured, and its end', async () => {
    const environment = new FakeEnvironment({ delay: tick, step: () => ({ reward: 1 }) }, 2)
    const told = async (slots = 8) => {
      const { request, events } = prepare({ reply: oneCall, environment, slots, request: { num_generations: 6 } })
      await rollout(request)
      return events.flatMap((event) => (event.type === 'environment-queue' ? [event] : []))
    }
    const first = await told()
    const counts = first.map(({ waiting }) => waiting)
    expect(counts).toEqual([...new Set(counts)].sort((a, b) => b - a))
    expect(first[0]).toEqual({ type: 'environment-queue', step: 3, waiting: 4, sessions: 2, seconds: null })
    expect(first[1]?.seconds).toBe(1)
    expect(first.at(-1)).toMatchObject({ waiting: 0, seconds: null })
    // What was measured in one step is known in the next.
    expect((await told())[0]).toMatchObject({ waiting: 4, seconds: 1 })
    environment.maxSessions = 6
    expect(await told()).toEqual([])
    // Episodes that wait for a slot of our own wait for no server.
    environment.maxSessions = 4
    expect(await told(2)).toEqual([])
  })

  it('counts down by what is already played, and ends with the rollout', () => {
    const events: TrainEvent[] = []
    let now = 0
    const queue = new Queue(new FakeEnvironment({}, 2), 1, 7, (event) => events.push(event), () => now)
    const seconds = () => events.flatMap((event) => (event.type === 'environment-queue' ? [event.seconds] : []))
    for (const index of [0, 1]) queue.begin(index)
    queue.tell(5)
    now = 20_000
    queue.end(0, 5)
    queue.begin(2)
    queue.tell(4)
    // Two rounds of 20 s, of which 1 has run for 20 s and 2 has just begun.
    expect(seconds()).toEqual([null, 30])
  })

  it('estimates from what the finished ones took', () => {
    expect(secondsLeft([10_000, 20_000], 7, 2)).toBe(60)
    expect(secondsLeft([], 7, 2)).toBe(1)
  })
})
