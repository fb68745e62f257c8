/** Names at the ends of lines: which, and how high, so that none covers another. */

import { spreadLabels } from './plot'
import { type Scale, share } from './scale'
import type { CurveView } from './series'

/** Least distance of two names, of the plot's height. */
const GAP = 0.1

export interface EndName {
  key: string
  name: string
  color: string
  /** 0 at the bottom of the plot to 1 at its top. */
  bottom: number
}

/** The name at the end of each of several lines, where its last point in view is; a single line has none, and shares have a legend. */
export function namesOf({ lines, rows, stacked }: Pick<CurveView, 'lines' | 'rows' | 'stacked'>, scale: Scale): EndName[] {
  if (lines.length < 2 || stacked) return []
  const ends = lines.flatMap(({ run, metric, label, color }, i) => {
    const y = rows.findLast((row) => row.x <= scale.x[1] && row.y[i] !== null)?.y[i]
    return y == null ? [] : [{ key: `${run} ${metric}`, name: label, color, at: share(scale.y, y) }]
  })
  const bottoms = spreadLabels(
    ends.map(({ at }) => at),
    GAP,
  )
  return ends.map(({ key, name, color }, i) => ({ key, name, color, bottom: bottoms[i] ?? 0 }))
}
