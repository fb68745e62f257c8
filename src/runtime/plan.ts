/**
 * What a model needs of a GPU, before it is loaded: the engine's own tensors counted from their shapes, onnxruntime's working memory
 * by running the artifacts' turns through a simulated buffer pool, for the worst that sampling and training do.
 */

import type { LoraConfig, Precision } from '../core/config'
import type { MemoryPlan } from '../core/plan'
import { buildArtifact } from '../artifacts/build'
import { CHUNK } from '../artifacts/optimizer'
import { type ArtifactName, type ArtifactSpec, headInParts } from '../artifacts/spec'
import type { Graph } from '../graph/graph'
import { turnsOf } from '../graph/liveness'
import { quantizedShapes } from '../graph/ops/quantized'
import type { ModelConfig } from '../model/config'
import { bitsOf } from '../model/linear-weight'
import { elements, isMatrix } from '../model/parameters'
import { BufferPool } from './buffer-pool'
import { bufferBytes } from './device'
import { DEVICE_PREFILL } from './device-cache'
import { HEAD_LIMITS, planHead } from './head'
import { kernelsFit, workBytes, workLayout } from './kernels/training-work'
import { type Entry, layoutOf } from './parameters'
import { baseTensors } from './weights'

export interface PlanOptions {
  config: ModelConfig
  lora: LoraConfig | null
  precision: Precision
  slots: number
  contextLength: number
  microBatchTokens: number
  /** Tokens of the longest training row. Unless given, the longest there can be: a row fills the micro-batch, or one sequence the context. */
  rowTokens?: number
  /** Most bytes that the GPU binds as one buffer, unless given any number: with larger work onnxruntime's graphs train, as they do where it is 0. */
  largestBinding?: number
}

/** What decides the tensors that stay: training is no part of it. */
type StandingOptions = Omit<PlanOptions, 'microBatchTokens' | 'rowTokens' | 'largestBinding'>

const FLOAT = 4

/** Bytes of the base's tensors on the device. */
export function weightBytes(config: ModelConfig, precision: Precision): number {
  const bits = bitsOf(precision)
  return baseTensors(config).reduce((sum, { name, dims }) => {
    if (bits === null || !isMatrix(name)) return sum + bufferBytes(elements(dims) * FLOAT)
    const shapes = quantizedShapes(dims as [number, number], bits)
    return sum + bufferBytes(elements(shapes.packed)) + bufferBytes(elements(shapes.scales) * FLOAT)
  }, 0)
}

/** Numbers of the flat vectors, padding included. */
const flatSize = (layout: readonly Entry[]): number => Math.ceil(layout.reduce((n, { size }) => n + size, 0) / CHUNK) * CHUNK

/** Bytes of the LoRA: the flat vector, its gradient and a micro-batch's part, both moments, and the tensors that the graphs read. */
export function adapterBytes(spec: ArtifactSpec): number {
  const layout = layoutOf(spec)
  return 5 * flatSize(layout) * FLOAT + layout.reduce((n, { size }) => n + bufferBytes(size * FLOAT), 0)
}

/** Bytes of the KV cache of all slots, the row that prompts are read into included. */
export function kvCacheBytes(config: ModelConfig, slots: number, contextLength: number): number {
  const row = config.num_key_value_heads * contextLength * config.head_dim * FLOAT
  return 2 * config.num_hidden_layers * (bufferBytes(slots * row) + bufferBytes(row))
}

class Simulation {
  readonly pool = new BufferPool()
  /** Graphs that were built: every layer runs the same two. */
  private readonly graphs = new Map<ArtifactName, Graph>()
  /** Our own buffers. */
  own = 0
  /** Largest of those of training. */
  largestHeld = 0
  peak = 0

  constructor(private readonly spec: ArtifactSpec) {}

  hold(bytes: number): void {
    this.own += bytes
    this.mark()
  }

  /** Runs an artifact; its outputs stay, by name and pool size, until they are given back. `aliased` outputs are the caller's buffers. */
  run(name: ArtifactName, dims: Readonly<Record<string, number>>, hostBytes = 0, aliased: (output: string) => boolean = () => false): number[] {
    const graph = this.graphs.get(name) ?? buildArtifact(this.spec, name)
    this.graphs.set(name, graph)
    return this.runGraph(graph, dims, hostBytes, aliased)
  }

  runGraph(graph: Graph, dims: Readonly<Record<string, number>>, hostBytes: number, aliased: (output: string) => boolean): number[] {
    const names = new Map(graph.outputs.map(({ name, value }) => [value.name, name]))
    const sizes = new Map<string, number>()
    // Inputs that come from the host pass through the pool too.
    const uploaded = hostBytes > 0 ? this.pool.take(hostBytes) : 0
    for (const { made, freed } of turnsOf(graph, dims)) {
      for (const { name, bytes } of made) {
        const output = names.get(name)
        if (output === undefined || !aliased(output)) sizes.set(name, this.pool.take(bytes))
      }
      this.mark()
      if (made.length > 0) this.pool.dispatch()
      for (const name of freed) {
        const size = sizes.get(name)
        if (size !== undefined) this.pool.give(size)
        sizes.delete(name)
      }
    }
    if (uploaded > 0) this.pool.give(uploaded)
    this.pool.flush()
    return [...sizes.values()]
  }

  give(sizes: readonly number[]): void {
    for (const size of sizes) this.pool.give(size)
    this.pool.flush()
  }

  private mark(): void {
    this.peak = Math.max(this.peak, this.own + this.pool.total)
  }
}

/** What lies on the device throughout, without any working memory: a lower bound of `planMemory` that takes no time. */
export function leastMemory(options: StandingOptions): MemoryPlan {
  const { config, lora, precision, slots, contextLength } = options
  const [weights, adapter, kvCache] = [weightBytes(config, precision), adapterBytes({ config, lora, precision }), kvCacheBytes(config, slots, contextLength)]
  const largestBuffer = largestOwn(options)
  return { weights, adapter, kvCache, sampling: 0, training: 0, peak: weights + adapter + kvCache, largestBuffer }
}

/** The plan for WebGPU. WASM keeps the same tensors in the page's own memory. */
export function planMemory(options: PlanOptions): MemoryPlan {
  const { config, lora, precision, slots, contextLength, microBatchTokens } = options
  const spec: ArtifactSpec = { config, lora, precision }
  const [weights, adapter, kvCache] = [weightBytes(config, precision), adapterBytes(spec), kvCacheBytes(config, slots, contextLength)]
  const hidden = config.hidden_size * FLOAT
  const rope = 2 * Math.ceil(Math.max(contextLength, microBatchTokens) / 256) * 256 * (config.head_dim / 2) * FLOAT
  const simulation = new Simulation(spec)
  simulation.hold(weights + adapter + rope + slots * hidden)

  simulation.hold(kvCache)
  const beforeSampling = simulation.pool.total
  sample(simulation, slots, contextLength)
  const sampling = simulation.pool.total - beforeSampling
  simulation.own -= kvCache
  const samplingPeak = simulation.peak

  simulation.peak = 0
  const idle = simulation.own + simulation.pool.total
  train(simulation, options)
  const training = simulation.peak - idle
  return {
    weights,
    adapter,
    kvCache,
    sampling,
    training,
    peak: Math.max(samplingPeak, simulation.peak),
    largestBuffer: Math.max(simulation.pool.largest, simulation.largestHeld, largestOwn(options)),
  }
}

function sample(simulation: Simulation, slots: number, contextLength: number): void {
  const present = (output: string): boolean => output.startsWith('present.')
  const dims = { slots, capacity: contextLength, positions: contextLength, rows: slots }
  const piece = Math.min(DEVICE_PREFILL, contextLength)
  const x = simulation.run('embed', { rows: piece })
  simulation.give([...simulation.run('prefill', { ...dims, tokens: piece }, 0, present), ...x])
  const token = simulation.run('embed', { rows: slots })
  simulation.give([...simulation.run('decode', dims, 0, present), ...token])
  for (const name of ['head_sample', 'head_sample_filtered'] as const) simulation.give(simulation.run(name, dims))
}

/** Bytes of our training kernels for so many tokens: their work, places, and each layer's result; null where onnxruntime's graphs train. */
function kernelBuffers(spec: ArtifactSpec, rows: number, largestBinding: number): number[] | null {
  const { config, lora } = spec
  if (!lora || !kernelsFit(spec)) return null
  const { work, places } = workBytes(workLayout(config, lora), rows, true)
  if (work > largestBinding) return null
  return [work, places, ...new Array<number>(config.num_hidden_layers).fill(bufferBytes(rows * config.hidden_size * FLOAT))]
}

function train(simulation: Simulation, { config, lora, precision, contextLength, microBatchTokens, rowTokens, largestBinding = Infinity }: PlanOptions): void {
  const spec: ArtifactSpec = { config, lora, precision }
  const tokens = rowTokens ?? Math.max(microBatchTokens, contextLength)
  const batch = Math.max(1, Math.floor(microBatchTokens / tokens))
  const size = [8, 4, 2, 1].find((n) => n <= batch) ?? 1
  const all = size * tokens
  const dims = { tokens, positions: Math.max(contextLength, tokens), rows: all, all }
  const states: number[] = [...simulation.run('embed', { rows: all })]
  const kernels = kernelBuffers(spec, all, largestBinding)
  const held = kernels ?? [bufferBytes(size * tokens * tokens * FLOAT)]
  for (const bytes of held) simulation.hold(bytes)
  simulation.largestHeld = Math.max(...held)
  // Our kernels run all layers in buffers of their own.
  const layers = kernels ? 0 : config.num_hidden_layers
  for (let layer = 0; layer < layers; layer++) states.push(...simulation.run(`block_forward_${size}`, dims))

  const plan = planHead({ spec, headLimits: HEAD_LIMITS }, all)
  const rows = Math.min(plan.rows, all)
  const headDims = { rows, all, part: plan.part }
  const inputs = rows * FLOAT
  simulation.give(simulation.run(headInParts(spec) ? 'head_forward_part' : 'head_forward', headDims, inputs))
  const dx = bufferBytes(all * config.hidden_size * FLOAT)
  simulation.hold(dx)
  if (headInParts(spec)) {
    let acc = simulation.run('head_backward_start', headDims, inputs)
    for (let k = 0; k < 2; k++) {
      const next = simulation.run('head_backward_part', headDims, inputs)
      simulation.give(acc)
      acc = next
    }
    states.push(...acc, ...simulation.run('head_backward_end', headDims, all * FLOAT))
  } else states.push(...simulation.run('head_backward', headDims, all * FLOAT))
  // Every layer's gradients stay until the micro-batch ends.
  for (let layer = 0; layer < layers; layer++) states.push(...simulation.run(`block_backward_${size}`, dims))
  simulation.give(states)
  simulation.own -= held.reduce((sum, bytes) => sum + bytes, dx)

  const parameters = flatSize(layoutOf(spec))
  // The sum, the vector and its moments were ours and are onnxruntime's from the first step on.
  simulation.run('accumulate', { parameters })
  simulation.own -= parameters * FLOAT
  simulation.give(simulation.run('grad_norm', { chunks: parameters / CHUNK }))
  simulation.run('adamw', { parameters })
  simulation.own -= 3 * parameters * FLOAT
}

function largestOwn({ config, precision, lora, slots, contextLength }: StandingOptions): number {
  const bits = bitsOf(precision)
  const table = config.vocab_size * config.hidden_size
  const parameters = layoutOf({ config, lora, precision }).reduce((n, { size }) => n + size, 0)
  return Math.max(bits === null ? table * FLOAT : (table * bits) / 8, slots * config.num_key_value_heads * contextLength * config.head_dim * FLOAT, parameters * FLOAT)
}
