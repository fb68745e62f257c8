/** Slopes for the losses of tests, and the accumulated gradient read through the engine's contract, which hands out parameters only. */

import type { Engine, NamedTensor, SequenceGradient, SequenceScores } from '../core/engine'

/** d loss / d log-prob and d loss / d entropy, different at every token of every sequence of the batch. */
export function slopes(indices: readonly number[], scores: readonly SequenceScores[]): SequenceGradient[] {
  return indices.map((index, i) => {
    const n = scores[i]?.logprobs.length ?? 0
    return {
      dLogprobs: Float64Array.from({ length: n }, (_, t) => Math.sin(1 + 3 * index + t)),
      dEntropies: Float64Array.from({ length: n }, (_, t) => 0.3 * Math.cos(index + 2 * t)),
    }
  })
}

/**
 * The accumulated gradient: with both betas 0 and a huge ε an AdamW step is p −= factor · g, and steps are so long that
 * p's own rounding does not matter. The optimizer's graphs are thereby tested too. Leaves the parameters moved and the accumulator empty.
 */
export async function readGradients(engine: Engine): Promise<{ gradients: NamedTensor[]; grad_norm: number }> {
  const factor = 1e3
  const before = new Map((await engine.exportParameters()).map((tensor) => [tensor.name, tensor.data]))
  const { grad_norm } = await engine.optimizerStep({
    learning_rate: 1e8 * factor,
    adam_beta1: 0,
    adam_beta2: 0,
    adam_epsilon: 1e8,
    weight_decay: 0,
    max_grad_norm: Infinity,
  })
  const gradients = (await engine.exportParameters()).map(({ name, dims, data }) => {
    const old = before.get(name)
    if (!old) throw new Error(`${name} appeared during a step.`)
    return { name, dims, data: data.map((value, i) => ((old[i] as number) - value) / factor) }
  })
  return { gradients, grad_norm }
}
