/** Metric definitions, each on a case worked out by hand. */
import { DEFAULT_GRPO, type GrpoConfig } from '../core/config'
import { describe, expect, it } from 'vitest'
import { verdictOf, type Episode, type Turn, type Verdict } from '../core/episode'
import { advantages, groupStatistics } from './advantages'
import { byEnvironment, completionMetrics, countTokens, environmentMetrics, mismatchMetrics, rewardMetrics, updateMetrics } from './metrics'

const turn = (change: Partial<Turn> = {}): Turn => ({ start: 2, end: 4, resultEnd: 5, calls: [], parseError: null, ...change })
const call = (ms: number, error = false) => ({ call: { name: 'move', arguments: {} }, result: '', reward: null, done: false, error, ms })

function episode(index: number, reward: number | null, modelTokens: number, change: Partial<Episode> = {}): Episode {
  const mask = [0, 0, ...Array<1>(modelTokens).fill(1), 0] as (0 | 1)[]
  return {
    step: 0,
    index,
    group: Math.floor(index / 2),
    seed: 1,
    ids: mask.map(() => 7),
    mask,
    logprobs: mask.map(() => 0),
    authors: mask.map((m, t) => (m === 1 ? 'model' : t < 2 ? 'template' : 'environment')),
    alternatives: mask.map(() => null),
    promptLength: 2,
    turns: [turn()],
    messages: [],
    reward,
    exit: 'env_done',
    error: null,
    terminated: true,
    ...change,
  }
}

const EPISODES = [
  episode(0, 1, 2, { turns: [turn({ calls: [call(10)] }), turn({ calls: [call(30, true)] })] }),
  episode(1, 0, 4, { terminated: false, exit: 'token_limit', turns: [turn({ parseError: 'no JSON' })] }),
  episode(2, 0.5, 3),
  episode(3, null, 1, { exit: 'env_error', error: 'gone' }),
]

describe('byEnvironment', () => {
  it('measures each environment of a run on its own episodes', () => {
    const of = (environment: string, reward: number | null) => episode(0, reward, 2, { environment, success: reward === 1 })
    expect(byEnvironment([of('lane', 1), of('lane', 0), of('catch', null), of('catch', 1)])).toEqual({
      'rewards/lane/mean': 0.5,
      'rewards/lane/std': Math.SQRT1_2,
      'lane/success': 0.5,
      'lane/episodes': 2,
      'lane/turns': 1,
      'lane/unscorable': 0,
      'rewards/catch/mean': 1,
      'rewards/catch/std': null,
      'catch/success': 1,
      'catch/episodes': 2,
      'catch/turns': 1,
      'catch/unscorable': 1,
    })
  })
  it('says nothing of a run with one', () => expect(byEnvironment(EPISODES)).toEqual({}))
})

describe('rewardMetrics', () => {
  const rewards = EPISODES.map((e) => e.reward)
  const make = (scale_rewards: 'group' | 'batch') =>
    rewardMetrics(EPISODES, groupStatistics(rewards, 2), advantages(rewards, 2, scale_rewards), {
      name: 'Catch',
      scale_rewards,
      isSuccess: (r) => r >= 1,
    })
  it('averages over scorable episodes of the whole step', () => {
    const metrics = make('group')
    expect(metrics['reward']).toBe(0.5)
    expect(metrics['reward_std']).toBe(0.5)
    expect(metrics['rewards/Catch/mean']).toBe(0.5)
    expect(metrics['rewards/Catch/std']).toBe(0.5)
    expect(metrics['success']).toBeCloseTo(1 / 3, 12)
    expect(metrics['groups/useful']).toBe(0.5)
    // Of the groups (1, 0) and (0.5).
    expect([metrics['groups/best_reward'], metrics['groups/worst_reward']]).toEqual([0.75, 0.25])
    expect(metrics['completions/effective']).toBe(2)
  })
  it('takes the spread of the group or of the step', () => {
    expect(make('group')['frac_reward_zero_std']).toBeCloseTo(1 / 3, 12)
    expect(make('batch')['frac_reward_zero_std']).toBe(0)
  })
  it('is null, not 0, when nothing is scorable', () => {
    const holes = [episode(0, null, 1), episode(1, null, 1)]
    const options = { name: 'x', scale_rewards: 'group', isSuccess: () => true } as const
    const metrics = rewardMetrics(holes, groupStatistics([null, null], 2), [0, 0], options)
    expect(metrics['reward']).toBeNull()
    expect(metrics['reward_std']).toBeNull()
    expect(metrics['success']).toBeNull()
  })
})

describe('completionMetrics', () => {
  it('counts model-written tokens, terminated ones apart', () => {
    expect(completionMetrics(EPISODES)).toMatchObject({
      'completions/mean_length': 2.5,
      'completions/min_length': 1,
      'completions/max_length': 4,
      'completions/mean_terminated_length': 2,
      'completions/min_terminated_length': 1,
      'completions/max_terminated_length': 3,
      'completions/clipped_ratio': 0.25,
      'tokens/model': 10,
      'tokens/environment': 4,
      'tokens/template': 0,
      'turns/mean': 1.25,
      'exit/env_done': 0.5,
      'exit/token_limit': 0.25,
      'exit/env_error': 0.25,
      'exit/answered': 0,
    })
    expect(countTokens(EPISODES)).toBe(8 + 10)
  })
  it('has terminated lengths of 0 where nothing terminated', () => {
    expect(completionMetrics([episode(0, 1, 2, { terminated: false })])['completions/mean_terminated_length']).toBe(0)
  })
})

describe('environmentMetrics', () => {
  it('keeps failed, unparseable and unscorable apart', () => {
    expect(environmentMetrics(EPISODES)).toMatchObject({
      'tools/call_frequency': 0.5,
      'tools/failure_frequency': 0.5,
      'tools/parse_failure_frequency': 1 / 3,
      'environment/latency_ms': 20,
      'environment/unscorable': 1,
    })
  })
  it('counts every call, parsed or not, and times only those that reached the environment', () => {
    const turns = [turn({ parseError: 'no JSON', parseErrors: 3, calls: [call(40), { ...call(0, true), refused: true }] })]
    expect(environmentMetrics([episode(0, 1, 2, { turns })])).toMatchObject({
      'tools/call_frequency': 2,
      'tools/failure_frequency': 0.5,
      'tools/parse_failure_frequency': 3 / 5,
      'environment/latency_ms': 40,
    })
  })
})

describe('verdicts', () => {
  const rewarded = (reward: number | null) => [turn({ calls: [{ ...call(5), reward }] })]
  it('keep a 0 of the environment apart from failures, unreadable answers, spent budgets and calls that never came', () => {
    const one = (reward: number | null, change: Partial<Episode>) => episode(0, reward, 2, change)
    const table: [Verdict, Episode][] = [
      ['said', one(0, { turns: rewarded(0) })],
      ['said', one(1, { turns: rewarded(1), exit: 'answered' })],
      ['no_call', one(0, { exit: 'answered' })],
      ['budget', one(0, { turns: rewarded(0), exit: 'turn_limit' })],
      ['budget', one(0, { exit: 'token_limit' })],
      ['env_silent', one(null, { turns: rewarded(null) })],
      ['env_failed', one(null, { turns: rewarded(0), exit: 'env_error', error: 'gone' })],
      ['unreadable', one(null, { turns: rewarded(0), exit: 'env_unreadable', error: 'no JSON' })],
      ['stopped', one(null, { exit: 'stopped' })],
      ['said', one(0, { turns: rewarded(0) })],
    ]
    for (const [verdict, each] of table) expect(verdictOf(each)).toBe(verdict)
    expect(environmentMetrics(table.map(([, each]) => each))).toMatchObject({
      'verdict/said': 0.3,
      'verdict/said_zero': 0.2,
      'verdict/no_call': 0.1,
      'verdict/budget': 0.2,
      'verdict/env_silent': 0.1,
      'verdict/env_failed': 0.1,
      'verdict/unreadable': 0.1,
      'verdict/stopped': 0.1,
      'environment/unscorable': 4,
    })
    expect(completionMetrics(table.map(([, each]) => each))).toMatchObject({ 'exit/env_unreadable': 0.1, 'exit/env_error': 0.1 })
    expect(environmentMetrics([])['verdict/said']).toBeNull()
  })
})

describe('mismatchMetrics', () => {
  const sequences = [
    { mask: [0, 1, 1], sampler: [9, -1, -2], train: [0, -1.1, -1.8] },
    { mask: [0, 1, 0], sampler: [0, -3, 0], train: [0, -1, 5] },
    { mask: [0, 0], sampler: [0, -1], train: [0, -9] },
  ]
  const values = (change: Partial<GrpoConfig>) => {
    const metrics = mismatchMetrics(sequences, { ...DEFAULT_GRPO, ...change })
    return ['min', 'mean', 'max'].map((name) => metrics[`sampling/importance_sampling_ratio/${name}`])
  }
  it('compares both log-probs where the mask is 1', () => {
    const metrics = mismatchMetrics(sequences, DEFAULT_GRPO)
    expect(metrics['sampling/sampling_logp_difference/mean']).toBeCloseTo((0.1 + 0.2 + 2) / 3, 12)
    expect(metrics['sampling/sampling_logp_difference/max']).toBeCloseTo(2, 12)
  })
  it('has the ratios by which the loss is corrected: of tokens or of sequences, bounded', () => {
    const [a, b, c] = [Math.exp(-0.1), Math.exp(0.2), Math.exp(2)] as const
    const close = (found: (number | null | undefined)[], expected: number[]) => found.forEach((value, i) => expect(value).toBeCloseTo(expected[i] as number, 12))
    close(values({}), [0, a * b / 2, a * b])
    close(values({ vllm_importance_sampling_mode: 'sequence_truncate' }), [a * b, (a * b + 3) / 2, 3])
    close(values({ vllm_importance_sampling_mode: 'token_truncate' }), [a, (a + b + 3) / 3, 3])
    close(values({ vllm_importance_sampling_mode: 'token_mask' }), [0, (a + b) / 3, b])
    close(values({ vllm_importance_sampling_correction: false, vllm_importance_sampling_mode: 'token_mask' }), [a, (a + b + c) / 3, c])
    close(values({ vllm_importance_sampling_correction: false }), [a, (a + b + c) / 3, c])
  })
})

describe('updateMetrics', () => {
  it('takes token means per optimizer step and averages the steps', () => {
    const row = (tokens: number, clippedLow: number, clippedHigh: number, entropy: number) =>
      ({ tokens, counted: tokens, clippedLow, clippedHigh, entropy, kl: null })
    const metrics = updateMetrics([
      { loss: 1, policy_loss: 1, grad_norm: 5, learning_rate: 0.1, sequences: [row(4, 0, 0, 4), row(1, 0, 0, 6)] },
      { loss: 2, policy_loss: 2, grad_norm: 7, learning_rate: 0.2, sequences: [row(4, 1, 0, 4), row(1, 0, 1, 1), row(0, 0, 0, 0)] },
    ], DEFAULT_GRPO)
    expect(metrics).toEqual({
      loss: 1.5,
      grad_norm: 7,
      learning_rate: 0.2,
      entropy: 1.5,
      'clip_ratio/low_mean': 0.1,
      'clip_ratio/low_min': 0,
      'clip_ratio/high_mean': 0.1,
      'clip_ratio/high_max': 0.5,
      'clip_ratio/region_mean': 0.2,
    })
  })
})
