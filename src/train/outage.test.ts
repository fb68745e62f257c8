/** Waiting for an environment that went away. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Episode } from '../core/episode'
import type { TrainEvent } from '../core/events'
import { type OutageOptions, sampleThroughOutages, waitSeconds } from './outage'
import { replyEpisode } from './testing/episodes'

const four = (...rewards: (number | null)[]) => rewards.map((reward, i) => replyEpisode(i, 0, reward))

async function run(attempts: Episode[][], signal?: AbortSignal, random = () => 1) {
  const events: TrainEvent[] = []
  const waits: number[] = []
  let tries = 0
  const result = sampleThroughOutages(async () => attempts[tries++] as Episode[], {
    step: 3,
    environment: { name: 'Bandit' },
    onEvent: (event) => events.push(event),
    wait: async (seconds) => void waits.push(seconds),
    random,
    ...(signal ? { signal } : {}),
  })
  return { episodes: await result, events, waits, texts: events.flatMap((e) => (e.type === 'notice' ? [e.text] : [])) }
}

describe('sampleThroughOutages', () => {
  it('says which functions gave nothing, which column they read and what stood there', async () => {
    const answer = { rewardless: true, exit: 'answered', error: null, columns: { solution: 'about seven', level: 2 } } as const
    const blind = [0, 1].map((i) => replyEpisode(i, 0, null, { ...answer, rewards: { accuracy_reward: null } }))
    await expect(run([blind])).rejects.toMatchObject({
      message: 'The reward function accuracy_reward gave none of the 2 episodes of step 3 a reward.',
      advice: expect.stringMatching(/column solution and could not read what stands there, such as "about seven"/),
    })
    const mine = blind.map((episode) => ({ ...episode, rewards: { mine: null } }))
    await expect(run([mine])).rejects.toMatchObject({ advice: expect.stringMatching(/returned null for each.*columns solution, level\./) })
    const some = [...blind, ...[2, 3].map((i) => replyEpisode(i, 0, 1))]
    expect((await run([some])).texts[0]).toContain('could not be scored (the reward function accuracy_reward had no opinion)')
  })

  it('passes good episodes on in index order', async () => {
    const { episodes, events, waits } = await run([four(1, 0, 1, 0).toReversed()])
    expect(episodes.map((e) => e.index)).toEqual([0, 1, 2, 3])
    expect([...events, ...waits]).toEqual([])
  })

  it('goes on with the rest when at most half are unscorable, and says so', async () => {
    const { episodes, texts } = await run([four(1, null, null, 0)])
    expect(episodes).toHaveLength(4)
    expect(texts).toEqual([
      '2 of 4 episodes of step 3 could not be scored (The bandit is out of order) and are left out of the update.',
    ])
  })

  it('tries again with growing pauses until the environment is back', async () => {
    const down = four(null, null, 1, null)
    const { episodes, waits, texts } = await run([down, down, down, four(1, 0, 0, 0)])
    expect(episodes.every((e) => e.reward !== null)).toBe(true)
    expect(waits).toEqual([1, 2, 4])
    expect(texts[0]).toContain('3 of 4 episodes of step 3')
    expect(texts[0]).toContain('tried again in 1 s')
  })

  it('does not come back at the same moment as every other page: half of each pause is drawn', async () => {
    const down = four(null, null, 1, null)
    const draws = [0, 0.5, 0.999]
    const { waits, texts } = await run([down, down, down, four(1, 0, 0, 0)], undefined, () => draws.shift() ?? 0)
    expect(waits).toEqual([0.5, 1.5, 3.998])
    expect(texts[1]).toContain('tried again in 2 s')
    const seen = new Set<number>()
    const wait = async (seconds: number) => void seen.add(seconds)
    const attempts = [down, four(1, 0, 0, 0), down, four(1, 0, 0, 0)]
    for (let i = 0; i < 2; i++) {
      await sampleThroughOutages(async () => attempts.shift() as Episode[], { step: 3, environment: { name: 'Bandit' }, onEvent: () => undefined, wait })
    }
    expect(seen.size).toBe(2)
  })

  it('says while it waits that it does, and when it does no more', async () => {
    const { events } = await run([four(null, null, 1, null), four(1, 0, 0, 0)])
    expect(events.filter((e) => e.type === 'environment-away')).toEqual([
      { type: 'environment-away', text: 'the environment failed', seconds: 1 },
      { type: 'environment-away', text: null, seconds: null },
    ])
  })

  it('never waits longer than half a minute', async () => {
    const { waits } = await run([...Array<Episode[]>(8).fill(four(null, null, null, null)), four(1, 0, 0, 0)])
    expect(waits.slice(-3)).toEqual([30, 30, 30])
  })

  it('does not repeat what would end the same way', async () => {
    const silent = four(null, null, null, null).map((e) => ({ ...e, exit: 'answered' as const, error: null }))
    await expect(run([silent])).rejects.toMatchObject({ kind: 'environment', message: expect.stringContaining('a reward') as string })
    const mostly = four(null, null, null, 1).map((e) => ({ ...e, exit: 'answered' as const, error: null }))
    expect((await run([mostly])).texts[0]).toContain('gave no reward')
  })

  it('says what a class lacks whose episodes have no reward', async () => {
    const environment = { name: 'Door', unrewarded: 'Door has no get_reward()' }
    const said = async (members: readonly (number | null)[], options: Pick<OutageOptions, 'environment'>) => {
      const texts: string[] = []
      const episodes = four(...members).map((e) => ({ ...e, exit: 'env_done' as const, error: null, environment: 'Door' }))
      const onEvent: OutageOptions['onEvent'] = (event) => void (event.type === 'notice' && texts.push(event.text))
      await sampleThroughOutages(() => Promise.resolve(episodes), { step: 3, ...options, onEvent, wait: () => Promise.resolve() })
      return texts
    }
    expect(await said([null, null, 0, 0], { environment })).toEqual(['2 of 4 episodes of step 3 could not be scored (Door has no get_reward()) and are left out of the update.'])
    // Of several environments, the one that played them.
    const members = [environment] as unknown as NonNullable<OutageOptions['environment']['members']>
    expect(await said([null, 0, 0, 0], { environment: { name: 'Door + lane', members } })).toEqual([expect.stringContaining('(Door has no get_reward())')])
    await expect(said([null, null, null, null], { environment })).rejects.toMatchObject({
      message: 'The environment "Door" gave none of the 4 episodes of step 3 a reward: Door has no get_reward().',
      advice: expect.stringContaining('get_reward()') as string,
    })
  })

  describe('an environment that answers, but fails', () => {
    const broken = (error: string, lasting = true) =>
      four(null, null, null, null).map((e): Episode => ({ ...e, error, ...(lasting ? { lasting } : {}) }))

    it('in the same way four times stops the run with its words', async () => {
      const words = (n: number) => broken(`Bandit was already done after reset (session ${n} at 0x7f${n}).`)
      await expect(run([1, 2, 3, 4].map(words))).rejects.toMatchObject({
        kind: 'environment',
        message: expect.stringMatching(/failed in the same way 4 times in a row in 4 of 4 episodes of step 3.*: .*already done/) as string,
        advice: expect.stringContaining('press Train') as string,
      })
    })

    it('in other ways, elsewhere or by a lost connection is tried again', async () => {
      const changing = await run([...['a', 'b', 'a', 'b', 'a'].map((e) => broken(e)), four(1, 0, 0, 0)])
      expect(changing.waits).toHaveLength(5)
      const passing = await run([...Array.from({ length: 6 }, () => broken('no connection', false)), four(1, 0, 0, 0)])
      expect(passing.waits).toHaveLength(6)
      const mixed = broken('x').map((e, i): Episode => (i === 0 ? broken('lost', false)[0] as Episode : e))
      expect((await run([...Array.from({ length: 6 }, () => mixed), four(1, 0, 0, 0)])).waits).toHaveLength(6)
    })
  })

  it('ends when a person stops the run', async () => {
    const controller = new AbortController()
    controller.abort()
    await expect(run([four(1, 1, 1, 1)], controller.signal)).rejects.toMatchObject({ kind: 'stopped' })
  })
})

describe('waitSeconds', () => {
  afterEach(() => void vi.useRealTimers())

  it('passes the gate within a moment, stays while it is closed, and goes on after it', async () => {
    vi.useFakeTimers()
    let release = () => {}
    let asked = 0
    const closed = new Promise<void>((resolve) => (release = resolve))
    const gate = async () => {
      if (++asked === 2) await closed
    }
    let over = false
    const waiting = waitSeconds(0.15, undefined, gate).then(() => (over = true))
    await vi.advanceTimersByTimeAsync(100)
    expect(asked).toBe(2)
    await vi.advanceTimersByTimeAsync(1000)
    expect([asked, over]).toEqual([2, false])
    release()
    await waiting
  })

  it('leaves a closed gate when it is aborted', async () => {
    const controller = new AbortController()
    const waiting = waitSeconds(3600, controller.signal, () => new Promise(() => {}))
    controller.abort()
    await waiting
  })

  it('ends early when it is aborted', async () => {
    const controller = new AbortController()
    const waiting = waitSeconds(3600, controller.signal)
    controller.abort()
    await waiting
    await waitSeconds(3600, controller.signal)
    await waitSeconds(0.001)
  })
})
