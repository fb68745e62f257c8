/** Our losses, advantages, learning rates and defaults against TRL's and transformers' own code. */

import { describe, expect, it } from 'vitest'
import { DEFAULT_GRPO, type LossType, type LrSchedulerType, type ScaleRewards } from '../../src/core/config'
import { advantages, advantagesByFunction, weightedRewards } from '../../src/rl/advantages'
import { entropyBonus, entropyThreshold, undecided } from '../../src/rl/entropy'
import { lossNormalizer, policyLoss, type LossOptions, type PolicySequence } from '../../src/rl/loss'
import { updateMetrics } from '../../src/rl/metrics'
import { learningRateFactor } from '../../src/rl/schedule'
import { sum } from '../../src/rl/statistics'
import { largestDifference, referenceJson } from './reference'

/** [batch, tokens] */
type Matrix = number[][]

interface LossInput {
  name: string
  logps: Matrix
  old: Matrix | null
  ref: Matrix
  sampler: Matrix
  entropies: Matrix
  completion_mask: Matrix
  tool_mask: Matrix
  advantages: number[]
  max_completion_length: number
}

interface LossResult {
  loss_type: LossType
  /** What differs from GRPOConfig's defaults. */
  changes: Record<string, unknown>
  /** Whether TRL had the sampler's log-probs. */
  with_sampler: boolean
  settings: Omit<LossOptions, 'loss_type' | 'max_completion_length'>
  loss: number
  gradient: Matrix
  /** d loss / d entropy. */
  entropy_gradient: Matrix
  metrics: Record<string, number | null>
}

interface TrlCases {
  losses: { input: LossInput; results: LossResult[] }[]
  advantages: { num_generations: number; rewards: (number | null)[]; scale_rewards: ScaleRewards; advantages: number[] }[]
  several: { num_generations: number; columns: (number | null)[][]; weights: number[]; aggregation: 'sum_then_normalize' | 'normalize_then_sum'; advantages: number[] }[]
  defaults: Record<string, unknown>
}

const trl = referenceJson<TrlCases>('trl.json')

function row(matrix: Matrix | null, i: number): number[] | null {
  return matrix?.[i] ?? null
}

function ours(input: LossInput, result: LossResult, microBatch: number) {
  const masks = input.completion_mask.map((mask, i) => mask.map((m, t) => m * (input.tool_mask[i]?.[t] ?? 0)))
  const settings: LossOptions = { ...result.settings, loss_type: result.loss_type, max_completion_length: input.max_completion_length }
  const normalizer = lossNormalizer(masks, settings)
  const threshold = entropyThreshold(input.entropies, masks, settings.top_entropy_quantile)
  const sequences = masks.map(
    (mask, i): PolicySequence => ({
      mask,
      advantage: input.advantages[i] as number,
      oldLogprobs: row(input.old, i),
      refLogprobs: settings.beta === 0 ? null : row(input.ref, i),
      samplerLogprobs: result.with_sampler ? row(input.sampler, i) : null,
      entropies: row(input.entropies, i),
    }),
  )
  const parts = []
  for (let i = 0; i < sequences.length; i += microBatch) {
    parts.push(policyLoss(sequences.slice(i, i + microBatch), input.logps.slice(i, i + microBatch), normalizer, settings, threshold))
  }
  const counted = masks.map((mask, i) => undecided(mask, input.entropies[i] ?? [], threshold))
  const tokens = sum(counted.map((one) => one.tokens))
  const bonuses = masks.map((mask, i) => entropyBonus(mask, input.entropies[i] ?? [], threshold, tokens, settings.entropy_coef))
  const policy_loss = sum(parts.map((part) => part.loss))
  const loss = policy_loss + sum(bonuses.map((bonus) => bonus.loss))
  const statistics = parts.flatMap((part) => part.statistics).map((one, i) => ({ ...one, entropy: undecided(masks[i] ?? [], input.entropies[i] ?? [], null).entropy }))
  const update = { loss, policy_loss, grad_norm: 0, learning_rate: 0, sequences: statistics, ...(settings.entropy_coef !== 0 && { entropy_coef: settings.entropy_coef }) }
  return { loss, gradient: parts.flatMap((part) => part.dLogprobs), entropyGradient: bonuses.map((bonus) => bonus.dEntropies), metrics: updateMetrics([update], settings), masks }
}

/** Ours under TRL's name; the extremes are compared where every sequence trains, since TRL's are 0/0 elsewhere. */
const EXTREMES = ['clip_ratio/low_min', 'clip_ratio/high_max']

describe.each(trl.losses)('policy loss on the input $input.name', ({ input, results }) => {
  const cases = results.map((result) => [`${result.loss_type} ${JSON.stringify(result.changes)}`, result] as const)
  it.each(cases)('%s', (_, result) => {
    for (const microBatch of [input.logps.length, 2, 1]) {
      const computed = ours(input, result, microBatch)
      // TRL's torch.where makes SAPO's temperatures float32.
      const tolerance = result.loss_type === 'sapo' ? 1e-7 : 1e-12
      expect(Math.abs(computed.loss - result.loss)).toBeLessThan(tolerance)
      computed.gradient.forEach((gradient, i) => expect(largestDifference(gradient, result.gradient[i] ?? [])).toBeLessThan(tolerance))
      computed.entropyGradient.forEach((gradient, i) => expect(largestDifference(gradient, result.entropy_gradient[i] ?? [])).toBeLessThan(1e-12))
      const allTrain = computed.masks.every((mask) => mask.some((m) => m === 1))
      for (const [name, value] of Object.entries(result.metrics)) {
        if (value === null || (!allTrain && EXTREMES.includes(name))) continue
        // One ρ a sequence: TRL counts rows without a trained token, too, which have no ρ of their own.
        const bySequence = result.settings.importance_sampling_level === 'sequence' || name === 'vespo/phi_seq_mean'
        if (!allTrain && bySequence && /clip|phi/.test(name)) continue
        // TRL counts in float32.
        expect(computed.metrics[name], name).toBeCloseTo(value, name === 'kl' || name === 'entropy' ? 10 : 5)
      }
    }
  })
})

it('meets both sides of the clip, masks that leave something out, and sequences without a trained token', () => {
  const metrics = trl.losses.flatMap(({ results }) => results.map((result) => result.metrics))
  expect(metrics.some((m) => (m['clip_ratio/low_mean'] ?? 0) > 0)).toBe(true)
  expect(metrics.some((m) => (m['clip_ratio/high_mean'] ?? 0) > 0)).toBe(true)
  expect(metrics.some((m) => (m['cispo_clip_ratio'] ?? 0) > 0)).toBe(true)
  expect(trl.losses.some(({ input }) => input.tool_mask.some((mask) => mask.every((m) => m === 0)))).toBe(true)
  for (const { input, results } of trl.losses) {
    if (input.name !== 'off-policy') continue
    const plain = results.find((result) => result.loss_type === 'dapo' && Object.keys(result.changes).length === 0)?.loss
    // Every option changes the loss of some input, or the comparison would say nothing of it.
    for (const result of results) if (result.loss_type === 'dapo' && result !== undefined && Object.keys(result.changes).some((key) => !/^(sapo|vespo)/.test(key))) expect([JSON.stringify(result.changes), result.loss === plain]).toEqual([JSON.stringify(result.changes), false])
  }
})

describe('advantages', () => {
  it.each(trl.advantages)('$rewards by $num_generations, scaled by $scale_rewards', (example) => {
    const computed = advantages(example.rewards, example.num_generations, example.scale_rewards)
    // TRL's nanstd takes its root in float32.
    expect(largestDifference(computed, example.advantages)).toBeLessThan(1e-6)
  })
})

describe('several reward functions', () => {
  it.each(trl.several)('$columns with weights $weights, $aggregation', ({ columns, weights, num_generations, aggregation, advantages: theirs }) => {
    const computed =
      aggregation === 'normalize_then_sum' ? advantagesByFunction(columns, weights, num_generations) : advantages(weightedRewards(columns, weights), num_generations, 'group')
    expect(largestDifference(computed, theirs)).toBeLessThan(1e-6)
  })
})

it('keeps the defaults of GRPOConfig', () => {
  const settings: Record<string, unknown> = { ...DEFAULT_GRPO }
  expect(Object.fromEntries(Object.keys(trl.defaults).map((key) => [key, settings[key]]))).toEqual(trl.defaults)
})

describe('learning rates', () => {
  const schedules = referenceJson<{ type: LrSchedulerType; warmup_steps: number; total: number; factors: number[] }[]>('schedules.json')
  it.each(schedules)('$type with $warmup_steps warm-up steps of $total', ({ type, warmup_steps, total, factors }) => {
    factors.forEach((factor, step) => expect(learningRateFactor(type, step, warmup_steps, total)).toBeCloseTo(factor, 12))
  })
})
