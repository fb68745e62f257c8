/**
 * Supervised fine-tuning: the token-mean negative log-likelihood, whose derivative is −1/N at every trained token.
 * Beside `loss.ts` it shows what RL adds: here every token has the same, always positive "advantage".
 */

import { countTrained } from './loss'
import { sum } from './statistics'

/** One sequence of a supervised batch. */
export interface SftSequence {
  /** [tokens]; 1 where the token is a target. */
  mask: ArrayLike<number>
  /**
   * Sequences of one task share a key; each key's loss is its own token mean, and the means are added up with `weights`.
   * Absent = all sequences are one task.
   */
  task?: string
}

/** Weight of a trained token, by task: weight of the task / trained tokens of the task in the whole optimizer step. */
export type SftNormalizer = ReadonlyMap<string, number>

/**
 * Computed over the whole optimizer step before its first micro-batch, so that micro-batches add up exactly. A task
 * without a trained token adds nothing.
 * @param weights weight of each task's token mean; tasks that are not named have 1
 */
export function sftNormalizer(sequences: readonly SftSequence[], weights: Readonly<Record<string, number>> = {}): SftNormalizer {
  const tokens = new Map<string, number>()
  for (const { mask, task = '' } of sequences) tokens.set(task, (tokens.get(task) ?? 0) + countTrained(mask))
  return new Map([...tokens].map(([task, count]) => [task, (weights[task] ?? 1) / Math.max(1, count)]))
}

/**
 * Loss Σ_task weight · mean over the task's tokens of −logπ, in nats, and its derivatives; this micro-batch's share.
 * @param logprobs [tokens] each, same order as `sequences`
 * @throws RangeError for a task that the normaliser does not know, or when the counts differ
 */
export function sftLoss(
  sequences: readonly SftSequence[],
  logprobs: readonly ArrayLike<number>[],
  normalizer: SftNormalizer,
): { loss: number; dLogprobs: Float64Array[] } {
  if (sequences.length !== logprobs.length) throw new RangeError(`${sequences.length} sequences, ${logprobs.length} score arrays`)
  const losses: number[] = []
  const dLogprobs = sequences.map(({ mask, task = '' }, s) => {
    const weight = normalizer.get(task)
    if (weight === undefined) throw new RangeError(`task '${task}' is not part of this optimizer step`)
    const now = logprobs[s] as ArrayLike<number>
    const gradient = new Float64Array(mask.length)
    for (let t = 0; t < mask.length; t++) {
      if (mask[t] !== 1) continue
      losses.push(-weight * (now[t] as number))
      gradient[t] = -weight
    }
    return gradient
  })
  return { loss: sum(losses), dLogprobs }
}
