/**
 * The GRPO loss and its derivative by every log-probability, written out by hand.
 *
 * For each token that the model wrote, with advantage A of its episode:
 *
 *     ρ    = exp(logπ − logπ_old)                     how much likelier the token has become since it was sampled
 *     loss = −min(ρ·A, clip(ρ, 1 − ε, 1 + ε_high)·A)  push good tokens up, bad ones down, but not far in one go
 *            + β · k3(π, π_ref)                       and stay near the reference (kl.ts)
 *
 * Tokens that the environment or the chat template wrote have mask 0: the model reads them, but does not train on them.
 * The variants of GRPO differ only in how the per-token terms are averaged; that is the normaliser's weight below.
 */

import type { GrpoConfig, LossType } from '../core/config'
import { k3, k3Derivative } from './kl'
import { sum } from './statistics'

export type LossOptions = Pick<GrpoConfig, 'loss_type' | 'epsilon' | 'epsilon_high' | 'beta' | 'max_completion_length'>

/**
 * The denominators of one optimizer step. They are known before the first micro-batch, so micro-batches simply add up
 * to the same gradient however the step was divided.
 */
export interface LossNormalizer {
  loss_type: LossType
  /** B: sequences in the optimizer step, also those without a trained token. */
  sequences: number
  /** N: trained tokens in the optimizer step. */
  tokens: number
  max_completion_length: number
}

/** Counts what the loss will be divided by. `masks` are [tokens] each, for every sequence of the optimizer step. */
export function lossNormalizer(
  masks: readonly ArrayLike<number>[],
  options: Pick<GrpoConfig, 'loss_type' | 'max_completion_length'>,
): LossNormalizer {
  return {
    loss_type: options.loss_type,
    sequences: masks.length,
    tokens: sum(masks.map(countTrained)),
    max_completion_length: options.max_completion_length,
  }
}

/**
 * Weight of each trained token of one sequence in the step's loss; the reductions of TRL's `loss_type`, with TRL's clamp
 * of every denominator to at least 1:
 *
 * - grpo: mean over sequences of each sequence's token mean, so every episode counts the same (long ones get less per token)
 * - bnpo, dapo: mean over all trained tokens of the step, so every token counts the same
 * - dr_grpo: the sum divided by a constant, B · max_completion_length, so that length has no influence at all
 */
export function tokenWeight(normalizer: LossNormalizer, trainedTokens: number): number {
  const { sequences, tokens, max_completion_length } = normalizer
  switch (normalizer.loss_type) {
    case 'grpo':
      return 1 / (Math.max(1, sequences) * Math.max(1, trainedTokens))
    case 'bnpo':
    case 'dapo':
      return 1 / Math.max(1, tokens)
    case 'dr_grpo':
      return 1 / Math.max(1, sequences * max_completion_length)
  }
}

/** One sequence as the loss sees it; arrays are [tokens] and read only where mask is 1. */
export interface PolicySequence {
  mask: ArrayLike<number>
  advantage: number
  /** logπ_old; null = the present log-probs are the old ones (first optimizer step after sampling), so ρ is exactly 1. */
  oldLogprobs: ArrayLike<number> | null
  /** logπ_ref; needed when beta is not 0. */
  refLogprobs: ArrayLike<number> | null
}

/** What the metrics need of one sequence: sums over its trained tokens. */
export interface PolicySequenceStatistics {
  tokens: number
  /** Tokens with A < 0 and ρ < 1 − ε: already pushed down far enough. */
  clippedLow: number
  /** Tokens with A > 0 and ρ > 1 + ε_high: already pushed up far enough. */
  clippedHigh: number
  /** Sum of k3 in nats; null when beta is 0. */
  kl: number | null
}

export interface PolicyLoss {
  /** This micro-batch's share of the step's loss; the shares of all micro-batches add up to it. */
  loss: number
  /** d loss / d logπ, one [tokens] array a sequence; 0 where mask is 0. */
  dLogprobs: Float64Array[]
  statistics: PolicySequenceStatistics[]
}

/**
 * The clipped policy loss of one micro-batch and its derivatives (PPO, arXiv 1707.06347, eq. 7; ε_high from DAPO, arXiv
 * 2503.14476). A token that is clipped has derivative 0: it has moved far enough.
 *
 * @param sequences the micro-batch's sequences
 * @param logprobs present log-probabilities of the same sequences, [tokens] each, in nats
 * @throws RangeError when beta is not 0 and a sequence has no reference log-probs, or the counts differ
 */
export function policyLoss(
  sequences: readonly PolicySequence[],
  logprobs: readonly ArrayLike<number>[],
  normalizer: LossNormalizer,
  options: LossOptions,
): PolicyLoss {
  if (sequences.length !== logprobs.length) throw new RangeError(`${sequences.length} sequences, ${logprobs.length} score arrays`)
  const low = 1 - options.epsilon
  const high = 1 + (options.epsilon_high ?? options.epsilon)
  const result: PolicyLoss = { loss: 0, dLogprobs: [], statistics: [] }

  sequences.forEach(({ mask, advantage, oldLogprobs, refLogprobs }, s) => {
    if (options.beta !== 0 && !refLogprobs) throw new RangeError(`sequence ${s} has no reference log-probs, but beta is ${options.beta}`)
    const now = logprobs[s] as ArrayLike<number>
    const gradient = new Float64Array(mask.length)
    const kl = options.beta === 0 ? null : 0
    const statistics: PolicySequenceStatistics = { tokens: countTrained(mask), clippedLow: 0, clippedHigh: 0, kl }
    const weight = tokenWeight(normalizer, statistics.tokens)

    for (let t = 0; t < mask.length; t++) {
      if (mask[t] !== 1) continue
      const logprob = now[t] as number
      const ratio = oldLogprobs ? Math.exp(logprob - (oldLogprobs[t] as number)) : 1
      const clipped = Math.min(Math.max(ratio, low), high)
      let term = -Math.min(ratio * advantage, clipped * advantage)

      const tooLow = advantage < 0 && ratio < low
      const tooHigh = advantage > 0 && ratio > high
      if (tooLow) statistics.clippedLow++
      if (tooHigh) statistics.clippedHigh++
      // d ρ / d logπ = ρ, so the unclipped term's derivative is −ρ·A.
      let derivative = tooLow || tooHigh || advantage === 0 ? 0 : -ratio * advantage

      if (options.beta !== 0 && refLogprobs) {
        const reference = refLogprobs[t] as number
        const kl = k3(logprob, reference)
        statistics.kl = (statistics.kl ?? 0) + kl
        term += options.beta * kl
        derivative += options.beta * k3Derivative(logprob, reference)
      }
      result.loss += weight * term
      gradient[t] = weight * derivative
    }
    result.dLogprobs.push(gradient)
    result.statistics.push(statistics)
  })
  return result
}

/** Number of ones in a mask. */
export function countTrained(mask: ArrayLike<number>): number {
  let count = 0
  for (let t = 0; t < mask.length; t++) if (mask[t] === 1) count++
  return count
}

/**
 * The mask that trains: an episode's own, or all zeros when `mask_truncated_completions` is on and the episode was cut
 * off before an end-of-turn token. TRL's rule: its tokens then also leave the token count N (the sequence stays in B).
 */
export function trainingMask(
  episode: { mask: readonly (0 | 1)[]; terminated: boolean },
  mask_truncated_completions: boolean,
): (0 | 1)[] {
  return mask_truncated_completions && !episode.terminated ? episode.mask.map(() => 0) : [...episode.mask]
}
