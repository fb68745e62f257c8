/** The colour scales: one diverging for everything signed, one sequential for probability and entropy. Names of CSS variables only. */

/** A position on a scale: signed −1…1 (diverging) or 0…1 (sequential). */
export interface Scale {
  kind: 'diverging' | 'sequential'
  /** Values at the two ends, for the legend. */
  low: number
  high: number
  /** Position of a value, clamped. */
  at(value: number): number
}

/** The q-quantile (0…1) of numbers by linear interpolation; NaN for none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const position = q * (sorted.length - 1)
  const below = sorted[Math.floor(position)] ?? Number.NaN
  const above = sorted[Math.ceil(position)] ?? Number.NaN
  return below + (above - below) * (position - Math.floor(position))
}

const clamp = (x: number, low: number, high: number) => Math.min(high, Math.max(low, x))

/**
 * Around `center`, ends at the 2nd or 98th percentile, whichever is farther from it. Values that all are the center give a scale that
 * answers 0.
 */
export function divergingScale(values: readonly number[], center = 0): Scale {
  const finite = values.filter(Number.isFinite)
  const ends = finite.length > 0 ? [quantile(finite, 0.02), quantile(finite, 0.98)] : [center]
  return symmetricScale(Math.max(...ends.map((end) => Math.abs(end - center))), center)
}

/** As far below `center` as above it. */
export function symmetricScale(bound: number, center = 0): Scale {
  return { kind: 'diverging', low: center - bound, high: center + bound, at: (v) => (bound === 0 ? 0 : clamp((v - center) / bound, -1, 1)) }
}

/** The half of a diverging scale that its values can reach: nothing above a certain token's log-prob of 0. */
export function lowerHalf(scale: Scale): Scale {
  return { ...scale, high: (scale.low + scale.high) / 2 }
}

/** From `low` to `high`, darker is more. */
export function sequentialScale(low: number, high: number): Scale {
  return { kind: 'sequential', low, high, at: (v) => (high > low ? clamp((v - low) / (high - low), 0, 1) : 0) }
}

/** From 0 to the 98th percentile of values that are never negative. */
export function risingScale(values: readonly number[]): Scale {
  const finite = values.filter(Number.isFinite)
  return sequentialScale(0, finite.length > 0 ? quantile(finite, 0.98) : 0)
}

/** At full strength a token's text must stay readable, so its ground is never the pure colour. */
const STRONGEST = 72

/** A CSS colour for a position: mixed into the ground, so that it suits light and dark. */
export function scaleColor(kind: Scale['kind'], position: number): string {
  const color = kind === 'sequential' ? '--scale' : position < 0 ? '--minus' : '--plus'
  return `color-mix(in oklab, var(${color}) ${Math.round(Math.abs(position) * STRONGEST)}%, var(--ground))`
}

/** Mark that says the sign without colour. */
export function signMark(value: number): '▲' | '▼' | '' {
  return value > 0 ? '▲' : value < 0 ? '▼' : ''
}
