/** What every measurement has its engine do: the same ids, uniform numbers, sampling, training batch and optimizer step. */

import type { OptimizerParams, TrainSequence } from '../../src/core/engine'

/** `n` ids that are spread over the vocabulary. */
export const spreadIds = (n: number, words: number): number[] => Array.from({ length: n }, (_, i) => (7919 * i + 13) % words)

export const slotsOf = (n: number): number[] => Array.from({ length: n }, (_, slot) => slot)

/** A uniform number for each of `n` slots, evenly apart. */
export const evenDraws = (n: number): { slot: number; uniform: number }[] => slotsOf(n).map((slot) => ({ slot, uniform: (slot + 0.5) / n }))

/** From the whole distribution. */
export const PLAIN = { temperature: 1, top_k: 0, top_p: 1, min_p: null } as const

/** Sequences of `ids`, each moved on by its number; all but the first token of each is trained on. */
export function trainingBatch(sequences: number, ids: readonly number[], words: number): TrainSequence[] {
  return Array.from({ length: sequences }, (_, s) => ({ ids: ids.map((id) => (id + s) % words), mask: ids.map((_, t) => (t > 0 ? 1 : 0)) }))
}

export const ADAM: OptimizerParams = { learning_rate: 1e-5, adam_beta1: 0.9, adam_beta2: 0.999, adam_epsilon: 1e-8, weight_decay: 0, max_grad_norm: 1 }
