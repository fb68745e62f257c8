/** Trains a model's layers by our own compute passes on WebGPU: 13 dispatches forward and 28 backward a layer, one submission a layer each. */

import { matrixName } from '../../model/parameters'
import { bitsOf } from '../../model/linear-weight'
import type { Copy, DeviceTensor } from '../device'
import type { LoadedModel, Scope } from '../model'
import { microBatchPlaces, type MicroBatch } from '../packing'
import { WebGpuDevice } from '../webgpu-device'
import type { BufferName } from './shader-text'
import { loraLayerSize, type Pass, trainingPasses } from './training-passes'
import { ATTENTION_TILE, kernelsFit, type RegionName, workBytes, type WorkLayout, workLayout } from './training-work'
import { gatherVectors, vectorLayout } from './vectors'

/** Bytes from one layer's uniform to the next. */
const STRIDE = 256

interface Step extends Pass {
  pipeline: GPUComputePipeline
}

interface Steps {
  inside: Step[]
  last: Step
  backward: Step[]
}

type Binding = readonly [buffer: GPUBuffer, offset?: number, size?: number]

const known = new WeakMap<LoadedModel, Promise<TrainingKernels | null>>()

/**
 * The work of one micro-batch, kept by `scope`, or null where onnxruntime's block graphs run its layers. A model's kernels are compiled when
 * first asked for.
 */
export async function trainingWork(
  model: LoadedModel,
  scope: Scope,
  micro: MicroBatch,
  adapter: readonly DeviceTensor[] | undefined,
  trains: boolean,
): Promise<TrainingWork | null> {
  const made = known.get(model) ?? trainingKernels(model)
  known.set(model, made)
  // A lost GPU is said by whatever comes next.
  made.catch(() => known.delete(model))
  const kernels = await made
  return kernels?.takes(micro, trains) ? kernels.begin(scope, micro, adapter, trains) : null
}

/**
 * Kernels for a loaded model, or null where they cannot be used and onnxruntime's block graphs are: another device, all parameters trained,
 * odd widths, a GPU that binds too few buffers or refuses a shader.
 */
async function trainingKernels(model: LoadedModel): Promise<TrainingKernels | null> {
  const { device, spec } = model
  if (!(device instanceof WebGpuDevice) || !kernelsFit(spec)) return null
  const passes = trainingPasses(spec)
  const all = [...passes.inside, passes.last, ...passes.backward]
  const storage = (pass: Pass): number => pass.shader.uses.filter(({ name }) => name !== 'shape' && name !== 'layer').length
  if (Math.max(...all.map(storage)) > device.limits.maxStorageBuffersPerShaderStage) return null
  const made = await device.refusable(() => Promise.all(all.map(async (pass): Promise<Step> => ({ ...pass, pipeline: await device.pipeline(pass.shader.code) }))))
  if (!made) return null
  const inside = passes.inside.length
  return new TrainingKernels(model, device, { inside: made.slice(0, inside), last: made[inside] as Step, backward: made.slice(inside + 1) })
}

export class TrainingKernels {
  readonly layout: WorkLayout
  private readonly vectors: DeviceTensor
  private readonly layers: GPUBuffer
  private readonly shape: GPUBuffer

  constructor(
    readonly model: LoadedModel,
    readonly device: WebGpuDevice,
    readonly steps: Steps,
  ) {
    const { spec, weights } = model
    const { config, lora } = spec
    if (!lora) throw new Error('TrainingKernels: there is no LoRA.')
    this.layout = workLayout(config, lora)
    this.vectors = gatherVectors(device, weights, config)
    this.shape = device.uniform(16)
    const words = new Uint32Array((config.num_hidden_layers * STRIDE) / 4)
    for (let layer = 0; layer < config.num_hidden_layers; layer++) words.set([layer * vectorLayout(config).size, layer * loraLayerSize(spec)], (layer * STRIDE) / 4)
    this.layers = device.uniform(words.byteLength, words)
  }

  /** Whether a micro-batch's shape suits the kernels, and the GPU binds so large a work. */
  takes({ batch, tokens }: Pick<MicroBatch, 'batch' | 'tokens'>, trains: boolean): boolean {
    const { limits } = this.device
    const largest = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize)
    const { work } = workBytes(this.layout, batch * tokens, trains)
    return tokens % ATTENTION_TILE === 0 && work <= largest && batch * tokens <= limits.maxComputeWorkgroupsPerDimension
  }

  /** The work of one micro-batch, kept by `scope`. `adapter`: the LoRA's tensors; the trained ones unless given. */
  begin(scope: Scope, micro: MicroBatch, adapter: readonly DeviceTensor[] | undefined, trains: boolean): TrainingWork {
    const { device, model, layout } = this
    const withLora = adapter === undefined || adapter !== model.parameters.zeroTensors()
    const rows = micro.batch * micro.tokens
    const lora = adapter && withLora ? scope.keep(this.flatten(adapter)) : model.parameters.flat.value
    const places = scope.keep(device.zeros([2 * rows]))
    const work = scope.keep(device.zeros([rows * (trains ? layout.all : layout.forward)]))
    device.write(places, 0, new Uint8Array(microBatchPlaces(micro).buffer))
    const buffers = { work, places, lora, vectors: this.vectors, gradient: model.parameters.part }
    return new TrainingWork(this, scope, rows, micro.tokens, withLora, buffers, { shape: this.shape, layer: this.layers })
  }

  /** Single tensors as one flat vector. */
  private flatten(tensors: readonly DeviceTensor[]): DeviceTensor {
    const { device, model } = this
    const { layout, flat } = model.parameters
    const to = device.zeros(flat.value.dims)
    device.copy(layout.map(({ offset, size }, i): Copy => ({ from: tensors[i] as DeviceTensor, fromOffset: 0, to, toOffset: offset, count: size })))
    return to
  }
}

type Tensors = Record<'work' | 'places' | 'lora' | 'vectors' | 'gradient', DeviceTensor>

/** One micro-batch on its way through the layers. */
export class TrainingWork {
  private readonly groups = new Map<Step, GPUBindGroup[]>()

  constructor(
    private readonly kernels: TrainingKernels,
    private readonly scope: Scope,
    private readonly rows: number,
    private readonly tokens: number,
    private readonly withLora: boolean,
    private readonly tensors: Tensors,
    private readonly uniforms: { shape: GPUBuffer; layer: GPUBuffer },
  ) {}

  get layers(): number {
    return this.kernels.model.spec.config.num_hidden_layers
  }

  /** All layers over x, which is the first state; the others are appended to `states`. */
  async forward(states: DeviceTensor[]): Promise<void> {
    const { kernels, rows, scope } = this
    const { hidden_size: hidden } = kernels.model.spec.config
    const { inside, last } = kernels.steps
    await this.put(states[0] as DeviceTensor, 'x')
    for (let layer = 0; layer < this.layers; layer++) {
      const y = scope.keep(kernels.device.zeros([rows, hidden]))
      // The layer's result stands where the next one's input does.
      await this.submit(layer, [...inside, last], { before: null, after: y })
      states.push(y)
    }
  }

  /** All layers backward from dy, each from its state: writes every gradient of the LoRA into the part vector. */
  async backward(states: readonly DeviceTensor[], dy: DeviceTensor): Promise<void> {
    const { inside, backward } = this.kernels.steps
    await this.put(dy, 'dy')
    for (let layer = this.layers - 1; layer >= 0; layer--) {
      await this.submit(layer, [...inside, ...backward], { before: states[layer] as DeviceTensor, after: null })
    }
  }

  /** Copies [rows, hidden] into a region of the work. */
  private put(tensor: DeviceTensor, region: RegionName): Promise<void> {
    return this.kernels.device.compute((gpu) => {
      // Here too, because it comes before every pass of this micro-batch.
      gpu.queue.writeBuffer(this.uniforms.shape, 0, Uint32Array.of(this.rows, this.tokens, this.withLora ? 1 : 0, 0))
      const encoder = gpu.createCommandEncoder()
      this.copy(encoder, tensor, region, 'in')
      gpu.queue.submit([encoder.finish()])
    })
  }

  private copy(encoder: GPUCommandEncoder, tensor: DeviceTensor, region: RegionName, way: 'in' | 'out'): void {
    const { device, layout } = this.kernels
    const { prefix, stride } = layout.regions[region]
    const [outer, work] = [device.bufferOf(tensor), device.bufferOf(this.tensors.work)]
    const [at, bytes] = [this.rows * prefix * 4, this.rows * stride * 4]
    if (way === 'in') encoder.copyBufferToBuffer(outer, 0, work, at, bytes)
    else encoder.copyBufferToBuffer(work, at, outer, 0, bytes)
  }

  /** One layer's passes in one submission; `before` is copied into x, x into `after`. */
  private submit(layer: number, steps: readonly Step[], { before, after }: { before: DeviceTensor | null; after: DeviceTensor | null }): Promise<void> {
    return this.kernels.device.compute((gpu) => {
      const encoder = gpu.createCommandEncoder()
      if (before) this.copy(encoder, before, 'x', 'in')
      const pass = encoder.beginComputePass()
      for (const step of steps) {
        if (step.loraOnly && !this.withLora) continue
        pass.setPipeline(step.pipeline)
        pass.setBindGroup(0, this.bindGroup(gpu, step, layer))
        pass.dispatchWorkgroups(...step.groups(this.rows))
      }
      pass.end()
      if (after) this.copy(encoder, after, 'x', 'out')
      gpu.queue.submit([encoder.finish()])
    })
  }

  private bindGroup(gpu: GPUDevice, step: Step, layer: number): GPUBindGroup {
    const made = this.groups.get(step) ?? []
    this.groups.set(step, made)
    return (made[layer] ??= gpu.createBindGroup({
      layout: step.pipeline.getBindGroupLayout(0),
      entries: step.shader.uses.map(({ name, binding }) => {
        const [buffer, offset, size] = this.bufferFor(name, step, layer)
        return { binding, resource: { buffer, ...(offset !== undefined && { offset }), ...(size !== undefined && { size }) } }
      }),
    }))
  }

  private bufferFor(name: BufferName, { targets }: Step, layer: number): Binding {
    const { device, model } = this.kernels
    const { cos, sin } = model.rope.atLeast(Math.max(this.tokens, model.contextLength))
    switch (name) {
      case 'shape':
        return [this.uniforms.shape]
      case 'layer':
        return [this.uniforms.layer, layer * STRIDE, 16]
      case 'cosine':
        return [device.bufferOf(cos)]
      case 'sine':
        return [device.bufferOf(sin)]
      case 'matrix0':
      case 'matrix1':
      case 'matrix2':
        return [this.matrix(layer, targets, name, '')]
      case 'scales0':
      case 'scales1':
      case 'scales2':
        return [this.matrix(layer, targets, name, '.scales')]
      default:
        return [device.bufferOf(this.tensors[name])]
    }
  }

  private matrix(layer: number, targets: Step['targets'], name: BufferName, suffix: string): GPUBuffer {
    const { device, model } = this.kernels
    const target = targets[Number(name.at(-1))]
    const tensor = target && model.weights.blocks[layer]?.[matrixName(target) + suffix]
    if (!tensor) throw new Error(`TrainingKernels: layer ${layer} has no ${name} (${bitsOf(model.spec.precision) ?? 32} bits).`)
    return device.bufferOf(tensor)
  }
}
