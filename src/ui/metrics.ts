/** Which of TRL's metrics the page shows, what they mean, and how their numbers are written. */

import type { StepSummary } from '../core/run-record'
import { NONE, count, duration, number, percent, plain, signed } from './format'

export interface MetricRow {
  /** TRL's name, or ours where TRL has none. */
  name: string
  /** Where the name is too long for its column. */
  label?: string
  help: string
  value: (step: StepSummary) => number | null
  write: (value: number | null) => string
  /** Left out of the panel when there is no value. */
  optional?: boolean
}

const metric = (name: string, help: string, write: (value: number | null) => string, more: Partial<MetricRow> = {}): MetricRow => ({
  name,
  help,
  write,
  value: (step) => step.metrics[name] ?? null,
  ...more,
})
const plainNumber = (value: number | null) => number(value)
const nats = (value: number | null) => (value === null ? NONE : `${number(value)} nats`)
const tokens = (value: number | null) => (value === null ? NONE : `${count(value)} tokens`)
/** What float32 leaves of a sum that is 0 says nothing. */
const ROUNDING = 1e-7
const writeLoss = (value: number | null) => (value !== null && value !== 0 && Math.abs(value) < ROUNDING ? '≈ 0' : signed(value))
/** A recording tells no times: the steps of a run take some. */
const timed = (value: number) => (value === 0 ? null : value)
const seconds = (value: number | null) => (value === null ? NONE : duration(value * 1000))

/** The Update panel, top to bottom. */
export const UPDATE_ROWS: readonly MetricRow[] = [
  metric('loss', 'The value that was minimised. Near 0 by construction with one update per batch: watch the reward, not the loss.', writeLoss),
  metric('grad_norm', 'Length of the gradient before clipping.', plainNumber),
  metric('learning_rate', 'The rate of this optimizer step.', (v) => (v === null ? NONE : plain(Number(v.toPrecision(3))))),
  metric('entropy', 'How undecided the model is, on average over its tokens.', nats),
  metric('kl', 'Distance from the reference policy, token mean (k3).', nats, { optional: true }),
  metric('clip_ratio/low_mean', 'Share of tokens held back by epsilon from below.', percent),
  metric('clip_ratio/high_mean', 'Share of tokens held back by epsilon_high from above.', percent),
  metric(
    'sampling/sampling_logp_difference/mean',
    'Absolute difference between the log-probs of the sampler and of the trainer: should be rounding noise.',
    nats,
    { label: 'logp_difference/mean' },
  ),
  metric('num_tokens', 'Prompt and model tokens so far; tool results are not counted.', tokens),
  { name: 'sampling', help: 'Time in which the episodes were played.', value: (s) => timed(s.seconds.sampling), write: seconds },
  { name: 'training', help: 'Time of forward, backward and optimizer.', value: (s) => timed(s.seconds.training), write: seconds },
]

/** Curves that a person may choose; 'reward' is drawn with its range. */
export const CURVE_NAMES = [
  'reward',
  'success',
  'entropy',
  'grad_norm',
  'completions/mean_length',
  'turns/mean',
  'frac_reward_zero_std',
  'kl',
  'clip_ratio/region_mean',
  'sampling/sampling_logp_difference/mean',
  'learning_rate',
  'loss',
] as const
export type CurveName = (typeof CURVE_NAMES)[number]

/** A value of a curve as text. */
export function writeCurve(name: string, value: number | null | undefined): string {
  return name === 'loss' ? writeLoss(value ?? null) : number(value)
}
