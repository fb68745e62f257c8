/** What the trainer's tests share: an engine of a small random model on WASM, a batch, and measures of its tensors. */

import type { LoraConfig } from '../../core/config'
import type { Engine, NamedTensor, SequenceScores, TrainSequence } from '../../core/engine'
import { createEngine, type EngineInstance } from '../create'
import { readGradients, slopes } from '../gradient-probe'
import { CONFIG, LORA, randomModel, smallBatch } from './random-model'

export const options = { temperature: 0.8 }
export const ADAM = { learning_rate: 1e-2, adam_beta1: 0.9, adam_beta2: 0.99, adam_epsilon: 1e-8, weight_decay: 0.1, max_grad_norm: 1 }
export const batch = smallBatch()

export function start(given: { lora?: LoraConfig | null; microBatchTokens?: number; config?: typeof CONFIG; seed?: number; ownKernels?: boolean } = {}): Promise<EngineInstance> {
  const { lora = LORA, microBatchTokens, config = CONFIG, seed, ownKernels } = given
  return createEngine({ source: randomModel(config), lora, backend: 'wasm', threads: 1, slots: 2, contextLength: 48, modelName: 'random', microBatchTokens, seed, ownKernels })
}

export const vector = (tensors: readonly NamedTensor[]): Float64Array => Float64Array.from(tensors.flatMap(({ data }) => [...data]))
export const largest = (a: ArrayLike<number>, b: ArrayLike<number>): number => Math.max(...Array.from(a, (x, i) => Math.abs(x - (b[i] as number))))
export const size = (a: ArrayLike<number>): number => Math.sqrt(Array.from(a).reduce((sum, x) => sum + x * x, 0))
export const logprobs = (scores: readonly SequenceScores[]): number[] => scores.flatMap((s) => [...s.logprobs])

/** The whole gradient of the batch in a given order; slopes belong to sequences, not to places. */
export async function gradientOf(engine: Engine, order: readonly number[]): Promise<Float64Array> {
  await engine.accumulate(order.map((i) => batch[i] as TrainSequence), options, (indices, scores) => slopes(indices.map((i) => order[i] as number), scores))
  return vector((await readGradients(engine)).gradients)
}
