/** What two policies think of the same tokens: how the LoRA as it is now, and the base model alone, would have written an episode. */

import type { Author, ExitReason } from './episode'
import type { TokenOption } from './events'

/** Of one sequence; arrays are [tokens], 0 where the mask is 0. Temperature-scaled, nats. */
export interface Examination {
  /** Under the adapter as it is now. */
  logprobs: number[]
  entropies: number[]
  /** Under the base model alone. */
  baseLogprobs: number[]
  baseEntropies: number[]
  /** Optimizer steps of the adapter that `logprobs` is of. */
  version: number
}

/** One side of a comparison: an episode that a policy played. */
export interface ComparedEpisode {
  /** [tokens] */
  ids: number[]
  texts: string[]
  authors: Author[]
  mask: (0 | 1)[]
  /** Under the policy that played it, nats; 0 where the mask is 0. */
  logprobs: number[]
  /** Under the other policy. */
  otherLogprobs: number[]
  /** The likeliest tokens where the model sampled, else null. */
  alternatives: (TokenOption[] | null)[]
  promptLength: number
  turns: { start: number; end: number; resultEnd: number; reward: number | null; scene?: unknown }[]
  scene?: unknown
  reward: number | null
  success: boolean | null
  exit: ExitReason
}

/** The same prompt and seed, played by the base model alone and by the model with its LoRA. */
export interface PolicyComparison {
  /** Environment seed. */
  seed: number
  split: 'train' | 'heldout'
  /** 0: greedy. */
  temperature: number
  /** GRPO step of the adapter. */
  step: number
  base: ComparedEpisode
  lora: ComparedEpisode
}
