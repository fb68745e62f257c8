/**
 * How far the policy has moved since a sequence was sampled: ρ, and three judgements that rest on it.
 *
 * Everything the GRPO family does with "off-policy" data is made of one number per token, the log-ratio logπ − logπ_old:
 *
 * - ρ itself, by token or by sequence (GSPO),
 * - whether a bad sequence has been left too far behind to learn from it (off-policy mask),
 * - how much the sampler and the training graph disagreed in the first place (mismatch correction),
 * - VESPO's soft weight of a whole sequence.
 *
 * All of them but ρ are constants to the gradient.
 */

import type { GrpoConfig } from '../core/config'

/** Sum over the trained tokens of `of(t)`. */
function sumTrained(mask: ArrayLike<number>, of: (t: number) => number): number {
  let total = 0
  for (let t = 0; t < mask.length; t++) if (mask[t] === 1) total += of(t)
  return total
}

/** logπ − logπ_old, [tokens]; all 0 without old log-probs, where the present ones are the old ones. */
export function logRatios(logprobs: ArrayLike<number>, oldLogprobs: ArrayLike<number> | null): Float64Array {
  return Float64Array.from(logprobs, (logprob, t) => (oldLogprobs ? logprob - (oldLogprobs[t] as number) : 0))
}

/**
 * log ρ of each token, [tokens]: its own log-ratio, or at level 'sequence' the mean over the sequence's `tokens` trained ones (GSPO,
 * arXiv 2507.18071, eq. 7), the same for all.
 */
export function logImportance(ratios: Float64Array, mask: ArrayLike<number>, tokens: number, level: GrpoConfig['importance_sampling_level']): Float64Array {
  if (level === 'token') return ratios
  return new Float64Array(ratios.length).fill(sumTrained(mask, (t) => ratios[t] as number) / Math.max(1, tokens))
}

/**
 * Whether a sequence is kept (DeepSeek-V3.2, arXiv 2512.02556): always with A ≥ 0, else while it has become less likely by at most
 * `threshold` nats a token since it was sampled.
 */
export function isOnPolicy(logprobs: ArrayLike<number>, sampled: ArrayLike<number>, mask: ArrayLike<number>, tokens: number, advantage: number, threshold: number | null): boolean {
  if (threshold === null || advantage >= 0) return true
  return sumTrained(mask, (t) => (sampled[t] as number) - (logprobs[t] as number)) / Math.max(1, tokens) <= threshold
}

export type MismatchOptions = Pick<
  GrpoConfig,
  'vllm_importance_sampling_correction' | 'vllm_importance_sampling_mode' | 'vllm_importance_sampling_clip_max' | 'vllm_importance_sampling_clip_min'
>

/**
 * The weight of each token for the sampler's disagreement with the training graph, [tokens]: exp(logπ_old − logπ_sampler), or at the
 * sequence modes exp of its sum. The truncate modes clamp it, the mask modes set it to 0 outside. null where nothing is corrected.
 */
export function mismatchWeights(old: ArrayLike<number>, sampler: ArrayLike<number> | null, mask: ArrayLike<number>, options: MismatchOptions): Float64Array | null {
  if (!options.vllm_importance_sampling_correction || !sampler) return null
  const [level, action] = options.vllm_importance_sampling_mode.split('_') as ['token' | 'sequence', 'truncate' | 'mask']
  const low = options.vllm_importance_sampling_clip_min ?? -Infinity
  const high = options.vllm_importance_sampling_clip_max ?? Infinity
  const bounded = (difference: number): number => {
    const ratio = Math.exp(difference)
    if (action === 'truncate') return Math.min(Math.max(ratio, low), high)
    return ratio < low || ratio > high ? 0 : ratio
  }
  const difference = (t: number) => (old[t] as number) - (sampler[t] as number)
  if (level === 'sequence') return new Float64Array(mask.length).fill(bounded(sumTrained(mask, difference)))
  return Float64Array.from(mask, (m, t) => bounded(m === 1 ? difference(t) : 0))
}

/** VESPO's limits of a log-weight. */
const LEAST_LOG = Math.log(1e-8)
const MOST_LOG = 20
const clamp = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high)

export type VespoOptions = Pick<GrpoConfig, 'vespo_k_pos' | 'vespo_lambda_pos' | 'vespo_k_neg' | 'vespo_lambda_neg'>

/**
 * VESPO's weight φ(w) = exp(λ + k·log w − λ·w) of a whole sequence, w = Π ρ of its tokens (times the mismatch weights, where there are
 * any): 1 at w = 1, falling to 0 on both sides.
 */
export function vespoWeight(ratios: Float64Array, mask: ArrayLike<number>, advantage: number, mismatch: Float64Array | null, options: VespoOptions): number {
  const moved = sumTrained(mask, (t) => clamp(ratios[t] as number, -MOST_LOG, MOST_LOG))
  const corrected = mismatch ? mismatch.reduce((total, weight) => total + clamp(Math.log(weight), LEAST_LOG, MOST_LOG), 0) : 0
  const logWeight = clamp(moved + corrected, LEAST_LOG, MOST_LOG)
  const k = advantage >= 0 ? options.vespo_k_pos : options.vespo_k_neg
  const lambda = Math.max(1e-4, advantage >= 0 ? options.vespo_lambda_pos : options.vespo_lambda_neg)
  const weight = Math.exp(lambda + k * logWeight - lambda * Math.exp(logWeight))
  return Number.isFinite(weight) ? weight : 0
}
