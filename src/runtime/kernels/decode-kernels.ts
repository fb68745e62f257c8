/** Decodes one token in several slots by our own compute passes on WebGPU: nine dispatches a layer, five without a LoRA, one submission a token. */

import { loraScale, type LoraTarget } from '../../core/config'
import { linearDims, modulePath } from '../../core/linear-layers'
import { bitsOf } from '../../model/linear-weight'
import { blockParameters, isMatrix, matrixName } from '../../model/parameters'
import type { DeviceTensor } from '../device'
import type { LoadedModel } from '../model'
import { WebGpuDevice } from '../webgpu-device'
import { attentionShader, type AttentionShape, BLOCK_COLUMNS, fitsRegisters, MOST_ROWS, NONE, projectionGroups, projectionShader, type ProjectionShape, ROW_TILE } from './decode-shaders'
import { gatherVectors, vectorLayout, type VectorLayout } from './vectors'

/** One layer's cache, [slots, kv, capacity, dim]. */
interface LayerCache {
  key: { value: DeviceTensor }
  value: { value: DeviceTensor }
}

/** Projections that read the same input: one product with all their matrices. */
const GROUPS = [
  { name: 'qkv', targets: ['q_proj', 'k_proj', 'v_proj'], norm: 'input_layernorm.weight' },
  { name: 'o', targets: ['o_proj'], norm: null },
  { name: 'gate_up', targets: ['gate_proj', 'up_proj'], norm: 'post_attention_layernorm.weight' },
  { name: 'down', targets: ['down_proj'], norm: null },
] as const satisfies readonly { name: string; targets: readonly LoraTarget[]; norm: string | null }[]
type GroupName = (typeof GROUPS)[number]['name']

/** Words of a layer's uniform, three vectors of four, and the bytes from one to the next. */
const WORDS = 12
const STRIDE = 256

interface Step {
  pipeline: GPUComputePipeline
  /** Workgroups along x, and work rows that one of them serves. */
  x: number
  rows: number
  /** Buffers by binding, those of a layer. */
  buffers(layer: number): readonly (readonly [binding: number, buffer: GPUBuffer, offset?: number, size?: number])[]
}

/** Where each part of a work row lies: the part of all rows stands together. */
type Places = Record<'x' | 'middle' | 'qkv' | 'mixed' | 'gated' | 'low', { offset: number; stride: number }>

/**
 * Kernels for a loaded model, or null where they cannot be used and onnxruntime's decode graph is: another device, all parameters trained,
 * widths that are no whole blocks of 32, a GPU that binds too few buffers or refuses a shader.
 */
export async function decodeKernels(model: LoadedModel, slots: number): Promise<DecodeKernels | null> {
  const { device, spec } = model
  const { config, lora, precision } = spec
  if (!(device instanceof WebGpuDevice) || !lora || slots > MOST_ROWS || config.head_dim % 2 !== 0) return null
  const matrices = blockParameters(config).filter(({ name }) => isMatrix(name))
  if (!matrices.every(({ dims }) => (dims[1] as number) % BLOCK_COLUMNS === 0)) return null
  if (!fitsRegisters({ heads: config.num_attention_heads, kv: config.num_key_value_heads, dim: config.head_dim })) return null
  // Work, vectors, LoRA, and three matrices, each with its scales where it is codes.
  const bound = bitsOf(precision) === null ? 6 : 9
  if (device.limits.maxStorageBuffersPerShaderStage < bound) return null
  const kernels = new DecodeKernels(model, device, slots)
  return (await kernels.compile()) ? kernels : null
}

export class DecodeKernels {
  private readonly places: Places
  private readonly work: DeviceTensor
  private readonly vectors: DeviceTensor
  private readonly vectorsOf: VectorLayout
  private readonly rows: GPUBuffer
  private steps: { withLora: Step[]; without: Step[] } = { withLora: [], without: [] }
  /** Bind groups by step and layer, for the buffers that they were made of. */
  private bound: { of: readonly GPUBuffer[]; groups: GPUBindGroup[][] } | null = null
  private cache: readonly LayerCache[] = []

  constructor(
    private readonly model: LoadedModel,
    private readonly device: WebGpuDevice,
    private readonly slots: number,
  ) {
    const { config, lora } = model.spec
    const { hidden_size: hidden, num_attention_heads: heads, num_key_value_heads: kv, head_dim: dim, intermediate_size: inner } = config
    const strides = { x: hidden, middle: hidden, qkv: (heads + 2 * kv) * dim, mixed: heads * dim, gated: inner, low: 3 * (lora?.r ?? 0) }
    let offset = 0
    const placed = Object.entries(strides).map(([name, stride]) => {
      const place = [name, { offset, stride }] as const
      offset += slots * stride
      return place
    })
    this.places = Object.fromEntries(placed) as Places
    this.work = device.zeros([offset])
    this.vectors = gatherVectors(device, model.weights, config)
    this.vectorsOf = vectorLayout(config)
    this.rows = device.uniform(16 * (MOST_ROWS + 1))
  }

  /** Whether the GPU took every shader. */
  async compile(): Promise<boolean> {
    const steps = await this.device.refusable(async () => ({ withLora: await this.makeSteps(true), without: await this.makeSteps(false) }))
    if (steps) this.steps = steps
    else this.device.free(this.work, this.vectors)
    return steps !== null
  }

  /**
   * Appends one token, x [slots, hidden], to each of `slots`, which hold `lengths` tokens, and writes its key and value into the cache.
   * `lora`: whether the LoRA takes part. Returns y [all slots, hidden], which the caller frees; rows of other slots are zero.
   */
  async decode(x: DeviceTensor, slots: readonly number[], lengths: readonly number[], cache: readonly LayerCache[], lora: boolean): Promise<DeviceTensor> {
    const { device, places, model } = this
    const { hidden_size: hidden, num_hidden_layers: layers } = model.spec.config
    const steps = lora ? this.steps.withLora : this.steps.without
    const y = device.zeros([this.slots, hidden])
    await device.compute((gpu) => {
      const rows = new Uint32Array(4 * (slots.length + 1))
      rows[0] = slots.length
      slots.forEach((slot, i) => rows.set([slot, lengths[i] as number], 4 * (i + 1)))
      gpu.queue.writeBuffer(this.rows, 0, rows)
      this.cache = cache
      const groups = this.bindGroups(gpu, steps)
      const encoder = gpu.createCommandEncoder()
      const [from, work, to] = [x, this.work, y].map((tensor) => device.bufferOf(tensor)) as [GPUBuffer, GPUBuffer, GPUBuffer]
      const at = (i: number): number => (places.x.offset + i * hidden) * 4
      slots.forEach((slot, i) => encoder.copyBufferToBuffer(from, slot * hidden * 4, work, at(i), hidden * 4))
      const pass = encoder.beginComputePass()
      for (let layer = 0; layer < layers; layer++) {
        steps.forEach(({ pipeline, x: across, rows: tile }, i) => {
          pass.setPipeline(pipeline)
          pass.setBindGroup(0, (groups[i] as GPUBindGroup[])[layer] as GPUBindGroup)
          pass.dispatchWorkgroups(across, Math.ceil(slots.length / tile))
        })
      }
      pass.end()
      slots.forEach((slot, i) => encoder.copyBufferToBuffer(work, at(i), to, slot * hidden * 4, hidden * 4))
      gpu.queue.submit([encoder.finish()])
    })
    return y
  }

  private async makeSteps(withLora: boolean): Promise<Step[]> {
    const { places } = this
    const { hidden_size: hidden } = this.model.spec.config
    const io: Record<GroupName, { input: Places['x']; output: Places['x']; residual: number | null }> = {
      qkv: { input: places.x, output: places.qkv, residual: null },
      o: { input: places.mixed, output: places.middle, residual: places.x.offset },
      gate_up: { input: places.middle, output: places.gated, residual: null },
      down: { input: places.gated, output: { offset: places.x.offset, stride: hidden }, residual: places.middle.offset },
    }
    const steps: Step[] = []
    for (const group of GROUPS) {
      if (withLora) steps.push(await this.projection(group, io[group.name], 'low', withLora))
      steps.push(await this.projection(group, io[group.name], 'whole', withLora))
      if (group.name === 'qkv') steps.push(await this.attention())
    }
    return steps
  }

  /** 'low': the LoRA's A of a group into work; 'whole': its matrices, with B of that where the LoRA takes part. */
  private async projection(
    { targets, norm, name }: (typeof GROUPS)[number],
    { input, output, residual }: { input: Places['x']; output: Places['x']; residual: number | null },
    part: 'low' | 'whole',
    withLora: boolean,
  ): Promise<Step> {
    const { config, lora, precision } = this.model.spec
    if (!lora) throw new Error('DecodeKernels: there is no LoRA.')
    const bits = bitsOf(precision)
    const outputs = targets.map((target) => linearDims(config, target)[0])
    const shape: ProjectionShape = {
      input,
      columns: linearDims(config, targets[0])[1],
      outputs: part === 'low' ? targets.map(() => lora.r) : outputs,
      output: part === 'low' ? this.places.low : output,
      normEpsilon: norm ? config.rms_norm_eps : null,
      residual: part === 'low' ? null : residual,
      gated: part === 'whole' && name === 'gate_up',
      lora: part === 'whole' && withLora ? { rank: lora.r, scale: loraScale(lora), t: this.places.low } : null,
      weights: part === 'low' ? 'lora' : (bits ?? 32),
    }
    const pipeline = await this.device.pipeline(projectionShader(shape))
    const uniform = this.layerUniforms((layer) => {
      const vector = (tensor: string): number => this.vectorOffset(layer, tensor)
      const adapter = (target: LoraTarget, matrix: 'A' | 'B'): number => this.loraOffset(layer, `${modulePath(target)}.lora_${matrix}`)
      const three = (of: (target: LoraTarget) => number): number[] => [0, 1, 2].map((i) => (targets[i] ? of(targets[i]) : NONE))
      return [norm ? vector(norm) : NONE, ...three((target) => vector(`${modulePath(target)}.bias`)), ...three((target) => adapter(target, 'B')), NONE, ...three((target) => adapter(target, 'A')), NONE]
    })
    const matrices = (layer: number): (readonly [number, GPUBuffer])[] =>
      part === 'low'
        ? []
        : targets.flatMap((target, m) => {
            const block = this.model.weights.blocks[layer] as Record<string, DeviceTensor>
            const codes = [5 + 2 * m, this.device.bufferOf(block[matrixName(target)] as DeviceTensor)] as const
            return bits === null ? [codes] : [codes, [6 + 2 * m, this.device.bufferOf(block[`${matrixName(target)}.scales`] as DeviceTensor)] as const]
          })
    return {
      pipeline,
      x: projectionGroups(shape),
      rows: ROW_TILE,
      buffers: (layer) => [
        [0, this.device.bufferOf(this.work)],
        ...(norm !== null || part === 'whole' ? [[1, this.device.bufferOf(this.vectors)] as const] : []),
        [2, uniform, layer * STRIDE, WORDS * 4],
        [3, this.rows],
        ...(withLora ? [[4, this.device.bufferOf(this.model.parameters.flat.value)] as const] : []),
        ...matrices(layer),
      ],
    }
  }

  private async attention(): Promise<Step> {
    const { config } = this.model.spec
    const { num_attention_heads: heads, num_key_value_heads: kv, head_dim: dim } = config
    const normEpsilon = config.qk_norm ? config.rms_norm_eps : null
    const shape: AttentionShape = { heads, kv, dim, capacity: this.model.contextLength, qkv: this.places.qkv, output: this.places.mixed, normEpsilon }
    const pipeline = await this.device.pipeline(attentionShader(shape))
    const uniform = this.layerUniforms((layer) => [NONE, this.vectorOffset(layer, 'self_attn.q_norm.weight'), this.vectorOffset(layer, 'self_attn.k_norm.weight')])
    const bufferOf = (tensor: DeviceTensor): GPUBuffer => this.device.bufferOf(tensor)
    return {
      pipeline,
      x: kv,
      rows: 1,
      buffers: (layer) => {
        const { key, value } = this.cache[layer] as LayerCache
        const { cos, sin } = this.model.rope.atLeast(this.model.contextLength)
        const norms = normEpsilon === null ? [] : ([[1, bufferOf(this.vectors)], [2, uniform, layer * STRIDE, WORDS * 4]] as const)
        return [[0, bufferOf(this.work)], ...norms, [3, this.rows], [5, bufferOf(key.value)], [6, bufferOf(value.value)], [7, bufferOf(cos)], [8, bufferOf(sin)]]
      },
    }
  }

  /** One buffer with what differs from layer to layer. */
  private layerUniforms(of: (layer: number) => readonly number[]): GPUBuffer {
    const layers = this.model.spec.config.num_hidden_layers
    const words = new Uint32Array((layers * STRIDE) / 4)
    for (let layer = 0; layer < layers; layer++) words.set(of(layer), (layer * STRIDE) / 4)
    return this.device.uniform(words.byteLength, words)
  }

  private vectorOffset(layer: number, name: string): number {
    const offset = this.vectorsOf.offsets.get(name)
    return offset === undefined ? NONE : layer * this.vectorsOf.size + offset
  }

  private loraOffset(layer: number, key: string): number {
    return this.model.parameters.layout.find((entry) => entry.layer === layer && entry.key === key)?.offset ?? NONE
  }

  /** Bind groups for the buffers as they are: an optimizer step swaps the LoRA's, training may take the cache's. */
  private bindGroups(gpu: GPUDevice, steps: readonly Step[]): GPUBindGroup[][] {
    const layers = this.model.spec.config.num_hidden_layers
    const { cos } = this.model.rope.atLeast(this.model.contextLength)
    const first = this.cache[0] as LayerCache
    const of = [...steps.map(({ buffers }) => buffers(0)[0]?.[1] as GPUBuffer), this.device.bufferOf(this.model.parameters.flat.value), this.device.bufferOf(first.key.value), this.device.bufferOf(cos)]
    if (this.bound && this.bound.of.length === of.length && this.bound.of.every((buffer, i) => buffer === of[i])) return this.bound.groups
    const groups = steps.map(({ pipeline, buffers }) =>
      Array.from({ length: layers }, (_, layer) =>
        gpu.createBindGroup({
          layout: pipeline.getBindGroupLayout(0),
          entries: buffers(layer).map(([binding, buffer, offset, size]) => ({ binding, resource: { buffer, ...(offset !== undefined && { offset }), ...(size !== undefined && { size }) } })),
        }),
      ),
    )
    this.bound = { of, groups }
    return groups
  }
}
