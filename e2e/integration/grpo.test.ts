/** GRPO in Node with the real engine and the shipped model: the same bits from the same seed, and what must not change them. */

import { describe, expect, it } from 'vitest'
import type { StepRecord } from '../../src/core/events'
import { builtinEnvironment } from '../../src/env/builtin'
import { configOf, flat, largestDifference, rewardedByPlace, trainSteps, type RunResult } from './grpo-run'

const small = { num_generations: 4, prompts_per_step: 2, max_completion_length: 128, learning_rate: 1e-3 }

/** Two steps of lane with this seed. */
const laneRun = (seed: number): Promise<RunResult> => trainSteps(configOf('lane', { ...small, seed }), { steps: 2 })

/** Everything that the run decided; no clocks. */
const decided = (records: readonly StepRecord[]) =>
  records.map(({ episodes, groups }) => ({
    groups,
    episodes: episodes.map(({ ids, mask, logprobs, trainLogprobs, entropies, reward, advantage, exit, seed }) => ({
      ids, mask, logprobs, trainLogprobs, entropies, reward, advantage, exit, seed,
    })),
  }))

describe('a seed', () => {
  it('gives the same tokens, rewards and adapter again, bit for bit; another seed gives others', async () => {
    const [first, again, other] = [await laneRun(7), await laneRun(7), await laneRun(8)]
    expect(decided(again.records)).toEqual(decided(first.records))
    for (const [i, tensor] of first.adapter.entries()) {
      expect(again.adapter[i]?.name).toBe(tensor.name)
      expect(Buffer.from(again.adapter[i]?.data.buffer ?? new ArrayBuffer(0)).equals(Buffer.from(tensor.data.buffer)), tensor.name).toBe(true)
    }
    expect(flat(first.adapter).some((x) => x !== 0)).toBe(true)

    const ids = ({ records }: RunResult) => records.map(({ episodes }) => episodes.map((e) => e.ids))
    expect(ids(other)).not.toEqual(ids(first))
    expect(other.records.map((r) => r.episodes.map((e) => e.seed))).not.toEqual(first.records.map((r) => r.episodes.map((e) => e.seed)))
    expect(largestDifference(first.adapter, other.adapter)).toBeGreaterThan(1e-4)
  })
})

describe('tokens that the environment wrote', () => {
  it('are masked, and without the mask the update is another', async () => {
    const config = configOf('catch', { ...small, prompts_per_step: 1, max_completion_length: 448, seed: 7 })
    const environment = rewardedByPlace(builtinEnvironment('catch'))
    const [masked, unmasked] = [await trainSteps(config, { environment }), await trainSteps(config, { environment, maskEnvironment: false })]
    const episodes = masked.records[0]?.episodes ?? []
    // Both sampled the same episodes; environments wrote behind the prompt.
    expect(unmasked.records[0]?.episodes.map((e) => e.ids)).toEqual(episodes.map((e) => e.ids))
    expect(episodes.some((e) => e.authors.lastIndexOf('environment') > e.promptLength)).toBe(true)
    expect(episodes.some((e) => e.advantage !== 0)).toBe(true)
    for (const { mask, authors } of episodes) expect(mask).toEqual(authors.map((author) => (author === 'model' ? 1 : 0)))

    const norm = ({ records }: RunResult) => records[0]?.metrics['grad_norm'] ?? 0
    expect(norm(masked)).toBeGreaterThan(0)
    expect(Math.abs(norm(unmasked) / norm(masked) - 1)).toBeGreaterThan(0.05)
    expect(largestDifference(masked.adapter, unmasked.adapter)).toBeGreaterThan(1e-4)
  })
})

describe('the micro-batch size', () => {
  it('changes nothing beyond rounding in a whole step', async () => {
    // With a large ε a step is 1000 · gradient: Adam's usual step has the same size whatever the gradient is.
    const config = configOf('lane', { ...small, seed: 7, learning_rate: 1000, adam_beta1: 0, adam_beta2: 0, adam_epsilon: 1 })
    const environment = rewardedByPlace(builtinEnvironment('lane'))
    const [tight, wide] = [
      await trainSteps(config, { environment, microBatchTokens: 256 }),
      await trainSteps(config, { environment, microBatchTokens: 4096 }),
    ]
    const tokens = tight.records[0]?.episodes.reduce((sum, e) => sum + e.ids.length, 0) ?? 0
    expect(tokens).toBeGreaterThan(3 * 256)
    const [a, b] = [tight.records[0], wide.records[0]]
    expect(a?.episodes.map((e) => e.ids)).toEqual(b?.episodes.map((e) => e.ids))
    expect(a?.metrics['grad_norm']).toBeGreaterThan(1e-3)
    expect(Math.abs((a?.metrics['grad_norm'] ?? 0) - (b?.metrics['grad_norm'] ?? 1))).toBeLessThan(1e-5)
    expect(Math.abs((a?.metrics['loss'] ?? 0) - (b?.metrics['loss'] ?? 1))).toBeLessThan(1e-5)
    expect(Math.abs((a?.metrics['entropy'] ?? 0) - (b?.metrics['entropy'] ?? 1))).toBeLessThan(1e-5)
    const difference = largestDifference(tight.adapter, wide.adapter)
    expect(difference).toBeLessThan(1e-5)
    // The batch was really divided in two ways: the sums were rounded differently.
    expect(difference).toBeGreaterThan(0)
  })
})
