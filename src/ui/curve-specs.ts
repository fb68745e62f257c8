/** The curves that the page can draw, as data: the well-known ones by hand, every other recorded metric by its name. */

import type { ExitReason } from '../core/episode'
import { VERDICTS } from '../core/episode'
import type { StepSummary } from '../core/run-record'
import { CURVES_STRINGS as C } from './curves-strings'
import { metricOf } from './metrics'

export const CURVE_GROUPS = ['reward', 'episodes', 'policy', 'update', 'speed', 'other'] as const
export type CurveGroup = (typeof CURVE_GROUPS)[number]

export interface CurveSpec {
  /** As it stands in the page's link. */
  id: string
  label: string
  group: CurveGroup
  /** The first stands for the curve where runs are compared. */
  lines: readonly { metric: string; label: string }[]
  /** Metrics that the band runs between. */
  band?: readonly [low: string, high: string]
  /** Shares of one whole, each on top of the one before. */
  stacked?: true
}

const curve = (group: CurveGroup, id: string, more: Partial<CurveSpec> = {}): CurveSpec => ({
  id,
  label: Object.hasOwn(C.labels, id) ? (C.labels[id] ?? id) : id,
  group,
  lines: [{ metric: id, label: id }],
  ...more,
})

/** From good endings to those without a reward. */
export const EXITS_IN_ORDER: readonly ExitReason[] = ['env_done', 'answered', 'turn_limit', 'token_limit', 'stopped', 'env_unreadable', 'env_error']

const several = (...lines: readonly [metric: string, label: string][]) => lines.map(([metric, label]) => ({ metric, label }))

const KNOWN: readonly CurveSpec[] = [
  curve('reward', 'reward', { band: ['reward/min', 'reward/max'] }),
  curve('reward', 'success'),
  curve('reward', 'groups/useful'),
  curve('reward', 'reward_std'),
  curve('reward', 'frac_reward_zero_std'),
  curve('episodes', 'completions/mean_length', { band: ['completions/min_length', 'completions/max_length'] }),
  curve('episodes', 'completions/clipped_ratio'),
  curve('episodes', 'turns/mean'),
  curve('episodes', 'exit', { stacked: true, lines: EXITS_IN_ORDER.map((reason) => ({ metric: `exit/${reason}`, label: reason })) }),
  curve('episodes', 'verdict', { stacked: true, lines: VERDICTS.map((name) => ({ metric: `verdict/${name}`, label: name })) }),
  curve('policy', 'entropy'),
  curve('policy', 'kl'),
  curve('policy', 'clip_ratio/region_mean', {
    lines: several(['clip_ratio/region_mean', 'region'], ['clip_ratio/low_mean', 'low'], ['clip_ratio/high_mean', 'high']),
  }),
  curve('policy', 'sampling/sampling_logp_difference/mean'),
  curve('update', 'loss'),
  curve('update', 'grad_norm'),
  curve('update', 'learning_rate'),
  curve('speed', 'tokens_per_second/sampling', { lines: several(['tokens_per_second/sampling', 'sampling'], ['tokens_per_second/training', 'training']) }),
  curve('speed', 'seconds/sampling', { lines: several(['seconds/sampling', 'sampling'], ['seconds/training', 'training']) }),
]

/** What is drawn until a person chooses. */
export const FIRST_CURVES: readonly string[] = ['reward', 'success', 'groups/useful', 'entropy']

/** Every curve that these runs can show: the known ones, then each metric that none of those draws. */
export function curveSpecs(histories: readonly (readonly StepSummary[])[]): readonly CurveSpec[] {
  // A run records the same names from its first step to its last, but for those that a setting adds later.
  const ends = histories.flatMap((history) => [...history.slice(0, 1), ...history.slice(-1)])
  const recorded = [...new Set(ends.flatMap(({ metrics }) => Object.keys(metrics)))]
  const components = recorded.filter((name) => /^rewards\/.+\/mean$/.test(name))
  const drawn = new Set(KNOWN.flatMap(({ lines, band = [] }) => [...lines.map(({ metric }) => metric), ...band]))
  const known = components.length < 2 ? KNOWN : KNOWN.map((spec) => (spec.id === 'reward' ? withComponents(spec, components) : spec))
  return [...known, ...recorded.filter((name) => !drawn.has(name)).map((name) => curve('other', name))]
}

/** A single component is the reward itself. */
function withComponents(spec: CurveSpec, components: readonly string[]): CurveSpec {
  return { ...spec, lines: [...spec.lines, ...components.map((metric) => ({ metric, label: metric.split('/').slice(1, -1).join('/') }))] }
}

/** The curves with these ids, in this order; one that nobody records is drawn empty, with that said. */
export function chosenSpecs(specs: readonly CurveSpec[], ids: readonly string[]): readonly CurveSpec[] {
  return (ids.length === 0 ? FIRST_CURVES : ids).map((id) => specs.find((spec) => spec.id === id) ?? curve('other', id))
}

/** Whether any of these steps has a value for it. */
export function isRecorded(spec: CurveSpec, histories: readonly (readonly StepSummary[])[]): boolean {
  return histories.some((history) => history.some((step) => spec.lines.some(({ metric }) => metricOf(step, metric) !== null)))
}
