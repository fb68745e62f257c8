/**
 * The GRPO loss and its derivative by every log-probability, written out by hand.
 *
 * For each token that the model wrote, with advantage A of its episode:
 *
 *     ρ    = exp(logπ − logπ_old)            how much likelier the token has become since it was sampled (ratio.ts)
 *     loss = term(ρ, A) · weight             push good tokens up, bad ones down, but not far in one go (terms.ts)
 *            + β · k3(π, π_ref)              and stay near the reference (kl.ts)
 *     step = average of all of these         (formulas.ts says over what)
 *            − c · mean entropy              and, if asked, stay undecided (entropy.ts)
 *
 * `weight` is 1 unless an option says otherwise: 0 for a token that is not undecided enough or a sequence that is too far gone, or the
 * correction for a sampler that disagrees with the training graph. Tokens that the environment or the chat template wrote have mask
 * 0: the model reads them, but does not train on them.
 */

import type { GrpoConfig, LossType } from '../core/config'
import type { EntropyOptions } from './entropy'
import { LOSS_FORMULAS, type Factor } from './formulas'
import { k3, k3Derivative } from './kl'
import { isOnPolicy, logImportance, logRatios, mismatchWeights, vespoWeight, type MismatchOptions } from './ratio'
import { sum } from './statistics'
import { type PolicyTerm, policyTerm, type TermOptions } from './terms'

/** Everything that the loss reads of the settings. */
export type LossOptions = TermOptions &
  MismatchOptions &
  EntropyOptions &
  Pick<GrpoConfig, 'importance_sampling_level' | 'beta' | 'use_bias_correction_kl' | 'off_policy_mask_threshold' | 'top_entropy_quantile' | 'max_completion_length'>

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

/** One sequence as the loss sees it; arrays are [tokens] and read only where mask is 1. */
export interface PolicySequence {
  mask: ArrayLike<number>
  advantage: number
  /** logπ_old; null = the present log-probs are the old ones (first optimizer step after sampling), so ρ is exactly 1. */
  oldLogprobs: ArrayLike<number> | null
  /** logπ_ref; needed when beta is not 0. */
  refLogprobs: ArrayLike<number> | null
  /** The sampler's log-probs; absent where it did not tell them, and nothing is then corrected. */
  samplerLogprobs?: ArrayLike<number> | null
  /** Entropies of the present policy, nats; needed where `threshold` is a number. */
  entropies?: ArrayLike<number> | null
}

/** The loss of one token before it is averaged, with everything that it is made of. */
export interface TokenTerm extends PolicyTerm {
  /** What the policy term is multiplied by: masks and correction, 1 without any. */
  factor: number
  /** k3 in nats (times ρ with use_bias_correction_kl); null when beta is 0 or there is no reference log-prob. */
  kl: number | null
  /** term · factor + β · k3. */
  total: number
  /** d (sum of the sequence's totals) / d logπ of this token. */
  derivative: number
}

/** The terms of one sequence, [tokens]; null where the mask is 0. */
export interface SequenceTerms {
  terms: (TokenTerm | null)[]
  /** Trained tokens. */
  tokens: number
  /** VESPO's φ; 1 with other losses. */
  phi: number
  /** Whether the off-policy mask left the sequence in. */
  kept: boolean
}

/**
 * The terms of a sequence and their derivatives. Log-probabilities [tokens] in nats. `threshold`: least entropy of a token that has a
 * policy term (entropy.ts); null = any.
 *
 * @throws RangeError when there is a threshold and the sequence has no entropies
 */
export function sequenceTerms(sequence: PolicySequence, logprobs: ArrayLike<number>, threshold: number | null, options: LossOptions): SequenceTerms {
  const { mask, advantage, oldLogprobs, refLogprobs, samplerLogprobs = null, entropies = null } = sequence
  if (threshold !== null && !entropies) throw new RangeError('top_entropy_quantile needs the entropies of every sequence')
  const old = oldLogprobs ?? logprobs
  const tokens = countTrained(mask)
  const ratios = logRatios(logprobs, oldLogprobs)
  const bySequence = options.importance_sampling_level === 'sequence'
  const importance = logImportance(ratios, mask, tokens, options.importance_sampling_level)
  const mismatch = mismatchWeights(old, samplerLogprobs, mask, options)
  const isVespo = options.loss_type === 'vespo'
  const phi = isVespo ? vespoWeight(ratios, mask, advantage, mismatch, options) : 1
  const kept = isOnPolicy(logprobs, samplerLogprobs ?? old, mask, tokens, advantage, options.off_policy_mask_threshold)

  // At level 'sequence' every token's term depends on every log-prob, by ρ: these are added up and shared out.
  let shared = 0
  const terms = Array.from(mask, (m, t): TokenTerm | null => {
    if (m !== 1) return null
    const logprob = logprobs[t] as number
    const ratio = Math.exp(importance[t] as number)
    const term = policyTerm(ratio, logprob, advantage, phi, options)
    const undecided = threshold === null || ((entropies as ArrayLike<number>)[t] as number) >= threshold
    const factor = !kept || !undecided ? 0 : mismatch && !isVespo ? (mismatch[t] as number) : 1
    let total = factor === 0 ? 0 : term.value * factor
    let derivative = factor === 0 ? 0 : term.byLogprob * factor
    let byRatio = factor === 0 ? 0 : term.byRatio * factor
    let kl: number | null = null
    if (options.beta !== 0 && refLogprobs) {
      const reference = refLogprobs[t] as number
      const correction = options.use_bias_correction_kl ? ratio : 1
      kl = k3(logprob, reference) * correction
      total += options.beta * kl
      derivative += options.beta * k3Derivative(logprob, reference) * correction
      if (options.use_bias_correction_kl) byRatio += options.beta * kl
    }
    if (bySequence) shared += byRatio
    else derivative += byRatio
    return { ...term, factor, kl, total, derivative }
  })
  if (bySequence) for (const term of terms) if (term) term.derivative += shared / Math.max(1, tokens)
  return { terms, tokens, phi, kept }
}

/** What the metrics need of one sequence: sums over its trained tokens. */
export interface PolicySequenceStatistics {
  tokens: number
  /** What the clip counts are shares of: tokens, or 1 at level 'sequence', where a sequence counts once. */
  counted: number
  /** Pushed down far enough: A < 0 and ρ < 1 − ε. */
  clippedLow: number
  /** Pushed up far enough: A > 0 and ρ > 1 + ε_high (cispo: ρ > ε_high). */
  clippedHigh: number
  /** Sum of k3 in nats; null when beta is 0. */
  kl: number | null
  /** VESPO's φ; absent with other losses. */
  phi?: number
  /** Left out by the off-policy mask. */
  offPolicy?: true
}

export interface PolicyLoss {
  /** This micro-batch's share of the step's loss; the shares of all micro-batches add up to it. The entropy bonus is not in it. */
  loss: number
  /** d loss / d logπ, one [tokens] array a sequence; 0 where mask is 0. */
  dLogprobs: Float64Array[]
  statistics: PolicySequenceStatistics[]
}

/**
 * The policy loss of one micro-batch and its derivatives.
 *
 * @param sequences the micro-batch's sequences
 * @param logprobs present log-probabilities of the same sequences, [tokens] each, in nats
 * @param threshold least entropy of a token with a policy term, from the whole optimizer step; null = any
 * @throws RangeError when beta is not 0 and a sequence has no reference log-probs, or the counts differ
 */
export function policyLoss(
  sequences: readonly PolicySequence[],
  logprobs: readonly ArrayLike<number>[],
  normalizer: LossNormalizer,
  options: LossOptions,
  threshold: number | null = null,
): PolicyLoss {
  if (sequences.length !== logprobs.length) throw new RangeError(`${sequences.length} sequences, ${logprobs.length} score arrays`)
  const result: PolicyLoss = { loss: 0, dLogprobs: [], statistics: [] }
  sequences.forEach((sequence, s) => {
    if (options.beta !== 0 && !sequence.refLogprobs) throw new RangeError(`sequence ${s} has no reference log-probs, but beta is ${options.beta}`)
    const found = sequenceTerms(sequence, logprobs[s] as ArrayLike<number>, threshold, options)
    const weight = tokenWeight(normalizer, found.tokens)
    result.dLogprobs.push(Float64Array.from(found.terms, (term) => (term ? weight * term.derivative : 0)))
    for (const term of found.terms) if (term) result.loss += weight * term.total
    result.statistics.push(statisticsOf(found, options))
  })
  return result
}

function statisticsOf({ terms, tokens, phi, kept }: SequenceTerms, options: LossOptions): PolicySequenceStatistics {
  const there = terms.filter((term) => term !== null)
  const counted = options.importance_sampling_level === 'sequence' ? Math.min(1, tokens) : tokens
  // At level 'sequence' all tokens have the same ρ.
  const one = (bound: 'low' | 'high') => (there.filter((term) => term.bound === bound).length * counted) / Math.max(1, tokens)
  return {
    tokens,
    counted,
    clippedLow: one('low'),
    clippedHigh: one('high'),
    kl: options.beta === 0 ? null : sum(there.map((term) => term.kl ?? 0)),
    ...(options.loss_type === 'vespo' && { phi }),
    ...(!kept && { offPolicy: true as const }),
  }
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
