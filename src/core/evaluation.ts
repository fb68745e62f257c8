/** What an evaluation measured, when a run evaluates itself (TRL's eval_strategy), and how sure each figure is. */

import type { GrpoConfig, Precision } from './config'
import type { Metrics } from './events'
import { meanInterval, wilson } from './interval'
import { hash } from './random'

/** What plays an evaluation and how; neither: the policy as it is, sampled at temperature 1. */
export interface EvaluationHow {
  /** The base model alone is measured beside it. */
  base?: true
  /** The likeliest token each time, instead of one that is drawn. */
  greedy?: true
}

/** Success over fixed-seed episodes, sampled at temperature 1 unless `greedy`. */
export interface EvaluationRecord {
  /** Finished steps of the adapter that was measured; 0 is the adapter that the run began with. */
  step: number
  split: 'train' | 'heldout'
  /** Episodes that were solved, and those that could be scored at all. */
  solved: number
  scorable: number
  /** Mean reward of the scorable episodes. */
  reward: number
  /** How the base weights were kept while it was measured. */
  precision: Precision
  /** The base model alone played, without the adapter. */
  policy?: 'base'
  greedy?: true
  /** All that was measured, under TRL's names with eval_; of evaluations that the run made itself (eval_strategy), no others. */
  metrics?: Metrics
}

/** Seeds scenarios and sampling of every evaluation, whatever the run's own seed. */
const EVALUATION_SEED = 20_240_611

/** Seed of a split's scenarios and of their draws: the episodes' seeds are those of step 0 of a run with it. */
export function evaluationSeed(split: EvaluationRecord['split']): number {
  return hash(EVALUATION_SEED, split === 'train' ? 0 : 1)
}

/** One that the run made itself. */
export type RunEvaluation = EvaluationRecord & { metrics: Metrics }

/** Those that the run made itself up to `step`, in the order of its steps. */
export function runEvaluations(records: readonly EvaluationRecord[], step = Infinity): RunEvaluation[] {
  return records.filter((record): record is RunEvaluation => record.metrics !== undefined && record.step <= step).sort((a, b) => a.step - b.step)
}

/** Whether a run is to evaluate itself after `step` finished steps; 0: before the first. `last`: no further step comes. */
export function isEvaluated({ eval_strategy, eval_steps, eval_on_start }: Pick<GrpoConfig, 'eval_strategy' | 'eval_steps' | 'eval_on_start'>, step: number, last: boolean): boolean {
  if (eval_strategy === 'no') return false
  return step === 0 ? eval_on_start : last || step % eval_steps === 0
}

/** 95 % interval of a metric of an evaluation: of the success rate Wilson's, of the mean reward the normal one; null for the others. */
export function evaluationInterval({ solved, scorable, metrics }: RunEvaluation, metric: string): readonly [low: number, high: number] | null {
  if (metric === 'eval_success') return scorable > 0 ? wilson(solved, scorable) : null
  const { eval_reward: mean = null, eval_reward_std: deviation = null } = metrics
  return metric === 'eval_reward' && mean !== null && deviation !== null ? meanInterval(mean, deviation, scorable) : null
}
