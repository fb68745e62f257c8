/** The two axes of a chart: their ends, their gridlines, and where between them a value stands. */

import { ticks } from '../../core/ticks'
import type { CurveAxis } from '../../store/display'
import { number, plain } from '../../ui/format'
import type { Unit } from '../../ui/metrics'

export interface Tick {
  /** On the scale: the exponent of a logarithm. */
  at: number
  label: string
}

export interface Scale {
  x: readonly [number, number]
  xTicks: readonly Tick[]
  y: readonly [number, number]
  yTicks: readonly Tick[]
  log: boolean
}

interface ScaleOptions {
  x: readonly [number, number]
  /** In view, on the scale. */
  values: readonly number[]
  log: boolean
  unit: Unit
  /** Values below 0 are possible, so 0 is no natural end. */
  signed: boolean
  axis: CurveAxis
  /** Points stand on the first and the last place, and would be cut in half. */
  marks?: boolean
}

/** Shares keep their whole range in view, so that a small change does not look large; what cannot be negative begins at 0. */
export function valueScale({ x, values, log, unit, signed, axis, marks = false }: ScaleOptions): Scale {
  const low = values.reduce((a, b) => Math.min(a, b), Infinity)
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity)
  const y = values.length === 0 ? [0, 1] : log ? spread(low, high, 0.15) : unit === 'share' ? [0, 1] : signed ? spread(low, high, 0.5) : spread(Math.min(0, low), high, 1)
  const [from = 0, to = 1] = y
  const places = log ? logTicks(from, to) : unit === 'share' ? ticks(from, to, 4).map((at) => ({ at, label: `${plain(Math.round(at * 100))} %` })) : toldApart(ticks(from, to, 4))
  const ends = padded(log ? [from, to] : [places[0]?.at ?? from, places.at(-1)?.at ?? to])
  const xEnds: [number, number] = x[0] === x[1] ? [x[0] - 1, x[1] + 1] : [x[0], x[1]]
  return { x: marks ? padded(xEnds) : xEnds, xTicks: placeTicks(xEnds, x, axis), y: ends, yTicks: places, log }
}

/** A line on the very end would be cut in half. */
const PADDING = 0.02

function padded([low, high]: readonly [number, number]): readonly [number, number] {
  const room = PADDING * (high - low)
  return [low - room, high + room]
}

/** Equal ends are moved apart. */
function spread(low: number, high: number, by: number): [number, number] {
  return high > low ? [low, high] : low === 0 ? [0, 1] : [low - by * Math.abs(low), high + by * Math.abs(high)]
}

/** Decades; within less than two of them also 2 and 5; within less than one all digits, or every second. */
function logTicks(low: number, high: number): Tick[] {
  const digits = high - low >= 2 ? [1] : [1, 2, 5]
  const every = Math.max(1, Math.ceil((high - low) / 5))
  const decades = Array.from({ length: Math.floor(high) - Math.floor(low) + 1 }, (_, i) => Math.floor(low) + i)
  const within = (digits: readonly number[]) =>
    decades
      .filter((decade) => decade % every === 0)
      .flatMap((decade) => digits.map((digit) => digit * 10 ** decade))
      .filter((value) => Math.log10(value) >= low - 1e-9 && Math.log10(value) <= high + 1e-9)
  const few = within(digits)
  const more = few.length > 2 ? few : within([1, 2, 3, 4, 5, 6, 7, 8, 9])
  const chosen = more.length > MOST_TICKS ? more.filter((_, i) => i % 2 === 0) : more
  // Too narrow for round numbers: its two ends.
  return (chosen.length > 1 ? chosen : [10 ** low, 10 ** high]).map((value) => ({ at: Math.log10(value), label: short(value) }))
}

const MOST_TICKS = 5
const MINUTE = 60
const HOUR = 3600

function placeTicks(ends: readonly [number, number], measured: readonly [number, number], axis: CurveAxis): Tick[] {
  const [unit, name] = axis !== 'time' ? [1, ''] : ends[1] < 3 * MINUTE ? [1, ' s'] : ends[1] < 3 * HOUR ? [MINUTE, ' min'] : [HOUR, ' h']
  const whole = axis !== 'time'
  // An only point stands in the middle, alone.
  if (measured[0] === measured[1]) return [{ at: measured[0], label: `${short(measured[0] / unit)}${name}` }]
  return ticks(ends[0] / unit, ends[1] / unit, 5)
    .filter((at) => at * unit >= ends[0] - 1e-9 && at * unit <= ends[1] + 1e-9 && (!whole || Number.isInteger(at)))
    .map((at) => ({ at: at * unit, label: `${short(at)}${name}` }))
}

/** Where a value stands, 0 at the low end to 1 at the high one; null where the scale has no place for it. */
export function heightOf(scale: Scale, value: number | null): number | null {
  if (value === null || (scale.log && value <= 0)) return null
  return share(scale.y, scale.log ? Math.log10(value) : value)
}

/** Where a place stands from the left, 0 to 1. */
export function share([low, high]: readonly [number, number], at: number): number {
  return high > low ? (at - low) / (high - low) : 0.5
}

/** The place at a share of the width. */
export function placeAt([low, high]: readonly [number, number], fraction: number): number {
  return low + (high - low) * Math.min(1, Math.max(0, fraction))
}

/** As few digits as tell the places apart. */
function toldApart(places: readonly number[]): Tick[] {
  const labelled = [3, 4, 5, 6, 7, 8].map((digits) => places.map((at) => ({ at, label: short(at, digits) })))
  return labelled.find((made) => new Set(made.map(({ label }) => label)).size === places.length) ?? (labelled.at(-1) as Tick[])
}

/** Axis labels: short, no padding zeros. */
function short(value: number, digits = 3): string {
  return Math.abs(value) >= 1 && Number.isInteger(value) && Math.abs(value) < 1e6
    ? plain(value)
    : number(value, digits)
        .replace(/(\.\d*?)0+(?=e|$)/, '$1')
        .replace(/\.(?=e|$)/, '')
}
