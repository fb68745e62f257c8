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
import { LOSS_FORMULAS, type Factor } from './formulas'
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

/** What a token's term may be divided by, as numbers: the step's sizes and the trained tokens of the token's own sequence. */
export function factorsOf(normalizer: LossNormalizer, trainedTokens: number): Record<Factor, number> {
  return { sequences: normalizer.sequences, tokens: normalizer.tokens, sequenceTokens: trainedTokens, maxLength: normalizer.max_completion_length }
}

/**
 * Weight of each trained token of one sequence in the step's loss: 1 over the factors that its loss_type divides by (formulas.ts),
 * with TRL's clamp of every denominator to at least 1.
 */
export function tokenWeight(normalizer: LossNormalizer, trainedTokens: number): number {
  const factors = factorsOf(normalizer, trainedTokens)
  return 1 / LOSS_FORMULAS[normalizer.loss_type].dividedBy.reduce((product, factor) => product * Math.max(1, factors[factor]), 1)
}

export type TermOptions = Pick<GrpoConfig, 'epsilon' | 'epsilon_high' | 'beta'>

/** The loss of one token before it is weighted, with everything that it is made of. */
export interface TokenTerm {
  /** ρ. */
  ratio: number
  /** ρ kept between 1 − ε and 1 + ε_high. */
  clippedRatio: number
  /** The two branches of the min: ρ·A and clip(ρ)·A. */
  unclipped: number
  clipped: number
  /** The branch that the min took; 'clipped' has no derivative. 'equal': ρ is within the clip range, or A is 0. */
  branch: 'unclipped' | 'clipped' | 'equal'
  /** k3 in nats; null when beta is 0 or there is no reference log-prob. */
  kl: number | null
  /** −min(…) + β·k3. */
  value: number
  /** d value / d logπ. */
  derivative: number
}

/** Bounds of the clip, 1 − ε and 1 + ε_high. */
export function clipRange({ epsilon, epsilon_high }: Pick<TermOptions, 'epsilon' | 'epsilon_high'>): { low: number; high: number } {
  return { low: 1 - epsilon, high: 1 + (epsilon_high ?? epsilon) }
}

/**
 * One trained token's term. Log-probabilities in nats; `oldLogprob` null = the present one is the old one, so ρ is exactly 1;
 * `refLogprob` null leaves the KL term out.
 */
export function tokenTerm(
  logprob: number,
  oldLogprob: number | null,
  refLogprob: number | null,
  advantage: number,
  options: TermOptions,
): TokenTerm {
  const { low, high } = clipRange(options)
  const ratio = oldLogprob === null ? 1 : Math.exp(logprob - oldLogprob)
  const clippedRatio = Math.min(Math.max(ratio, low), high)
  const unclipped = ratio * advantage
  const clipped = clippedRatio * advantage
  const isClipped = (advantage < 0 && ratio < low) || (advantage > 0 && ratio > high)
  const branch = isClipped ? 'clipped' : clippedRatio === ratio || advantage === 0 ? 'equal' : 'unclipped'
  let value = -Math.min(unclipped, clipped)
  // d ρ / d logπ = ρ, so the unclipped branch's derivative is −ρ·A.
  let derivative = isClipped || advantage === 0 ? 0 : -ratio * advantage
  let kl: number | null = null
  if (options.beta !== 0 && refLogprob !== null) {
    kl = k3(logprob, refLogprob)
    value += options.beta * kl
    derivative += options.beta * k3Derivative(logprob, refLogprob)
  }
  return { ratio, clippedRatio, unclipped, clipped, branch, kl, value, derivative }
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
      const old = oldLogprobs ? (oldLogprobs[t] as number) : null
      const reference = options.beta !== 0 && refLogprobs ? (refLogprobs[t] as number) : null
      const term = tokenTerm(now[t] as number, old, reference, advantage, options)
      if (term.branch === 'clipped') statistics[advantage < 0 ? 'clippedLow' : 'clippedHigh']++
      if (term.kl !== null) statistics.kl = (statistics.kl ?? 0) + term.kl
      result.loss += weight * term.value
      gradient[t] = weight * term.derivative
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
