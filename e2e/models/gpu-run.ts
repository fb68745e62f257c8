/** Speed and memory of the engine on whatever WebGPU adapter the browser has, inside a worker of the harness page. */

import { DEFAULT_LORA, type Precision } from '../../src/core/config'
import type { WeightSource } from '../../src/core/weights'
import { FolderSource } from '../../src/hub/folder-source'
import { type ModelConfig, parseModelConfig } from '../../src/model/config'
import { probeCapabilities } from '../../src/runtime/capabilities'
import { createEngine, type EngineInstance } from '../../src/runtime/create'
import { loadOrt } from '../../src/runtime/ort'
import { slopes } from '../../src/runtime/gradient-probe'
import { gpuMeter } from './gpu-meter'
import { type ShapeName, SHAPES, shapeSource } from './shapes'
import { ADAM, evenDraws, PLAIN, slotsOf, spreadIds, trainingBatch } from './workload'

export interface AdapterReport {
  name: string
  software: boolean
  maxBufferSize: number
  maxStorageBufferBindingSize: number
  features: string[]
}

/** null: the browser has no WebGPU adapter. */
export async function adapterReport(): Promise<AdapterReport | null> {
  const { gpu } = await probeCapabilities()
  const adapter = await (navigator.gpu as GPU | undefined)?.requestAdapter({ powerPreference: 'high-performance' })
  if (!gpu || !adapter) return null
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits
  return { ...gpu, maxBufferSize, maxStorageBufferBindingSize, features: [...adapter.features].sort() }
}

export type BenchModel = 'tiny-qwen3' | Exclude<ShapeName, 'test-30m'>

export interface GpuRequest {
  model: BenchModel
  precision: Precision
  slots: number
  contextLength: number
  microBatchTokens: number
  /** Tokens of the prompt; tokens that each slot decodes in a repeat. */
  prompt: number
  decode: number
  /** Each is measured so often, after one time that compiles the shaders. */
  repeats: number
  /** null: no training, and no search for the longest context. */
  train: { sequences: number; tokens: number } | null
  /** The longest context to try; 0: none. */
  longestContext: number
}

/** Seconds of each repeat, and GPU bytes. */
export interface GpuFigures {
  load: number
  prefill: number[]
  decode: number[]
  train: number[]
  peak: number
  /** Tokens of context whose KV cache could be made beside the model; null where it was not tried. */
  maxContext: number | null
}

/** Loads the model and measures it. The GPU's queue is empty before and after everything that is timed. */
export async function measureModel(request: GpuRequest): Promise<GpuFigures> {
  const { model, precision, slots, contextLength, microBatchTokens, prompt, decode, repeats, train, longestContext } = request
  const meter = gpuMeter()
  const from = performance.now()
  const source = sourceOf(model)
  const engine = await createEngine({ source, precision, slots, contextLength, microBatchTokens, lora: DEFAULT_LORA, backend: 'webgpu', threads: 1, modelName: model })
  try {
    const gpu = await (await loadOrt('webgpu', 1)).env.webgpu.device
    const idle = (): Promise<void> => gpu.queue.onSubmittedWorkDone()
    await idle()
    const load = (performance.now() - from) / 1000
    const repeat = async (what: string, work: () => Promise<void>): Promise<number[]> => {
      const seconds: number[] = []
      for (let k = 0; k <= repeats; k++) {
        const start = performance.now()
        await work()
        await idle()
        seconds.push((performance.now() - start) / 1000)
        console.log(`${model}, ${slots} slots, ${what} ${k === 0 ? '(first time)' : k}: ${(seconds[k] as number).toFixed(3)} s`)
      }
      return seconds.slice(1)
    }
    const ids = spreadIds(Math.max(prompt, train?.tokens ?? 0), engine.info.vocabSize)
    const prefill = await repeat(`prefill of ${prompt}`, () => {
      engine.reset(0)
      return engine.prefill(0, ids.slice(0, prompt))
    })
    const decoded = await repeat(`${decode} tokens`, () => decodeAll(engine, decode))
    const trained = train ? await repeat(`training on ${train.sequences} x ${train.tokens}`, () => trainOnce(engine, ids, train)) : []
    const { peak } = meter.read()
    const maxContext = longestContext > 0 ? await findContext(gpu, parseModelConfig(await source.config()), slots, longestContext) : null
    return { load, prefill, decode: decoded, train: trained, peak, maxContext }
  } finally {
    await engine.dispose()
  }
}

function sourceOf(model: BenchModel): WeightSource {
  return model === 'tiny-qwen3' ? new FolderSource('/models/tiny-qwen3') : shapeSource(SHAPES[model])
}

/** Every slot goes on from slot 0's prompt. */
async function decodeAll(engine: EngineInstance, tokens: number): Promise<void> {
  await engine.copy(0, slotsOf(engine.slots).slice(1))
  for (let k = 0; k < tokens; k++) {
    const drawn = await engine.sample(evenDraws(engine.slots), PLAIN)
    await engine.decode(drawn.map(({ id }, slot) => ({ slot, id })))
  }
}

async function trainOnce(engine: EngineInstance, ids: readonly number[], { sequences, tokens }: { sequences: number; tokens: number }): Promise<void> {
  const batch = trainingBatch(sequences, ids.slice(0, tokens), engine.info.vocabSize)
  await engine.accumulate(batch, { temperature: 1 }, slopes)
  await engine.optimizerStep(ADAM)
}

/** Doubles the context until the GPU refuses the KV cache's buffers, or the model or `most` ends; 0 when even 1024 tokens do not fit. */
async function findContext(gpu: GPUDevice, config: ModelConfig, slots: number, most: number): Promise<number> {
  let fits = 0
  for (let context = 1024; context <= Math.min(most, config.max_position_embeddings); context *= 2) {
    const row = config.num_key_value_heads * config.head_dim * context * 4
    if (slots * row > Math.min(gpu.limits.maxBufferSize, gpu.limits.maxStorageBufferBindingSize)) break
    gpu.pushErrorScope('out-of-memory')
    gpu.pushErrorScope('validation')
    // GPUBufferUsage: STORAGE | COPY_SRC | COPY_DST
    const made = Array.from({ length: 2 * config.num_hidden_layers }, () => [slots, 1].map((rows) => gpu.createBuffer({ size: rows * row, usage: 0x80 | 0x4 | 0x8 }))).flat()
    const errors = [await gpu.popErrorScope(), await gpu.popErrorScope()]
    for (const buffer of made) buffer.destroy()
    await gpu.queue.onSubmittedWorkDone()
    if (errors.some((error) => error !== null)) break
    fits = context
  }
  return fits
}
