/** Fewer rows where a chart has more points than pixels: what the eye would see stays. */

import type { Row } from './series'

/** About one per pixel of a small chart; a chart of a thousand rows takes a tenth of a second to draw. */
export const MOST_ROWS = 240

/**
 * The first and last row, and of every stretch between them the rows in which a line is lowest, highest, missing or alone, and those
 * of evaluations: peaks and gaps stay. Rows are taken as they are, none is made up.
 */
export function thinned(rows: readonly Row[], most = MOST_ROWS): Row[] {
  if (rows.length <= most) return [...rows]
  const lines = rows[0]?.y.length ?? 0
  const length = Math.max(1, Math.ceil((rows.length * 2 * Math.max(1, lines)) / most))
  const kept = new Set<Row>([rows[0], rows.at(-1)].filter((row) => row !== undefined))
  for (let start = 0; start < rows.length; start += length) {
    const stretch = rows.slice(start, start + length)
    for (let i = 0; i < lines; i++) {
      for (const row of [extreme(stretch, (r) => r.y[i], 1), extreme(stretch, (r) => r.y[i], -1), stretch.find(({ y }) => y[i] === null), stretch.find(({ lone }) => lone.includes(i)), ...stretch.filter(({ whiskers }) => whiskers[i] != null)]) {
        if (row) kept.add(row)
      }
    }
  }
  return rows.filter((row) => kept.has(row))
}

/** The row with the largest value (sign 1) or the smallest (−1). */
function extreme(rows: readonly Row[], of: (row: Row) => number | null | undefined, sign: 1 | -1): Row | null {
  let best: Row | null = null
  let most = -Infinity
  for (const row of rows) {
    const value = of(row)
    if (value === null || value === undefined || value * sign <= most) continue
    most = value * sign
    best = row
  }
  return best
}
