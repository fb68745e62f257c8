/** Runs in a browser's worker: plays and trains the shipped model on WebGPU again and again, and counts the GPU's memory. */

import { DEFAULT_LORA } from '../../src/core/config'
import { FolderSource } from '../../src/hub/folder-source'
import { createEngine } from '../../src/runtime/create'

export interface MicroSteps {
  /** Of our engine, after each step. */
  allocatedBytes: number[]
  /** Of all buffers that were made and not destroyed, onnxruntime's own among them, after each step. */
  liveBytes: number[]
}

/** Counts buffers from now on. */
function countBuffers(): () => number {
  let live = 0
  const { createBuffer } = GPUDevice.prototype
  const { destroy } = GPUBuffer.prototype
  const gone = new WeakSet<GPUBuffer>()
  GPUDevice.prototype.createBuffer = function (descriptor) {
    live += descriptor.size
    return createBuffer.call(this, descriptor)
  }
  GPUBuffer.prototype.destroy = function () {
    if (!gone.has(this)) live -= this.size
    gone.add(this)
    return destroy.call(this)
  }
  return () => live
}

/** A prompt that two slots share, a few tokens of their own, and one optimizer step on them. */
export async function microSteps({ steps }: { steps: number }): Promise<MicroSteps> {
  const live = countBuffers()
  const source = new FolderSource(new URL('/models/tiny-qwen3', self.location.href).href)
  const engine = await createEngine({ source, lora: DEFAULT_LORA, backend: 'webgpu', threads: 1, slots: 2, contextLength: 128, modelName: 'tiny' })
  const result: MicroSteps = { allocatedBytes: [], liveBytes: [] }
  const prompt = Array.from({ length: 40 }, (_, i) => (i * 7) % 900)
  const params = { temperature: 1, top_k: 0, top_p: 1, min_p: null }
  for (let step = 0; step < steps; step++) {
    const ids = [[...prompt], [...prompt]]
    engine.reset(0)
    await engine.prefill(0, prompt)
    await engine.copy(0, [1])
    for (let t = 0; t < 3; t++) {
      const sampled = await engine.sample([0, 1].map((slot) => ({ slot, uniform: (slot + 0.5) / 2 })), params)
      sampled.forEach(({ id }, slot) => ids[slot]?.push(id))
      await engine.decode(sampled.map(({ id }, slot) => ({ slot, id })))
    }
    const batch = ids.map((all) => ({ ids: all, mask: all.map((_, t) => (t >= prompt.length ? 1 : 0)) }))
    await engine.accumulate(batch, { temperature: 1 }, (indices, scores) =>
      scores.map(({ logprobs }, i) => ({ dLogprobs: Float64Array.from(logprobs, () => ((indices[i] ?? 0) % 2 === 0 ? -1 : 1)) })),
    )
    await engine.optimizerStep({ learning_rate: 1e-4, adam_beta1: 0.9, adam_beta2: 0.999, adam_epsilon: 1e-8, weight_decay: 0, max_grad_norm: 1 })
    result.allocatedBytes.push(engine.allocatedBytes)
    result.liveBytes.push(live())
  }
  await engine.dispose()
  return result
}
