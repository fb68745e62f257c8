/** The spans of a recorded step's timeline as the file holds them: one list for each field, times in tenths of a millisecond. */

import { z } from 'zod/mini'
import type { SpanKind, TimelineSpan, TrainingPart } from '../core/timeline'
import { wholes } from './recorded-fields'

/** One letter per span: what it is, and of training which part. */
export const SPAN_LETTERS: Readonly<Record<string, { kind: SpanKind; part?: TrainingPart }>> = {
  p: { kind: 'prefill' },
  s: { kind: 'sampling' },
  w: { kind: 'waiting' },
  t: { kind: 'training' },
  r: { kind: 'training', part: 'reference' },
  g: { kind: 'training', part: 'gradient' },
  c: { kind: 'training', part: 'score' },
  o: { kind: 'training', part: 'optimizer' },
}

/** Of a millisecond. */
export const TENTHS = 10

export const timelineSchema = z
  .object({
    kinds: z.string().check(z.regex(/^[pswtrgco]*$/)),
    lanes: wholes,
    episodes: wholes,
    turns: wholes,
    /** Of the first span, then what each begins later than the one before it. Tenths of a ms. */
    starts: wholes,
    lengths: wholes,
  })
  .check(z.refine(({ kinds, ...lists }) => Object.values(lists).every(({ length }) => length === kinds.length), 'the lists of a timeline differ in length'))

/** The spans of a step, in the order of the file. */
export function readTimeline({ kinds, lanes, episodes, turns, starts, lengths }: z.output<typeof timelineSchema>): TimelineSpan[] {
  let start = 0
  return [...kinds].map((letter, i) => {
    start += starts[i] as number
    return { ...(SPAN_LETTERS[letter] as { kind: SpanKind }), lane: lanes[i] as number, episode: episodes[i] as number, turn: turns[i] as number, start: start / TENTHS, end: (start + (lengths[i] as number)) / TENTHS }
  })
}
