/** Which of TRL's metrics the page shows, what they mean, and how their numbers are written. */

import type { StepSummary } from '../core/run-record'
import { NONE, count, duration, number, percent, plain, signed } from './format'

export interface MetricRow {
  /** TRL's name, or ours where TRL has none. */
  name: string
  /** Where the name is too long for its column. */
  label?: string
  value: (step: StepSummary) => number | null
  write: (value: number | null) => string
  /** Left out of the panel when there is no value. */
  optional?: boolean
}

const metric = (name: string, write: (value: number | null) => string, more: Partial<MetricRow> = {}): MetricRow => ({
  name,
  write,
  value: (step) => step.metrics[name] ?? null,
  ...more,
})
const plainNumber = (value: number | null) => number(value)
const nats = (value: number | null) => (value === null ? NONE : `${number(value)} nats`)
const tokens = (value: number | null) => (value === null ? NONE : `${count(value)} tokens`)
const rate = (value: number | null) => (value === null ? NONE : plain(Number(value.toPrecision(3))))
/** What float32 leaves of a sum that is 0 says nothing. */
const ROUNDING = 1e-7
const writeLoss = (value: number | null) => (value !== null && value !== 0 && Math.abs(value) < ROUNDING ? '≈ 0' : signed(value))
/** A recording tells no times: the steps of a run take some. */
const timed = (value: number) => (value === 0 ? null : value)
const seconds = (value: number | null) => (value === null ? NONE : duration(value * 1000))

/** The Update panel, top to bottom. */
export const UPDATE_ROWS: readonly MetricRow[] = [
  metric('loss', writeLoss),
  metric('grad_norm', plainNumber),
  metric('learning_rate', rate),
  metric('entropy', nats),
  metric('kl', nats, { optional: true }),
  metric('clip_ratio/low_mean', percent),
  metric('clip_ratio/high_mean', percent),
  metric('sampling/sampling_logp_difference/mean', nats, { label: 'logp_difference/mean' }),
  metric('num_tokens', tokens),
  { name: 'sampling', value: (s) => timed(s.seconds.sampling), write: seconds },
  { name: 'training', value: (s) => timed(s.seconds.training), write: seconds },
]

/** A number of a step by its name: a metric, or what stands beside the metrics. null where nothing was measured. */
export function metricOf(step: StepSummary | Pick<StepSummary, 'metrics'>, name: string): number | null {
  const own = <T>(of: Readonly<Record<string, T>>): T | undefined => (Object.hasOwn(of, name) ? of[name] : undefined)
  const value = own(step.metrics) ?? ('groups' in step ? own(BESIDE)?.(step) : null) ?? null
  return value !== null && Number.isFinite(value) ? value : null
}

const BESIDE: Readonly<Record<string, (step: StepSummary) => number | null>> = {
  'reward/min': (s) => s.rewardMin,
  'reward/max': (s) => s.rewardMax,
  'seconds/sampling': (s) => timed(s.seconds.sampling),
  'seconds/training': (s) => timed(s.seconds.training),
  // Runs that were kept before it was a metric.
  'groups/useful': (s) => (s.groups.length === 0 ? null : s.groups.filter((group) => group.signal).length / s.groups.length),
}

export type Unit = 'share' | 'nats' | 'tokens' | 'tokens/s' | 's' | 'ms' | ''

const UNITS: readonly [RegExp, Unit][] = [
  [/^(success$|frac_|groups\/useful|clip_ratio\/|exit\/|verdict\/|completions\/clipped_ratio|tools\/(parse_)?failure)/, 'share'],
  [/^(entropy|kl|sampling\/sampling_logp_difference\/\w+)$/, 'nats'],
  [/^(completions\/\w+_length|tokens\/\w+|num_tokens)$/, 'tokens'],
  [/^tokens_per_second\//, 'tokens/s'],
  [/^(step_time|seconds\/\w+)$/, 's'],
  [/_ms$/, 'ms'],
]

/** What a metric is measured in; shares are written as percent. */
export function unitOf(name: string): Unit {
  const measured = name.replace(/^eval_/, '')
  return UNITS.find(([names]) => names.test(measured))?.[1] ?? ''
}

/** A value of a curve as text, with its unit. */
export function writeCurve(name: string, value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE
  if (name === 'loss') return writeLoss(value)
  if (name === 'learning_rate') return rate(value)
  const unit = unitOf(name)
  if (unit === 'share') return percent(value)
  if (unit === 's') return seconds(value)
  return unit === '' ? number(value) : `${number(value)} ${unit}`
}

/** A difference of two values as text: shares in percentage points. */
export function writeDifference(name: string, difference: number | null): string {
  if (difference === null) return NONE
  const unit = unitOf(name)
  if (unit === 'share') return `${signed(difference * 100)} points`
  return unit === '' ? signed(difference) : `${signed(difference)} ${unit}`
}
