/** Where spans stand in the picture, which one is under the pointer, and which one is next for the keyboard. */

import { TRAINER, type TimelineSpan } from '../../core/timeline'

/** A moment in a lane: stays the same place while its span grows. */
export interface Place {
  lane: number
  /** Ms since the step began. */
  at: number
}

export interface Layout {
  width: number
  height: number
  /** Slots from the top, the trainer below them. */
  slots: number
  /** Ms that the width stands for. */
  total: number
}

export interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** Least width of what is drawn: nothing that happened is invisible. */
const THINNEST = 0.5
/** The trainer's lane stands a little apart, and is never thin: it may hold most of the time. */
const APART = 4
const TRAINER_HEIGHT = 14

const rowOf = (lane: number, slots: number) => (lane === TRAINER ? slots : lane)
const laneOf = (row: number, slots: number) => (row >= slots ? TRAINER : row)

/** Height of a slot's lane with the gap below it. */
export const pitch = ({ height, slots }: Layout): number => Math.min((height - APART) / (slots + 1), (height - APART - TRAINER_HEIGHT) / slots)

export function boxOf({ lane, start, end, kind }: Pick<TimelineSpan, 'lane' | 'start' | 'end' | 'kind'>, layout: Layout): Box {
  const { width, slots, total } = layout
  const step = pitch(layout)
  const gap = step > 6 ? 2 : step > 3 ? 1 : 0
  const full = (lane === TRAINER ? Math.max(step, TRAINER_HEIGHT) : step) - gap
  // Waiting is a thin line through its lane: the slot is held, and nothing is done.
  const thickness = kind === 'waiting' ? Math.max(1.5, full * 0.4) : full
  const x = (start / total) * width
  const top = rowOf(lane, slots) * step + (lane === TRAINER ? APART : 0)
  return { x, y: top + (full - thickness) / 2, width: Math.max(THINNEST, ((end - start) / total) * width), height: thickness }
}

/** One path for many spans: a thousand elements would cost frames. */
export function pathOf(spans: readonly TimelineSpan[], layout: Layout): string {
  return spans
    .map((span) => {
      const { x, y, width, height } = boxOf(span, layout)
      return `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`
    })
    .join('')
}

const short = (value: number) => Math.round(value * 100) / 100

/** The place at a point of the picture. */
export function placeAt(x: number, y: number, layout: Layout): Place {
  const row = Math.min(layout.slots, Math.max(0, Math.floor(y / pitch(layout))))
  return { lane: laneOf(row, layout.slots), at: (x / layout.width) * layout.total }
}

const inLane = (spans: readonly TimelineSpan[], lane: number) => spans.filter((span) => span.lane === lane)

/** The span at a place; with `reach` ms the nearest one that is not farther away. */
export function spanAt(spans: readonly TimelineSpan[], { lane, at }: Place, reach = 0): TimelineSpan | null {
  const [best] = inLane(spans, lane)
    .map((span) => ({ span, away: Math.max(span.start - at, at - span.end, 0) }))
    .sort((a, b) => a.away - b.away)
  return best && best.away <= reach ? best.span : null
}

/** A place in the middle of a span as it is now. */
export const placeOf = ({ lane, start, end }: TimelineSpan): Place => ({ lane, at: (start + end) / 2 })

/** Where a key leads from a span: along its lane, or to the lane above or below at the same time; null where it leads nowhere. */
export function nextSpan(spans: readonly TimelineSpan[], from: TimelineSpan, key: string, slots: number): TimelineSpan | null {
  const own = inLane(spans, from.lane)
  const at = own.indexOf(from)
  switch (key) {
    case 'ArrowRight':
      return own[at + 1] ?? null
    case 'ArrowLeft':
      return own[at - 1] ?? null
    case 'Home':
      return own[0] ?? null
    case 'End':
      return own.at(-1) ?? null
    case 'ArrowUp':
    case 'ArrowDown': {
      const by = key === 'ArrowDown' ? 1 : -1
      for (let row = rowOf(from.lane, slots) + by; row >= 0 && row <= slots; row += by) {
        const found = spanAt(spans, { lane: laneOf(row, slots), at: placeOf(from).at }, Infinity)
        if (found) return found
      }
      return null
    }
    default:
      return null
  }
}

/** What the width stands for while a step goes on: at least what the last one took, else a round number, so that it seldom rescales. */
export function reachOf(end: number, last: number): number {
  if (last >= end) return last
  const power = 10 ** Math.floor(Math.log10(Math.max(1, end)))
  return power * ([1, 1.5, 2, 3, 5, 7, 10].find((factor) => factor * power >= end) ?? 10)
}
