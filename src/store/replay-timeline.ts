/** A recorded timeline as it came about: the times are the recorded ones, the pace is the replay's. */

import type { TimelineSpan } from '../core/timeline'

/** The spans between two moments of the recording, cut into so many pieces of equal time, in order; a span that goes on is cut, too. */
export function piecesOf(timeline: readonly TimelineSpan[], from: number, to: number, count: number): TimelineSpan[][] {
  const edge = (i: number) => from + ((to - from) * i) / count
  return Array.from({ length: count }, (_, i) => {
    // What ends later than the phase belongs to its last piece: seconds and spans are rounded apart.
    const [first, last] = [i === 0 ? -Infinity : edge(i), i === count - 1 ? Infinity : edge(i + 1)]
    return timeline.flatMap((span) => {
      const [start, end] = [Math.max(span.start, first), Math.min(span.end, last)]
      return end > start ? [{ ...span, start, end }] : []
    })
  })
}
