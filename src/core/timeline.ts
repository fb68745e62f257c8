/** Where the time of a GRPO step went: what each slot did, when the environment was waited for, and when the adapter was trained. */

/**
 * 'prefill': the slot reads a prompt or a tool's answer. 'sampling': it writes. 'waiting': for the environment. 'training': forward,
 * backward and optimizer, in the lane of the trainer. What no span covers was idle.
 */
export type SpanKind = 'prefill' | 'sampling' | 'waiting' | 'training'

export interface TimelineSpan {
  kind: SpanKind
  /** Slot of the sampler; -1 is the trainer's lane. */
  lane: number
  /** Index of the episode in its step; -1 where it is all of them. */
  episode: number
  /** Turn of the episode, from 0. */
  turn: number
  /** Milliseconds since the step began, by the clock that pauses with the run. */
  start: number
  end: number
}
