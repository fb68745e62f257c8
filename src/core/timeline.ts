/** Where the time of a GRPO step went: what each slot did, when the environment was waited for, and when the adapter was trained. */

/**
 * 'prefill': the slot reads a prompt or a tool's answer. 'sampling': it writes. 'waiting': for the environment. 'training': forward,
 * backward and optimizer, in the lane of the trainer. What no span covers was idle.
 */
export type SpanKind = 'prefill' | 'sampling' | 'waiting' | 'training'

/** What the trainer did: the KL term's reference, gradients (forward and backward), log-probs of episodes without advantage, AdamW. */
export type TrainingPart = 'reference' | 'gradient' | 'score' | 'optimizer'

/** The trainer's lane. */
export const TRAINER = -1

export interface TimelineSpan {
  kind: SpanKind
  /** Slot of the sampler; -1 is the trainer's lane. */
  lane: number
  /** Index of the episode in its step; -1 where it is all of them. */
  episode: number
  /** Turn of the episode, from 0; -1 before the first: its session is opened and reset. In the trainer's lane the iteration. */
  turn: number
  /** Milliseconds since the step began, by the clock that pauses with the run. */
  start: number
  end: number
  /** Of 'training'. */
  part?: TrainingPart
  /** Of 'training', where it is another step's: with max_staleness 1 that of the step before, which is trained on while this one is sampled. */
  step?: number
}

/** In the order of their beginning, from the top. */
export const byStart = (spans: readonly TimelineSpan[]): TimelineSpan[] => spans.toSorted((a, b) => a.start - b.start || a.lane - b.lane)

/** A shorter gap in what a slot does is no gap: other slots' prefills would cut a turn into a hundred pieces. Ms. */
const BRIDGED = 2

/** Adds spans, in order of their beginning in each lane, to those of `spans`; what only goes on becomes one. Changes the array, never a span. */
export function addSpans(spans: TimelineSpan[], added: readonly TimelineSpan[]): void {
  const last = new Map<number, number>()
  spans.forEach(({ lane }, i) => last.set(lane, i))
  for (const span of added) {
    const at = last.get(span.lane)
    const before = at === undefined ? undefined : spans[at]
    if (at !== undefined && before && goesOn(before, span)) spans[at] = { ...before, end: span.end }
    else last.set(span.lane, spans.push(span) - 1)
  }
}

function goesOn(before: TimelineSpan, span: TimelineSpan): boolean {
  const same = before.kind === span.kind && before.episode === span.episode && before.turn === span.turn && before.part === span.part && before.step === span.step
  return same && span.start - before.end <= BRIDGED
}
