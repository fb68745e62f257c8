/** The benchmark's models and engines in this browser, with its GPU's dispatches counted. */

import type { BenchDevice, BenchModelName } from '../core/bench-report'
import type { Backend } from '../core/config'
import type { WeightSource } from '../core/weights'
import { TINY_MODEL } from '../env/presets'
import { FolderSource } from '../hub/folder-source'
import { chooseBackend, probeCapabilities } from '../runtime/capabilities'
import { createEngine } from '../runtime/create'
import { loadOrt } from '../runtime/ort'
import { randomSource } from '../runtime/random-source'
import { benchEngine, type Measured } from './bench'
import { folderAddress } from './model'

/** config.json of a Qwen3 of 30.6 million parameters, with the shipped model's vocabulary. */
export const RANDOM_30M = {
  model_type: 'qwen3',
  hidden_size: 512,
  num_hidden_layers: 9,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  head_dim: 64,
  intermediate_size: 1664,
  vocab_size: 1024,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  max_position_embeddings: 2048,
  tie_word_embeddings: true,
  hidden_act: 'silu',
} as const

export interface BenchEngines {
  device: BenchDevice
  open(model: BenchModelName, slots: number): Promise<Measured>
  /** Counts no more. */
  close(): void
  /** Milliseconds from any origin; tests replace the clock. */
  now?: () => number
}

/** For the backend that a run would get. Throws PlaygroundError when WebGPU is asked for and missing. */
export async function benchEngines(asked: Backend | 'auto'): Promise<BenchEngines> {
  const capabilities = await probeCapabilities()
  const backend = chooseBackend(asked, capabilities)
  const threads = backend === 'wasm' ? capabilities.threads : 1
  const ort = await loadOrt(backend, threads)
  const gpu = backend === 'webgpu' ? capabilities.gpu : null
  const counter = backend === 'webgpu' ? countDispatches() : null
  const device: BenchDevice = {
    backend,
    adapter: gpu?.name ?? null,
    software: gpu?.software ?? false,
    threads,
    ortVersion: ort.env.versions.web ?? ort.env.versions.common,
  }
  const open = async (model: BenchModelName, slots: number): Promise<Measured> => {
    const engine = await createEngine({ ...benchEngine(backend, slots), source: sourceOf(model), threads, modelName: model, adapterName: gpu?.name ?? 'GPU' })
    const queue = backend === 'webgpu' ? (await ort.env.webgpu.device).queue : null
    return {
      engine,
      bytes: () => engine.allocatedBytes,
      idle: async () => void (await queue?.onSubmittedWorkDone()),
      dispatches: () => counter?.count() ?? null,
      dispose: () => engine.dispose(),
    }
  }
  return { device, open, close: () => counter?.end() }
}

const sourceOf = (model: BenchModelName): WeightSource => (model === 'tiny-qwen3' ? new FolderSource(folderAddress(TINY_MODEL)) : randomSource(RANDOM_30M))

/** Counts every dispatch of this realm until `end`, the run's own among them: nothing else computes meanwhile. */
function countDispatches(): { count(): number; end(): void } {
  let count = 0
  const { prototype } = GPUComputePassEncoder
  const { dispatchWorkgroups, dispatchWorkgroupsIndirect } = prototype
  prototype.dispatchWorkgroups = function (...args) {
    count++
    return dispatchWorkgroups.apply(this, args)
  }
  prototype.dispatchWorkgroupsIndirect = function (...args) {
    count++
    return dispatchWorkgroupsIndirect.apply(this, args)
  }
  return { count: () => count, end: () => void Object.assign(prototype, { dispatchWorkgroups, dispatchWorkgroupsIndirect }) }
}
