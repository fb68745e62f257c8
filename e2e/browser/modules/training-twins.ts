/** Scores and trains a small random model on WebGPU by our kernels and by onnxruntime's graphs. */

import type { LoraTarget, Precision } from '../../../src/core/config'
import type { NamedTensor, TrainSequence } from '../../../src/core/engine'
import { RandomStream } from '../../../src/core/random'
import { createEngine } from '../../../src/runtime/create'
import { readGradients, slopes } from '../../../src/runtime/gradient-probe'
import { TrainingKernels } from '../../../src/runtime/kernels/training-kernels'
import { WebGpuDevice } from '../../../src/runtime/webgpu-device'
import { CONFIG, LORA, QWEN2_CONFIG, randomAdapter, randomModel } from '../../../src/runtime/testing/random-model'

export interface TrainingTwinRequest {
  qwen2: boolean
  precision: Precision
  /** All seven unless given. */
  targets?: readonly LoraTarget[]
}

export interface TrainingTwinResult {
  /** Largest differences of log-probs and entropies: of the trained LoRA, the frozen reference, and without any. */
  scores: Record<'current' | 'reference' | 'off', number>
  /** |ours − theirs| / |theirs| of each gradient. */
  gradients: Record<string, number>
  /** Micro-batches that our kernels took, in each of the two runs. */
  taken: [ours: number, theirs: number]
}

/** Rows of several lengths, two of them branches of one prompt, the longest over several tiles of attention, and padding everywhere. */
function ragged(vocab: number): TrainSequence[] {
  const random = new RandomStream(17)
  const ids = (n: number): number[] => Array.from({ length: n }, () => random.int(vocab))
  const prompt = ids(21)
  const made = (all: number[], wrote: (t: number) => boolean): TrainSequence => ({ ids: all, mask: all.map((_, t) => (wrote(t) ? 1 : 0)) })
  return [
    made([...prompt, ...ids(30)], (t) => t >= 21),
    made([...prompt, ...ids(17)], (t) => t >= 23),
    made(ids(75), (t) => (t >= 5 && t < 40) || t >= 60),
    made(ids(9), (t) => t >= 2),
    made(ids(33), (t) => t >= 20),
  ]
}

export async function trainingTwins({ qwen2, precision, targets }: TrainingTwinRequest): Promise<TrainingTwinResult> {
  // Widths that no tile divides, heads of less than a tile and of more, ranks likewise.
  const config = { ...(qwen2 ? QWEN2_CONFIG : { ...CONFIG, head_dim: 48 }), hidden_size: 96, intermediate_size: 160, num_attention_heads: 6, vocab_size: 333 }
  const lora = { ...LORA, r: qwen2 ? 5 : 20, ...(targets && { target_modules: [...targets] }) }
  const { takes } = TrainingKernels.prototype
  const { refusable } = WebGpuDevice.prototype
  // Weights of usual sizes: larger ones make much of float32's own noise.
  const adapterLike = (tensors: readonly NamedTensor[], seed: number): NamedTensor[] => randomAdapter(tensors, seed).map((tensor) => ({ ...tensor, data: tensor.data.map((x) => 0.4 * x) }))
  const once = async (ours: boolean) => {
    let taken = 0
    TrainingKernels.prototype.takes = function (...given) {
      const all = takes.apply(this, given)
      if (all) taken++
      return all
    }
    // As where the GPU refuses a shader.
    if (!ours) WebGpuDevice.prototype.refusable = () => Promise.resolve(null)
    const engine = await createEngine({ source: randomModel(config), lora, backend: 'webgpu', threads: 1, precision, slots: 2, contextLength: 96, microBatchTokens: 256, modelName: 'random', adapterName: 'test' })
    try {
      const batch = ragged(config.vocab_size)
      await engine.importParameters(adapterLike(await engine.exportParameters(), 12))
      engine.freezeReference()
      await engine.importParameters(adapterLike(await engine.exportParameters(), 11))
      const scored = async (adapter: 'current' | 'reference' | 'off'): Promise<number[]> =>
        (await engine.score(batch, { temperature: 0.8, adapter })).flatMap(({ logprobs, entropies }) => [...logprobs, ...entropies])
      const scores = { current: await scored('current'), reference: await scored('reference'), off: await scored('off') }
      await engine.accumulate(batch, { temperature: 0.8 }, slopes)
      return { scores, gradients: (await readGradients(engine)).gradients, taken }
    } finally {
      TrainingKernels.prototype.takes = takes
      WebGpuDevice.prototype.refusable = refusable
      await engine.dispose()
    }
  }
  const [ours, theirs] = [await once(true), await once(false)]
  const largest = (name: keyof typeof ours.scores): number => Math.max(...ours.scores[name].map((x, i) => Math.abs(x - (theirs.scores[name][i] as number))))
  const norm = (values: Float32Array): number => Math.sqrt(values.reduce((sum, x) => sum + x * x, 0))
  const gradients = ours.gradients.map(({ name, data }, i): [string, number] => {
    const other = theirs.gradients[i]?.data as Float32Array
    return [name, norm(data.map((x, k) => x - (other[k] as number))) / norm(other)]
  })
  return {
    scores: { current: largest('current'), reference: largest('reference'), off: largest('off') },
    gradients: Object.fromEntries(gradients),
    taken: [ours.taken, theirs.taken],
  }
}
