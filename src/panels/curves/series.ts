/** The points of a curve, from the steps' numbers. */

import type { StepSummary } from '../../core/run-record'

export interface Point {
  step: number
  /** null leaves a gap: nothing to average is not 0. */
  value: number | null
  /** Lowest and highest reward of the step; only for 'reward'. */
  range: [number, number] | null
}

/** One point per step, oldest first. */
export function seriesOf(history: readonly StepSummary[], name: string): Point[] {
  return history.map((s) => ({
    step: s.step,
    value: s.metrics[name] ?? null,
    range: name === 'reward' && s.rewardMin !== null && s.rewardMax !== null ? [s.rewardMin, s.rewardMax] : null,
  }))
}

/** Share-like curves keep their whole range in view, so that a small change does not look large. */
export function fixedDomain(name: string): [number, number] | null {
  return ['success', 'frac_reward_zero_std'].includes(name) || name.startsWith('clip_ratio/') ? [0, 1] : null
}
