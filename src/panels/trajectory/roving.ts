/** Where the arrow keys lead among the tokens of an episode: by token, by line, by turn. Pure. */

import type { Segment } from './segments'

/** The token after a key; `first` and `last`: the ends of what can be reached. null for keys that do not move. */
export function keyTarget(key: { key: string; ctrlKey: boolean; metaKey: boolean }, from: number, first: number, last: number, segments: readonly Segment[]): number | null {
  const within = (position: number) => Math.min(last, Math.max(first, position))
  switch (key.key) {
    case 'ArrowRight':
      return within(from + 1)
    case 'ArrowLeft':
      return within(from - 1)
    case 'PageDown':
      return within(segments.find((segment) => segment.start > from)?.start ?? last)
    case 'PageUp':
      return within(segments.findLast((segment) => segment.start < from)?.start ?? first)
    case 'Home':
      return key.ctrlKey || key.metaKey ? first : null
    case 'End':
      return key.ctrlKey || key.metaKey ? last : null
    default:
      return null
  }
}

/** Where the first line of a token begins. */
export interface Place {
  left: number
  top: number
}

/** Tokens of one line may differ by so many pixels in height. */
const SAME_LINE = 4

/** Index of the token in the line above (−1) or below (1) that begins nearest to where this one begins; null where there is no such line. */
export function inNextLine(count: number, placeOf: (index: number) => Place, from: number, by: 1 | -1): number | null {
  const start = placeOf(from)
  let line: number | null = null
  let best: { index: number; far: number } | null = null
  for (let i = from + by; i >= 0 && i < count; i += by) {
    const { left, top } = placeOf(i)
    if (Math.abs(top - start.top) <= SAME_LINE && line === null) continue
    line ??= top
    if (Math.abs(top - line) > SAME_LINE) break
    const far = Math.abs(left - start.left)
    if (best === null || far < best.far) best = { index: i, far }
  }
  return best?.index ?? null
}

/** Index of the first (−1) or last (1) token of the line. */
export function endOfLine(count: number, placeOf: (index: number) => Place, from: number, by: 1 | -1): number {
  const { top } = placeOf(from)
  let end = from
  for (let i = from + by; i >= 0 && i < count && Math.abs(placeOf(i).top - top) <= SAME_LINE; i += by) end = i
  return end
}
