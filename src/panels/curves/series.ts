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

/** Share-like curves keep their whole range in view, so that a small change does not look large. */
export function fixedDomain(name: string): [number, number] | null {
  return ['success', 'frac_reward_zero_std'].includes(name) || name.startsWith('clip_ratio/') ? [0, 1] : null
}
