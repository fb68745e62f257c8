/** From the steps' numbers to what a chart draws: places along the axis, smoothing, rows, lines. */

import type { RunEvaluation } from '../../core/evaluation'
import type { StepSummary } from '../../core/run-record'
import type { CurveAxis } from '../../store/display'
import type { CurveSpec } from '../../ui/curve-specs'
import { metricOf, unitOf } from '../../ui/metrics'
import { evaluationLine } from './evaluations'
import { type Scale, valueScale } from './scale'
import { thinned } from './thin'

/** A run whose curves are drawn; the first of several is the present one. */
export interface DrawnRun {
  id: string
  name: string
  /** Where there is room for a word only. */
  short: string
  color: string
  /** SVG's stroke-dasharray; '' is a whole line. */
  dash: string
  history: readonly StepSummary[]
  /** Those that it made itself. */
  evaluations?: readonly RunEvaluation[]
}

export interface CurveLine {
  /** Short name of the run, or of the line within it. */
  label: string
  run: number
  metric: string
  color: string
  dash: string
  /** One per point, along the axis. */
  places: readonly number[]
  steps: readonly number[]
  /** What was measured; null leaves a gap: nothing to average is not 0. */
  values: readonly (number | null)[]
  /** The same after smoothing: what is drawn. */
  drawn: readonly (number | null)[]
  /** Of evaluations: the 95 % interval of each value, or the value twice where it has none. */
  intervals?: readonly (readonly [low: number, high: number])[]
}

/** What stands at one place of the axis, on the scale of the chart; one entry per line. */
export interface Row {
  x: number
  y: (number | null)[]
  raw: (number | null)[]
  band: [number, number] | null
  /** Indices of lines with no neighbour on either side: a line cannot be drawn there. */
  lone: number[]
  /** Where lines of evaluations have a point here: its interval. */
  whiskers: ([number, number] | null)[]
}

export interface CurveView {
  rows: Row[]
  lines: CurveLine[]
  scale: Scale
  stacked: boolean
  smoothed: boolean
  /** Values in view that the logarithm has no place for. */
  leftOut: number
}

export interface ViewOptions {
  axis: CurveAxis
  smoothing: number
  log: boolean
  range: readonly [number, number] | null
}

/** Where each step stands on the axis: its number, or the episodes or seconds up to its end. */
export function placesOf(history: readonly StepSummary[], axis: CurveAxis): number[] {
  let sum = 0
  return history.map(({ step, episodes, seconds }) => {
    if (axis === 'step') return step
    sum += axis === 'episodes' ? episodes : seconds.sampling + seconds.training
    return sum
  })
}

/** Whether the steps tell what they took. */
export function tellsTime(runs: readonly Pick<DrawnRun, 'history'>[]): boolean {
  return runs.every(({ history }) => history.every(({ seconds }) => seconds.sampling + seconds.training > 0))
}

/**
 * Exponential moving average, corrected for its start as TensorBoard does: of few points, an average that began at 0 would be
 * too small. Gaps stay gaps, and the average goes on after them.
 */
export function smooth(values: readonly (number | null)[], weight: number): (number | null)[] {
  if (weight <= 0) return [...values]
  let [average, power] = [0, 1]
  return values.map((value) => {
    if (value === null) return null
    average = average * weight + (1 - weight) * value
    power *= weight
    return average / (1 - power)
  })
}

const COLOR_OF_EXITS = 'var(--exit-'
const WITHIN = ['', '2 3', '7 3', '9 3 2 3', '4 2', '12 3']

/** The lines of a curve: all of the present run, the first one of every other. */
export function linesOf(spec: CurveSpec, runs: readonly DrawnRun[], present: number, { axis, smoothing }: Pick<ViewOptions, 'axis' | 'smoothing'>): CurveLine[] {
  const several = runs.length > 1
  return runs.flatMap((drawn, run) => {
    const { short, color, dash, history } = drawn
    if (run !== present && spec.stacked) return []
    const places = placesOf(history, axis)
    const steps = history.map(({ step }) => step)
    const own = run === present ? spec.lines : spec.lines.slice(0, 1)
    const lines = own.map(({ metric, label }, i): CurveLine => {
      const values = history.map((step) => metricOf(step, metric))
      return {
        label: several && i === 0 && !spec.stacked ? short : label,
        run,
        metric,
        color: spec.stacked ? `${COLOR_OF_EXITS}${i})` : i === 0 ? color : 'var(--muted)',
        dash: i === 0 ? dash : (WITHIN[i % WITHIN.length] ?? ''),
        places,
        steps,
        values,
        drawn: smooth(values, smoothing),
      }
    })
    // What never occurred needs no line of its own, but the first stands for the curve.
    const measured = lines.filter(({ values }, i) => i === 0 || values.some((value) => value !== null && (!spec.stacked || value > 0)))
    const evaluations = evaluationLine(spec, drawn, run, axis, several)
    return evaluations ? [...measured, evaluations] : measured
  })
}

/** Everything that a chart draws. */
export function viewOf(spec: CurveSpec, runs: readonly DrawnRun[], present: number, options: ViewOptions): CurveView {
  const lines = linesOf(spec, runs, present, options)
  const all = [...new Set(lines.flatMap(({ places }) => places))].sort((a, b) => a - b)
  const full: [number, number] = [all[0] ?? 0, all.at(-1) ?? 0]
  const domain = options.range ?? full
  const log = options.log && !spec.stacked
  const onScale = (value: number | null) => (value === null || (log && value <= 0) ? null : log ? Math.log10(value) : value)
  const visible = withNeighbours(all, domain)
  const smoothed = options.smoothing > 0
  const drawn = lines.map(({ places, drawn }) => ({ places, values: drawn.map(onScale) }))
  const raw = lines.map(({ places, values, intervals }) => ({ places, values: smoothed && !intervals ? values.map(onScale) : [] }))
  const bands = bandsOf(spec, runs[present], options.axis, log)
  const rows = visible.map((x): Row => {
    const lone = drawn.flatMap((line, i) => (isLone(line, x) ? [i] : []))
    const whiskers = lines.map(({ places, intervals }): Row['whiskers'][number] => {
      const [low, high] = (intervals?.[places.indexOf(x)] ?? []).map(onScale)
      return low == null || high == null ? null : [low, high]
    })
    return { x, y: drawn.map((line) => valueAt(line, x)), raw: raw.map((line) => valueAt(line, x)), band: bands.get(x) ?? null, lone, whiskers }
  })
  const inView = (place: number) => place >= domain[0] && place <= domain[1]
  const seen = rows.filter(({ x }) => inView(x)).flatMap(({ y, raw, band, whiskers }) => [...y, ...raw, ...(band ?? []), ...whiskers.flatMap((ends) => ends ?? [])]).filter((v) => v !== null)
  const leftOut = log ? lines.reduce((n, { places, values }) => n + values.filter((v, i) => v !== null && v <= 0 && inView(places[i] ?? NaN)).length, 0) : 0
  const unit = spec.stacked ? 'share' : unitOf(spec.lines[0]?.metric ?? '')
  const signed = ['loss', 'reward'].includes(spec.id) || spec.group === 'other'
  return { rows: thinned(rows), lines, scale: valueScale({ x: domain, values: seen, log, unit, signed, axis: options.axis, marks: options.range === null && lines.some(({ intervals }) => intervals) }), stacked: spec.stacked ?? false, smoothed, leftOut }
}

interface Placed {
  places: readonly number[]
  values: readonly (number | null)[]
}

/** Places in view and one more on each side, so that lines run to the edge. */
function withNeighbours(places: readonly number[], [low, high]: readonly [number, number]): number[] {
  const first = places.findIndex((x) => x >= low)
  if (first < 0) return places.slice(-1)
  const after = places.findIndex((x) => x > high)
  return places.slice(Math.max(0, first - 1), after < 0 ? undefined : after + 1)
}

/** The value at a place: its own, or on the straight line between its neighbours; null in a gap and beyond the ends. */
function valueAt({ places, values }: Placed, x: number): number | null {
  const i = lastAtOrBefore(places, x)
  const value = values[i] ?? null
  if (i < 0 || value === null || places[i] === x) return value
  const [from, to, next] = [places[i] ?? 0, places[i + 1], values[i + 1] ?? null]
  return to === undefined || next === null ? null : value + ((next - value) * (x - from)) / (to - from)
}

function isLone({ places, values }: Placed, x: number): boolean {
  const i = lastAtOrBefore(places, x)
  return places[i] === x && (values[i] ?? null) !== null && (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null
}

/** Index of the last place that is not after `x`; -1 before the first. Places rise. */
export function lastAtOrBefore(places: readonly number[], x: number): number {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((places[middle] ?? Infinity) <= x) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Index of the place that is nearest to `x`; -1 for none. */
export function nearest(places: readonly number[], x: number): number {
  const before = lastAtOrBefore(places, x)
  const [left, right] = [places[before], places[before + 1]]
  if (left === undefined) return places.length > 0 ? 0 : -1
  return right !== undefined && right - x < x - left ? before + 1 : before
}

/** By place: the ends of the present run's band. On a log scale an end of 0 or below leaves it out. */
function bandsOf(spec: CurveSpec, run: DrawnRun | undefined, axis: CurveAxis, log: boolean): Map<number, [number, number]> {
  const bands = new Map<number, [number, number]>()
  if (!spec.band || !run) return bands
  const [low, high] = spec.band
  const places = placesOf(run.history, axis)
  run.history.forEach((step, i) => {
    const ends = [metricOf(step, low), metricOf(step, high)]
    const [from, to] = ends
    const place = places[i]
    if (place === undefined || from == null || to == null || (log && from <= 0)) return
    bands.set(place, log ? [Math.log10(from), Math.log10(to)] : [from, to])
  })
  return bands
}
