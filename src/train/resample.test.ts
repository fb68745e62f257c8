/** Groups without a signal are replaced: by the rule alone, then in the whole loop on a bandit. */
import { describe, expect, it } from 'vitest'
import type { GrpoConfig } from '../core/config'
import type { Episode } from '../core/episode'
import type { StepRecord, TrainEvent } from '../core/events'
import { GrpoTrainer, type GrpoTrainerOptions } from './grpo'
import { replaceSilent } from './resample'
import type { CallCustom } from './scoring'
import { bandit, banditConfig, banditEngine, chat } from './testing/bandit'

const draw = (rewards: (number | null)[]) => rewards.map((reward) => ({ reward })) as Episode[]

const GROUPS = { num_generations: 2, multi_objective_aggregation: 'sum_then_normalize', reward_weights: null } as const

describe('replacing groups without a signal', () => {
  it('goes on until every place has one, in rounds, and numbers what is added after the rest', async () => {
    const asked: unknown[] = []
    const rounds = [draw([1, 1, 0, 1]), draw([0, 1])]
    const drawn = await replaceSilent(draw([0, 0, 1, 0, 1, 1]), { ...GROUPS, max_resampled_groups: 8 }, async (...args) => {
      asked.push(args)
      return rounds[asked.length - 1] as Episode[]
    })
    // Groups 0 and 2 are silent; of 3 and 4 that replace them 3 is too; 5 has a signal.
    expect(asked).toEqual([
      [3, 2, [0, 2]],
      [5, 1, [0, 2, 3]],
    ])
    expect(drawn).toMatchObject({ discarded: [0, 2, 3], resampled: 3 })
    expect(drawn.episodes).toHaveLength(12)
  })

  it('takes a group of equal sums for one with a signal where its functions are compared one by one', async () => {
    const crossed = draw([1, 1]).map((episode, i) => ({ ...episode, rewards: { a: i, b: 1 - i } }))
    const settings = { ...GROUPS, max_resampled_groups: 8 }
    const never = () => Promise.reject(new Error('nothing is to be replaced'))
    await expect(replaceSilent(crossed, { ...settings, multi_objective_aggregation: 'normalize_then_sum' }, never)).resolves.toMatchObject({ discarded: [] })
    await expect(replaceSilent(crossed, settings, never)).rejects.toThrow('nothing is to be replaced')
  })

  it('stops at the cap and keeps what it has in every place', async () => {
    const asked: number[] = []
    const drawn = await replaceSilent(draw([0, 0, 0, 0, 0, 0]), { ...GROUPS, max_resampled_groups: 4 }, async (_, count) => {
      asked.push(count)
      return draw(Array<number>(2 * count).fill(0))
    })
    expect(asked).toEqual([3, 1])
    expect(drawn).toMatchObject({ discarded: [0, 1, 2, 3], resampled: 4 })
    // Three of seven groups are left for the update.
    expect(drawn.episodes).toHaveLength(14)
  })

  it('asks for nothing where all have a signal, or none may be added', async () => {
    const never = () => Promise.reject(new Error('asked'))
    expect(await replaceSilent(draw([0, 1]), { ...GROUPS, max_resampled_groups: 3 }, never)).toMatchObject({ discarded: [], resampled: 0 })
    expect(await replaceSilent(draw([1, 1]), { ...GROUPS, max_resampled_groups: 0 }, never)).toMatchObject({ discarded: [], resampled: 0 })
    // One reward alone is nothing to compare.
    expect(await replaceSilent(draw([null, 1]), { ...GROUPS, max_resampled_groups: 1 }, async () => draw([0, 1]))).toMatchObject({ discarded: [0] })
  })
})

/** Scenarios of which most pay whatever one does. */
const mostlyEasy = () => bandit({ reward: (arm, seed) => (seed % 4 === 0 ? Number(arm === 'B') : 1) })

async function play(grpo: Partial<GrpoConfig>, environment = mostlyEasy(), change: Partial<GrpoTrainerOptions> = {}) {
  const events: TrainEvent[] = []
  const engine = banditEngine()
  const config = banditConfig({ num_generations: 4, prompts_per_step: 3, max_resampled_groups: 30, ...grpo })
  const trainer = new GrpoTrainer({ config, engine, environment, chat, onEvent: (event) => events.push(event), now: () => 0, wait: async () => {}, ...change })
  const record = await trainer.step()
  return { record, events, engine, trainer }
}

const used = ({ groups }: StepRecord) => groups.filter((group) => !group.discarded)

describe('dynamic sampling in the loop', () => {
  it('fills the update with groups that have a signal, keeps the others to be seen, and counts them', async () => {
    const { record, events, trainer } = await play({ dynamic_sampling: true })
    const discarded = record.groups.filter((group) => group.discarded)
    expect(used(record)).toHaveLength(3)
    expect(used(record).every(({ signal }) => signal)).toBe(true)
    expect(discarded.length).toBeGreaterThan(0)
    expect(discarded.every(({ signal }) => !signal)).toBe(true)
    expect(record.metrics['groups/resampled']).toBe(discarded.length)
    expect(record.groups.map(({ group }) => group)).toEqual(record.groups.map((_, i) => i))
    expect(record.episodes.map(({ index }) => index)).toEqual(record.episodes.map((_, i) => i))
    expect(new Set(record.episodes.map(({ seed }) => seed)).size).toBe(record.groups.length)
    for (const { group, advantage, trainLogprobs } of record.episodes) {
      const out = discarded.some((each) => each.group === group)
      expect(trainLogprobs === null).toBe(out)
      if (out) expect(advantage).toBe(0)
    }
    // What was thrown away was played and read all the same.
    expect(record.metrics['completions/effective']).toBe(record.episodes.filter(({ advantage }) => advantage !== 0).length)
    const tokens = record.episodes.reduce((sum, { promptLength, mask }) => sum + promptLength + mask.filter((bit) => bit === 1).length, 0)
    expect(trainer.tokensSeen).toBe(tokens)
    const told = events.filter((event) => event.type === 'resampled')
    expect(told.at(-1)).toMatchObject({ groups: record.groups.length, episodes: record.episodes.length, discarded: discarded.map(({ group }) => group) })
    expect(events.filter((event) => event.type === 'step-started')).toHaveLength(1)
    expect(events.filter((event) => event.type === 'scored')).toHaveLength(1)
  })

  it('moves the adapter as a step of the kept groups alone would', async () => {
    const { engine } = await play({ dynamic_sampling: true })
    const { engine: without } = await play({})
    expect(engine.version).toBe(without.version)
    expect([...engine.theta]).not.toEqual([...without.theta])
    expect([...(engine.gradients[0] ?? [])].some((x) => x !== 0)).toBe(true)
  })

  it('is a function of the seed', async () => {
    const plain = ({ record }: Awaited<ReturnType<typeof play>>) => record.episodes.map(({ ids, seed, reward, advantage }) => ({ ids, seed, reward, advantage }))
    const first = await play({ dynamic_sampling: true })
    const again = await play({ dynamic_sampling: true })
    expect(plain(again)).toEqual(plain(first))
    expect([...again.engine.theta]).toEqual([...first.engine.theta])
  })

  it('begins with the same groups as without it, and stops at its cap', async () => {
    const off = await play({})
    const on = await play({ dynamic_sampling: true, max_resampled_groups: 2 }, bandit({ reward: () => 1 }))
    expect(on.record.episodes.slice(0, 12).map(({ seed, ids }) => [seed, ids])).toEqual(off.record.episodes.map(({ seed, ids }) => [seed, ids]))
    expect(on.record.groups).toHaveLength(5)
    expect(used(on.record)).toHaveLength(3)
    expect(on.record.metrics['groups/resampled']).toBe(2)
    expect('groups/resampled' in off.record.metrics).toBe(false)
    // The update still has its size, and says that nothing can be learned.
    expect(on.events.find((event) => event.type === 'notice')).toMatchObject({ level: 'info' })
  })

  describe('with a reward function that has no opinion of some groups', () => {
    const JUDGED: Partial<GrpoConfig> = { dynamic_sampling: true, reward_funcs: [{ name: 'custom', called: 'picky', code: '' }] }
    /** A group of its own at every draw; `judged` says how each is judged. */
    const picky = (judged: (seed: number, nth: number) => 'nothing' | 'alike' | 'apart'): CallCustom => {
      const nth = new Map<number, number>()
      return (_, { environments }) => {
        for (const { seed } of environments) if (!nth.has(seed)) nth.set(seed, nth.size)
        return Promise.resolve({ rewards: environments.map(({ seed }, i) => ({ nothing: null, alike: 1, apart: i % 2 })[judged(seed, nth.get(seed) ?? 0)]) })
      }
    }

    it('such a group is one without a signal, in the first draw and in later ones', async () => {
      // Three groups at first: none of one, alike, apart; then all silent until the eighth.
      const order = ['nothing', 'alike', 'apart', 'nothing', 'nothing', 'alike', 'nothing'] as const
      const { record } = await play(JUDGED, bandit(), { callCustom: picky((_, nth) => order[nth] ?? 'apart') })
      expect(record.groups.map(({ discarded = false, unscorable }) => [discarded, unscorable])).toEqual([[true, 4], [true, 0], [false, 0], [true, 4], [true, 4], [true, 0], [true, 4], [false, 0], [false, 0]])
      expect(used(record).every(({ signal }) => signal)).toBe(true)
    })

    it('and so is a first draw that nobody judges', async () => {
      const { record } = await play({ ...JUDGED, prompts_per_step: 1 }, bandit(), { callCustom: picky((_, nth) => (nth === 0 ? 'nothing' : 'apart')) })
      expect(record.groups.map(({ discarded = false }) => discarded)).toEqual([true, false])
    })

    it('a step that keeps none but such groups goes on, and one of which nothing was judged names the function', async () => {
      const { record } = await play({ ...JUDGED, max_resampled_groups: 3 }, bandit(), { callCustom: picky((_, nth) => (nth < 3 ? 'alike' : 'nothing')) })
      expect(used(record).map(({ unscorable }) => unscorable)).toEqual([4, 4, 4])
      const never = picky(() => 'nothing')
      await expect(play({ ...JUDGED, max_resampled_groups: 3 }, bandit(), { callCustom: never })).rejects.toThrow('The reward function picky gave none of the 24 episodes of step 1 a reward.')
      await expect(play({ ...JUDGED, dynamic_sampling: false }, bandit(), { callCustom: never })).rejects.toThrow('The reward function picky gave none of the 12 episodes of step 1 a reward.')
      await expect(play({ dynamic_sampling: true }, bandit({ reward: () => null }))).rejects.toThrow('The environment "Bandit" gave none of the 12 episodes of step 1 a reward.')
    })
  })
})
