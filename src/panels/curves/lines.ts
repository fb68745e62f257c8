/** From rows to what an SVG draws: paths that break where a value is missing, filled areas, stacked shares. In pixels of the plot. */

import { type Scale, share } from './scale'
import type { Row } from './series'

export type Point = readonly [x: number, y: number]

/** From a place and a value on the scale to pixels, the origin at the plot's upper left corner. */
export type Project = (x: number, y: number) => Point

export function projection(scale: Pick<Scale, 'x' | 'y'>, width: number, height: number): Project {
  return (x, y) => [rounded(width * share(scale.x, x)), rounded(height * (1 - share(scale.y, y)))]
}

/** Hundredths of a pixel: more would only make the page longer. */
const rounded = (pixels: number): number => Math.round(pixels * 100) / 100

/** A line through neighbours; one that has none is no line. */
export function linePath(points: readonly (Point | null)[]): string {
  return stretches(points).map((stretch) => `M${stretch.join('L')}`).join('')
}

/** The area between two lines, wherever both are. */
export function areaPath(upper: readonly (Point | null)[], lower: readonly (Point | null)[]): string {
  const both = upper.map((top, i) => (top && lower[i] ? ([top, lower[i]] as const) : null))
  return stretches(both)
    .map((stretch) => `M${stretch.map(([top]) => top).join('L')}L${stretch.map(([, bottom]) => bottom).reverse().join('L')}Z`)
    .join('')
}

/** Runs of what is there. */
function stretches<T>(values: readonly (T | null)[]): T[][] {
  const all: T[][] = []
  let before = false
  for (const value of values) {
    if (value !== null) {
      if (before) all.at(-1)?.push(value)
      else all.push([value])
    }
    before = value !== null
  }
  return all
}

/** Where each share begins and ends when they stand on each other; null for a row without any. */
export function stackOf(rows: readonly Row[], lines: number): ([number, number] | null)[][] {
  const ends = rows.map(({ y }) => {
    let sum = 0
    return y.every((value) => value === null) ? null : Array.from({ length: lines }, (_, i): [number, number] => [sum, (sum += y[i] ?? 0)])
  })
  return Array.from({ length: lines }, (_, i) => ends.map((row) => row?.[i] ?? null))
}
