/** Our losses, advantages, learning rates and defaults against TRL's and transformers' own code. */

import { describe, expect, it } from 'vitest'
import { DEFAULT_GRPO, type LossType, type LrSchedulerType, type ScaleRewards } from '../../src/core/config'
import { advantages } from '../../src/rl/advantages'
import { lossNormalizer, policyLoss, type PolicySequence } from '../../src/rl/loss'
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
  completion_mask: Matrix
  tool_mask: Matrix
  advantages: number[]
  max_completion_length: number
}

interface LossResult {
  loss_type: LossType
  epsilon: number
  epsilon_high: number | null
  beta: number
  loss: number
  gradient: Matrix
  metrics: Record<string, number | null>
}

interface TrlCases {
  losses: { input: LossInput; results: LossResult[] }[]
  advantages: { num_generations: number; rewards: (number | null)[]; scale_rewards: ScaleRewards; advantages: number[] }[]
  defaults: Record<string, unknown>
}

const trl = referenceJson<TrlCases>('trl.json')

function row(matrix: Matrix | null, i: number): number[] | null {
  return matrix?.[i] ?? null
}

function ours(input: LossInput, options: LossResult, microBatch: number) {
  const masks = input.completion_mask.map((mask, i) => mask.map((m, t) => m * (input.tool_mask[i]?.[t] ?? 0)))
  const settings = { ...options, max_completion_length: input.max_completion_length }
  const normalizer = lossNormalizer(masks, settings)
  const sequences = masks.map(
    (mask, i): PolicySequence => ({
      mask,
      advantage: input.advantages[i] as number,
      oldLogprobs: row(input.old, i),
      refLogprobs: options.beta === 0 ? null : row(input.ref, i),
    }),
  )
  const parts = []
  for (let i = 0; i < sequences.length; i += microBatch) {
    parts.push(policyLoss(sequences.slice(i, i + microBatch), input.logps.slice(i, i + microBatch), normalizer, settings))
  }
  const statistics = parts.flatMap((part) => part.statistics)
  const share = (count: (s: (typeof statistics)[number]) => number) => sum(statistics.map(count)) / normalizer.tokens
  return {
    loss: sum(parts.map((part) => part.loss)),
    gradient: parts.flatMap((part) => part.dLogprobs),
    low: share((s) => s.clippedLow),
    high: share((s) => s.clippedHigh),
    kl: options.beta === 0 ? undefined : share((s) => s.kl ?? NaN),
  }
}

describe.each(trl.losses)('policy loss on the input $input.name', ({ input, results }) => {
  it.each(results)('$loss_type, ε $epsilon / $epsilon_high, β $beta', (result) => {
    for (const microBatch of [input.logps.length, 2, 1]) {
      const computed = ours(input, result, microBatch)
      expect(computed.loss).toBeCloseTo(result.loss, 12)
      computed.gradient.forEach((gradient, i) => expect(largestDifference(gradient, result.gradient[i] ?? [])).toBeLessThan(1e-12))
      // TRL counts clipped tokens in float32.
      expect(computed.low).toBeCloseTo(result.metrics['clip_ratio/low_mean'] as number, 6)
      expect(computed.high).toBeCloseTo(result.metrics['clip_ratio/high_mean'] as number, 6)
      if (computed.kl !== undefined) expect(computed.kl).toBeCloseTo(result.metrics['kl'] as number, 12)
    }
  })
})

it('meets both sides of the clip and sequences without a trained token', () => {
  const metrics = trl.losses.flatMap(({ results }) => results.map((result) => result.metrics))
  expect(metrics.some((m) => (m['clip_ratio/low_mean'] ?? 0) > 0)).toBe(true)
  expect(metrics.some((m) => (m['clip_ratio/high_mean'] ?? 0) > 0)).toBe(true)
  expect(trl.losses.some(({ input }) => input.tool_mask.some((mask) => mask.every((m) => m === 0)))).toBe(true)
})

describe('advantages', () => {
  it.each(trl.advantages)('$rewards by $num_generations, scaled by $scale_rewards', (example) => {
    const computed = advantages(example.rewards, example.num_generations, example.scale_rewards)
    // TRL's nanstd takes its root in float32.
    expect(largestDifference(computed, example.advantages)).toBeLessThan(1e-6)
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
