/** Episodes scored by several reward functions. */

import { describe, expect, it } from 'vitest'
import { DEFAULT_GRPO, type GrpoConfig } from '../core/config'
import type { Episode } from '../core/episode'
import type { RewardFunc } from '../core/reward-funcs'
import { rewardMetrics } from '../rl'
import { advantagesOf, assertJudged, assertLimits, type CallCustom, groupsOf, scoreEpisodes } from './scoring'

const call = (reward: number | null) => ({ call: { name: 'go', arguments: {} }, result: '', reward, done: false, error: false, ms: 1 })

function episode(content: string, reward: number | null, turnRewards: (number | null)[] = [], more: Partial<Episode> = {}): Episode {
  const turns = turnRewards.map((each) => ({ start: 0, end: 0, resultEnd: 0, calls: [call(each)], parseError: null }))
  const base = { step: 1, index: 0, group: 0, seed: 7, ids: [1, 2, 3, 3, 3, 3], mask: [], logprobs: [], authors: [], alternatives: [], promptLength: 2, error: null, terminated: true } as const
  const messages = [{ role: 'user' as const, content: 'Q' }, { role: 'assistant' as const, content }]
  return { ...structuredClone(base), mask: [], authors: [], logprobs: [], alternatives: [], ids: [1, 2, 3, 3, 3, 3], turns, messages, reward, success: reward === 1, exit: 'answered', ...more }
}

const grpo = (reward_funcs: RewardFunc[], reward_weights: number[] | null = null, more: Partial<GrpoConfig> = {}): GrpoConfig => ({ ...DEFAULT_GRPO, num_generations: 2, reward_funcs, reward_weights, ...more })
const score = (episodes: Episode[], settings: GrpoConfig, more: object = {}) => scoreEpisodes(episodes, { grpo: settings, environment: 'lane', chosen: undefined, step: 3, ...more })

const ENVIRONMENT: RewardFunc = { name: 'environment', take: 'own' }
const FORMAT: RewardFunc = { name: 'think_format_reward' }

describe('functions that are for some environments', () => {
  const chosen = { lane: 'lane', Echo: 'http://a', lane_2: 'lane', sums: 'sums' }
  const played = (environment: string, more: Partial<Episode> = {}) => episode('<think>x</think>y', 0.5, [], { environment, ...more })

  it('have no opinion of the others, and are called without them', async () => {
    const calls: { environments: readonly { name: string }[]; completions: readonly unknown[] }[] = []
    const callCustom: CallCustom = (_, args) => {
      calls.push(args)
      return Promise.resolve({ rewards: args.completions.map(() => 4), metrics: { seen: args.completions.length } })
    }
    const funcs: RewardFunc[] = [{ ...ENVIRONMENT, only: ['http://a', 'sums'] }, { ...FORMAT, only: ['lane'] }, { name: 'custom', called: 'mine', code: '', only: ['lane', 'http://a'] }]
    const sums = played('sums', { reward: null, rewardless: true, columns: { solution: '4' } })
    const episodes = [played('lane'), played('Echo'), played('lane_2'), sums, played('lane', { exit: 'env_error', reward: null })]
    const metrics = await score(episodes, grpo(funcs, [1, 1, 0.5]), { chosen, callCustom })
    expect(episodes.map(({ rewards }) => Object.values(rewards ?? {}))).toEqual([[null, 1, 4], [0.5, null, 4], [null, 1, 4], [null, null, null], [null, null, null]])
    expect(episodes.map(({ reward }) => reward)).toEqual([3, 2.5, 3, null, null])
    expect(calls[0]?.environments.map(({ name }) => name)).toEqual(['lane', 'Echo', 'lane_2'])
    expect(metrics.means()).toEqual({ seen: 3 })
  })

  it('get the columns that their own episodes have', async () => {
    const rows = [played('lane'), played('sums', { rewardless: true, reward: null, columns: { solution: '4' }, messages: [{ role: 'user', content: 'Q' }, { role: 'assistant', content: '\\boxed{4}' }] })]
    await score(rows, grpo([ENVIRONMENT, { name: 'accuracy_reward', only: ['sums'] }]), { chosen })
    expect(rows.map(({ rewards }) => Object.values(rewards ?? {}))).toEqual([[0.5, null], [null, 1]])
  })

  it('are for every episode in a run of one environment', async () => {
    const episodes = [episode('<think>x</think>y', 0.5)]
    await score(episodes, grpo([{ ...FORMAT, only: ['chess'] }]))
    expect(episodes[0]?.reward).toBe(1)
    expect(() => assertLimits(grpo([{ ...FORMAT, only: ['chess'] }]), undefined)).not.toThrow()
  })

  it('are refused where they are for none of the run', () => {
    expect(() => assertLimits(grpo([ENVIRONMENT, { ...FORMAT, only: ['chess', 'go'] }]), chosen)).toThrow('think_format_reward is limited to chess, go, and this run has lane, http://a, sums.')
    expect(() => assertLimits(grpo([{ ...FORMAT, only: ['chess', 'lane'] }]), chosen)).not.toThrow()
  })
})

describe('scoring', () => {
  it('leaves the environment’s own reward alone as it is', async () => {
    const episodes = [episode('a', 0.5)]
    await score(episodes, grpo([ENVIRONMENT]))
    expect(episodes[0]).toEqual(episode('a', 0.5))
  })

  it('sums by weight and keeps the parts', async () => {
    const episodes = [episode('<think>x</think>y', 0.5), episode('y', 1), episode('<think>x</think>', null)]
    await score(episodes, grpo([ENVIRONMENT, FORMAT], [2, 0.5]))
    expect(episodes.map(({ reward }) => reward)).toEqual([1.5, 2, 0.5])
    expect(episodes[0]?.rewards).toEqual({ lane: 0.5, think_format_reward: 1 })
    expect(episodes[2]?.rewards).toEqual({ lane: null, think_format_reward: 1 })
  })

  it('takes the sum, the last or the largest of the turns’ rewards', async () => {
    for (const [take, want] of [['sum', 0.5], ['last', 0.25], ['max', 1]] as const) {
      const episodes = [episode('a', 9, [1, null, -0.75, 0.25])]
      await score(episodes, grpo([{ name: 'environment', take }]))
      expect(episodes[0]?.reward).toBe(want)
    }
  })

  it('takes the last rubric_reward that was sent, and 0 for none only where nothing was called', async () => {
    const take: RewardFunc = { name: 'environment', take: 'rubric_reward' }
    const rubrics = (...all: (number | undefined)[]) => {
      const made = episode('a', 9, all.map(() => 1))
      made.turns.flatMap(({ calls }) => calls).forEach((each, i) => Object.assign(each, all[i] === undefined ? {} : { rubric: all[i] }))
      return made
    }
    const episodes = [rubrics(0, 0.5, undefined), rubrics(undefined), episode('a', 0)]
    await score(episodes, grpo([take]))
    expect(episodes.map(({ reward }) => reward)).toEqual([0.5, null, 0])
  })

  it('decides success where no environment does, and never takes silence for 0', async () => {
    const alone = [episode('4', null, [], { rewardless: true })]
    await expect(score(alone, grpo([ENVIRONMENT]))).rejects.toThrow('lane gave no reward of its own, and no reward function is chosen.')
    const door = { name: 'Door', rewardless: true, unrewarded: 'Door has no get_reward()' }
    expect(() => assertJudged(door, grpo([ENVIRONMENT]))).toThrow('Nobody judges the episodes: Door has no get_reward(), and no reward function is chosen.')
    expect(() => assertJudged(door, grpo([ENVIRONMENT, { name: 'accuracy_reward' }]))).not.toThrow()
    const row = (content: string) => {
      const { success: _, ...rest } = episode(content, null, [], { rewardless: true, columns: { solution: '4' } })
      return rest as Episode
    }
    const episodes = [row('\\boxed{4}'), row('\\boxed{5}')]
    await score(episodes, grpo([ENVIRONMENT, { name: 'accuracy_reward' }]))
    expect(episodes.map(({ reward, success }) => [reward, success])).toEqual([[1, true], [0, false]])
  })

  it('gives a failed episode nothing, whatever a function would say', async () => {
    const episodes = [episode('<think>x</think>y', null, [], { exit: 'env_error' }), episode('<think>x</think>y', 1)]
    await score(episodes, grpo([FORMAT]))
    expect(episodes.map(({ reward }) => reward)).toEqual([null, 1])
  })

  it('calls a function of one’s own with TRL’s arguments', async () => {
    let seen: Record<string, unknown> = {}
    const episodes = [episode('hello', 1, [1], { columns: { solution: '5' } })]
    const callCustom = (_: unknown, args: Record<string, unknown>) => {
      seen = args
      return Promise.resolve({ rewards: [0.25], metrics: { mine: 2 } })
    }
    const logged = await score(episodes, grpo([{ name: 'custom', called: 'my_reward', code: '' }]), { callCustom })
    expect(seen).toMatchObject({
      prompts: [[{ role: 'user', content: 'Q' }]],
      completions: [[{ role: 'assistant', content: 'hello' }]],
      completion_ids: [[3, 3, 3, 3]],
      solution: ['5'],
      trainer_state: { global_step: 2 },
      environments: [{ name: 'lane', seed: 7, reward: 1, turns: [{ reward: 1, calls: [{ name: 'go', reward: 1 }] }] }],
    })
    expect([episodes[0]?.reward, logged.means()]).toEqual([0.25, { mine: 2 }])
  })

  it('says where a function gave NaN, which counts as no opinion', async () => {
    const said: string[] = []
    const onRemark = (text: string) => void said.push(text)
    const mine = grpo([{ name: 'custom', called: 'my_reward', code: '' }])
    const callCustom = (_: unknown, { completions }: { completions: readonly unknown[] }) => Promise.resolve({ rewards: completions.map((_completion, i) => (i === 0 ? null : 1)), nan: 1 })
    const episodes = [episode('a', 1), episode('b', 1)]
    await score(episodes, mine, { callCustom, onRemark })
    expect([episodes.map(({ reward }) => reward), said]).toEqual([[null, 1], [expect.stringContaining('my_reward gave NaN, which counts as no opinion')]])
    await score(episodes, mine, { callCustom: () => Promise.resolve({ rewards: [1, 1] }), onRemark })
    expect(said).toHaveLength(1)
  })

  it('refuses what it cannot call, naming what to do', async () => {
    await expect(score([episode('a', 1)], grpo([{ name: 'accuracy_reward' }]))).rejects.toMatchObject({ kind: 'config', message: expect.stringContaining('solution') as string })
    await expect(score([episode('a', 1)], grpo([{ name: 'custom', called: 'f', code: '' }]))).rejects.toMatchObject({ kind: 'config' })
    await expect(score([episode('a', 1)], grpo([ENVIRONMENT, FORMAT], [1]))).rejects.toThrow('1 reward_weights do not fit 2')
  })

  it('compares answers with the column solution', async () => {
    const episodes = [episode('\\boxed{10/2}', 0, [], { columns: { solution: '5' } }), episode('\\boxed{6}', 0, [], { columns: { solution: '5' } })]
    await score(episodes, grpo([{ name: 'accuracy_reward' }]))
    expect(episodes.map(({ reward }) => reward)).toEqual([1, 0])
  })

  it('lets a small function count as much as a large one with normalize_then_sum', async () => {
    const episodes = [episode('<think>x</think>y', 0), episode('y', 100)]
    const settings = grpo([ENVIRONMENT, FORMAT], [1, 2])
    await score(episodes, settings)
    // A hundred against two: the large one decides.
    expect(advantagesOf(episodes, settings)[0]).toBeLessThan(-0.7)
    const each = advantagesOf(episodes, { ...settings, multi_objective_aggregation: 'normalize_then_sum' })
    // One deviation against two: the weight decides.
    expect(each[0]).toBeGreaterThan(0.7)
  })

  it('takes a group for silent in which functions of weight 0 alone differ, compared one by one as well', async () => {
    const episodes = [episode('<think>x</think>y', 1), episode('y', 1)]
    const signal = (weights: number[], multi_objective_aggregation: GrpoConfig['multi_objective_aggregation']) => groupsOf(episodes, grpo([ENVIRONMENT, FORMAT], weights, { multi_objective_aggregation }))[0]?.signal
    await score(episodes, grpo([ENVIRONMENT, FORMAT], [1, 0]))
    expect(signal([1, 0], 'sum_then_normalize')).toBe(false)
    expect(signal([1, 0], 'normalize_then_sum')).toBe(false)
    expect(signal([1, 0.1], 'normalize_then_sum')).toBe(true)
    expect([...advantagesOf(episodes, grpo([ENVIRONMENT, FORMAT], [1, 0], { multi_objective_aggregation: 'normalize_then_sum' }))]).toEqual([0, 0])
  })

  it('has a curve for each function, and success by the environment', async () => {
    const episodes = [episode('<think>x</think>y', 0), episode('y', 1)]
    await score(episodes, grpo([ENVIRONMENT, FORMAT], [0.1, 1]))
    const metrics = rewardMetrics(episodes, [], [], { name: 'lane', scale_rewards: 'group', isSuccess: (reward) => reward >= 1 })
    expect(metrics).toMatchObject({ 'rewards/lane/mean': 0.5, 'rewards/think_format_reward/mean': 0.5, reward: 0.55, success: 0.5 })
  })
})
