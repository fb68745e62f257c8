/** The points of a curve, from the steps' numbers. */

import type { StepSummary } from '../../core/run-record'

export interface Point {
  step: number
  /** null leaves a gap: nothing to average is not 0. */
  value: number | null
  /** Lowest and highest reward of the step; only for 'reward'. */
  range: [number, number] | null
  /** What other runs had at this step; one for each, null where it had nothing. */
  others: readonly (number | null)[]
}

/** One point per step of any of the runs, oldest first. */
export function seriesOf(history: readonly StepSummary[], name: string, others: readonly (readonly StepSummary[])[] = []): Point[] {
  const own = new Map(history.map((s) => [s.step, s]))
  const theirs = others.map((other) => new Map(other.map((s) => [s.step, s.metrics[name] ?? null])))
  const steps = [...new Set([...own.keys(), ...theirs.flatMap((other) => [...other.keys()])])].sort((a, b) => a - b)
  return steps.map((step) => {
    const s = own.get(step)
    return {
      step,
      value: s?.metrics[name] ?? null,
      range: name === 'reward' && s && s.rewardMin !== null && s.rewardMax !== null ? [s.rewardMin, s.rewardMax] : null,
      others: theirs.map((other) => other.get(step) ?? null),
    }
  })
}

/** Ends of an axis; 'auto' follows the values. */
export type Domain = [number, number | 'auto']

const NEVER_NEGATIVE = ['entropy', 'grad_norm', 'completions/mean_length', 'turns/mean', 'kl', 'sampling/sampling_logp_difference/mean', 'learning_rate']

/** Share-like curves keep their whole range in view, so that a small change does not look large; what cannot be negative begins at 0. */
export function fixedDomain(name: string): Domain | null {
  if (['success', 'frac_reward_zero_std'].includes(name) || name.startsWith('clip_ratio/')) return [0, 1]
  return NEVER_NEGATIVE.includes(name) ? [0, 'auto'] : null
}
