/**
 * Two ways to care about entropy: train only where the policy was undecided, and pay it for staying undecided.
 *
 * - `top_entropy_quantile` q: only the share q of tokens with the highest entropy has a policy term ("80/20", arXiv 2506.01939).
 * - `entropy_coef` c: the loss loses c · mean entropy; the adaptive mode moves c towards a target.
 */

import type { GrpoConfig } from '../core/config'

/**
 * The entropy from which a token counts as undecided: the (1 − q) quantile over all trained tokens of the optimizer step, linearly
 * between neighbours as torch.quantile does. null where all count (q = 1) or there is none.
 *
 * @param entropies [sequences][tokens], nats
 * @param masks [sequences][tokens]
 */
export function entropyThreshold(entropies: readonly ArrayLike<number>[], masks: readonly ArrayLike<number>[], top_entropy_quantile: number): number | null {
  if (top_entropy_quantile >= 1) return null
  const values = masks.flatMap((mask, s) => Array.from(entropies[s] as ArrayLike<number>).filter((_, t) => mask[t] === 1)).sort((a, b) => a - b)
  if (values.length === 0) return null
  const place = (1 - top_entropy_quantile) * (values.length - 1)
  const [below, above] = [values[Math.floor(place)] as number, values[Math.ceil(place)] as number]
  return below + (above - below) * (place - Math.floor(place))
}

/** Whether a token counts where only the undecided ones do. */
const acts = (mask: ArrayLike<number>, entropies: ArrayLike<number>, t: number, threshold: number | null) => mask[t] === 1 && (threshold === null || (entropies[t] as number) >= threshold)

/** How many tokens have a policy term, and the sum of their entropies, nats. */
export function undecided(mask: ArrayLike<number>, entropies: ArrayLike<number>, threshold: number | null): { tokens: number; entropy: number } {
  const found = { tokens: 0, entropy: 0 }
  for (let t = 0; t < mask.length; t++) {
    if (!acts(mask, entropies, t, threshold)) continue
    found.tokens++
    found.entropy += entropies[t] as number
  }
  return found
}

/**
 * One sequence's share of the bonus −c · mean entropy, and its derivative by every entropy, [tokens]: −c/N for the tokens that have a
 * policy term. `tokens`: N, how many those are in the whole optimizer step.
 */
export function entropyBonus(mask: ArrayLike<number>, entropies: ArrayLike<number>, threshold: number | null, tokens: number, coefficient: number): { loss: number; dEntropies: Float64Array } {
  const each = -coefficient / Math.max(1, tokens)
  const dEntropies = Float64Array.from(mask, (_, t) => (acts(mask, entropies, t, threshold) ? each : 0))
  return { loss: each * undecided(mask, entropies, threshold).entropy, dEntropies }
}

export type EntropyOptions = Pick<
  GrpoConfig,
  'entropy_coef' | 'use_adaptive_entropy' | 'entropy_coef_min' | 'entropy_coef_max' | 'entropy_coef_delta' | 'entropy_target'
>

/** Whether the loss has an entropy bonus at all, which the adaptive mode may hold at 0. */
export function hasEntropyBonus({ entropy_coef, use_adaptive_entropy }: Pick<EntropyOptions, 'entropy_coef' | 'use_adaptive_entropy'>): boolean {
  return entropy_coef !== 0 || use_adaptive_entropy
}

/** What the adaptive entropy bonus remembers from one optimizer step to the next. */
export interface EntropyController {
  entropy_coef: number
  /** Mean entropy of the last optimizer step, nats; Infinity before the first, so that the bonus begins off. */
  last_entropy: number
}

/** At the beginning of a run. */
export function freshController({ entropy_coef }: Pick<EntropyOptions, 'entropy_coef'>): EntropyController {
  return { entropy_coef, last_entropy: Infinity }
}

/** The coefficient that the coming optimizer step applies; 0 = no bonus. Adaptive: only while the last entropy was at or below the target. */
export function appliedCoefficient(controller: EntropyController, options: EntropyOptions): number {
  if (!options.use_adaptive_entropy) return options.entropy_coef
  return controller.last_entropy <= options.entropy_target ? controller.entropy_coef : 0
}

/** The controller after an optimizer step whose tokens had this mean entropy: one delta up at or below the target, else one down. */
export function afterStep(controller: EntropyController, meanEntropy: number, options: EntropyOptions): EntropyController {
  if (!options.use_adaptive_entropy) return controller
  const { entropy_coef_min, entropy_coef_max, entropy_coef_delta, entropy_target } = options
  const moved = controller.entropy_coef + (meanEntropy <= entropy_target ? entropy_coef_delta : -entropy_coef_delta)
  return { entropy_coef: Math.min(Math.max(moved, entropy_coef_min), entropy_coef_max), last_entropy: meanEntropy }
}
