/**
 * The policy term of one token, for every loss_type, with its derivative: what is minimised before masks, weights and averages.
 *
 * Four families (ρ = π/π_old, A = advantage):
 *
 *     grpo bnpo dr_grpo dapo luspo   −min(min(ρ, δ)·A, clip(ρ, 1 − ε, 1 + ε_high)·A)   PPO's clipped objective
 *     cispo                          −[min(ρ, ε_high)]·A·logπ                          ρ is a constant weight, never a wall
 *     sapo                           −(4/τ)·σ(τ·(ρ − 1))·A                             a soft gate instead of the clip
 *     vespo                          −[φ]·A·logπ                                       one weight for the whole sequence
 *
 * What stands in brackets is a constant to the gradient. At ρ = 1 all of them push alike: the derivative by logπ is −A.
 */

import type { GrpoConfig, LossType } from '../core/config'
import type { VespoOptions } from './ratio'

export type TermOptions = Pick<GrpoConfig, 'loss_type' | 'epsilon' | 'epsilon_high' | 'delta' | 'sapo_temperature_neg' | 'sapo_temperature_pos'> & VespoOptions

/** Which family a loss_type's term is of. */
export const TERM_OF: Record<LossType, 'clip' | 'cispo' | 'sapo' | 'vespo'> = {
  grpo: 'clip',
  bnpo: 'clip',
  dr_grpo: 'clip',
  dapo: 'clip',
  luspo: 'clip',
  cispo: 'cispo',
  sapo: 'sapo',
  vespo: 'vespo',
}

/** The clip's bounds, 1 − ε and 1 + ε_high. */
export function clipRange({ epsilon, epsilon_high }: Pick<GrpoConfig, 'epsilon' | 'epsilon_high'>): { low: number; high: number } {
  return { low: 1 - epsilon, high: 1 + (epsilon_high ?? epsilon) }
}

/** cispo's cap of ρ: ε_high itself. */
export function cispoCap({ epsilon, epsilon_high }: Pick<GrpoConfig, 'epsilon' | 'epsilon_high'>): number {
  return epsilon_high ?? epsilon
}

/** A policy term, with what it is made of. `value` is minimised. */
export interface PolicyTerm {
  ratio: number
  value: number
  /** d value / d log ρ. */
  byRatio: number
  /** d value / d logπ besides: where ρ is a constant weight. */
  byLogprob: number
  /**
   * Of the clipped objective: ρ within the clip range, min(ρ, δ)·A, clip(ρ)·A, and the branch that the min took; 'clipped' has no
   * derivative. 'equal': ρ is within the clip range, or A is 0.
   */
  clip: { ratio: number; unclipped: number; clipped: number; branch: 'unclipped' | 'clipped' | 'equal' } | null
  /** What logπ or the gate is multiplied by: cispo's bounded ρ, sapo's (4/τ)·σ, vespo's φ; null with the clip. */
  weight: number | null
  /** Pushed against a bound, downwards or upwards; TRL's clip_ratio and cispo_clip_ratio count these. */
  bound: 'low' | 'high' | null
}

/** The term of a token with this ρ. `phi` is VESPO's weight of its sequence, read with 'vespo' alone. Log-probs in nats. */
export function policyTerm(ratio: number, logprob: number, advantage: number, phi: number, options: TermOptions): PolicyTerm {
  switch (TERM_OF[options.loss_type]) {
    case 'clip':
      return clippedTerm(ratio, advantage, options)
    case 'cispo': {
      const cap = cispoCap(options)
      const weight = Math.min(ratio, cap)
      const bound = ratio > cap && advantage > 0 ? 'high' : null
      return { ratio, value: -weight * advantage * logprob, byRatio: 0, byLogprob: -weight * advantage, clip: null, weight, bound }
    }
    case 'sapo': {
      const temperature = advantage > 0 ? options.sapo_temperature_pos : options.sapo_temperature_neg
      const gate = 1 / (1 + Math.exp(-temperature * (ratio - 1)))
      const weight = (4 / temperature) * gate
      return { ratio, value: -weight * advantage, byRatio: -4 * gate * (1 - gate) * advantage * ratio, byLogprob: 0, clip: null, weight, bound: null }
    }
    case 'vespo':
      return { ratio, value: -phi * advantage * logprob, byRatio: 0, byLogprob: -phi * advantage, clip: null, weight: phi, bound: null }
  }
}

/** PPO (arXiv 1707.06347, eq. 7) with DAPO's upper range (arXiv 2503.14476) and, where `delta` is set, INTELLECT-2's second wall (arXiv 2505.07291). */
function clippedTerm(ratio: number, advantage: number, options: TermOptions): PolicyTerm {
  const { low, high } = clipRange(options)
  const capped = options.delta === null ? ratio : Math.min(ratio, options.delta)
  const within = Math.min(Math.max(ratio, low), high)
  const unclipped = capped * advantage
  const clipped = within * advantage
  // d ρ / d log ρ = ρ; a bound has no derivative.
  const push = advantage === 0 ? 0 : -ratio * advantage
  const [byUnclipped, byClipped] = [capped === ratio ? push : 0, within === ratio ? push : 0]
  const byRatio = unclipped < clipped ? byUnclipped : clipped < unclipped ? byClipped : (byUnclipped + byClipped) / 2
  const wins = unclipped < clipped ? 'unclipped' : 'clipped'
  const branch = unclipped === clipped || advantage === 0 ? 'equal' : wins
  // TRL counts by the capped ρ: a delta below 1 + ε_high hides the high side.
  const bound = capped < low && advantage < 0 ? 'low' : capped > high && advantage > 0 ? 'high' : null
  return { ratio, value: -Math.min(unclipped, clipped), byRatio, byLogprob: 0, clip: { ratio: within, unclipped, clipped, branch }, weight: null, bound }
}
