/** Trained tensors on the device: one flat vector for the optimizer, and the single tensors that the graphs read. */

import { trainedBlockTensors } from '../artifacts/blocks'
import { CHUNK } from '../artifacts/optimizer'
import type { ArtifactSpec } from '../artifacts/spec'
import type { LoraConfig } from '../core/config'
import type { NamedTensor } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import { RandomStream } from '../core/random'
import { layerTensor, peftTensor } from '../core/linear-layers'
import { elements, outerParameters } from '../model/parameters'
import type { Cell, Copy, Device, DeviceTensor } from './device'
import type { DeviceWeights } from './weights'

export interface Entry {
  /** PEFT's name, or the safetensors name in full-parameter training. */
  name: string
  /** −1 outside the layers. */
  layer: number
  /** Name inside the block graph, or the safetensors name outside. */
  key: string
  dims: number[]
  offset: number
  size: number
}

/** Where each trained tensor lies in the flat vector. */
export function layoutOf(spec: ArtifactSpec): Entry[] {
  const entries: Entry[] = []
  let offset = 0
  const push = (name: string, layer: number, key: string, dims: number[]): void => {
    entries.push({ name, layer, key, dims, offset, size: elements(dims) })
    offset += elements(dims)
  }
  if (!spec.lora) for (const { name, dims } of outerParameters(spec.config)) push(name, -1, name, dims)
  for (let layer = 0; layer < spec.config.num_hidden_layers; layer++) {
    for (const { name, dims } of trainedBlockTensors(spec)) {
      push(spec.lora ? peftTensor(layer, name) : layerTensor(layer, name), layer, name, dims)
    }
  }
  return entries
}

/** A fresh LoRA as PEFT makes it: A uniform in ±1/√in (kaiming with a = √5), B zero, so the model starts unchanged. */
export function freshLora(layout: readonly Entry[], seed: number): Float32Array {
  const total = layout.reduce((n, entry) => n + entry.size, 0)
  const out = new Float32Array(total)
  layout.forEach((entry, i) => {
    if (!entry.key.endsWith('lora_A')) return
    const bound = 1 / Math.sqrt(entry.dims[1] as number)
    const random = new RandomStream(seed, 0x10fa, i)
    for (let k = 0; k < entry.size; k++) out[entry.offset + k] = (2 * random.next() - 1) * bound
  })
  return out
}

export class Parameters {
  readonly layout: Entry[]
  /** Trained numbers, without the padding. */
  readonly total: number
  /** Elements of the flat vectors: total, padded to whole chunks. */
  private readonly padded: number
  readonly flat: Cell
  readonly m: Cell
  readonly v: Cell
  /** Accumulated gradient, and the part that one micro-batch writes. */
  readonly sum: Cell
  readonly part: DeviceTensor
  private readonly tensors: DeviceTensor[]
  /** Places in the layout of each layer's tensors: every decoded token asks for all layers. */
  private readonly byLayer: number[][] = []
  private noAdapter: readonly DeviceTensor[] | null = null
  /** How often the trained values were replaced. */
  changes = 0

  constructor(
    private readonly device: Device,
    readonly spec: ArtifactSpec,
    private readonly lora: LoraConfig | null,
    weights: DeviceWeights,
    initial: Float32Array,
  ) {
    this.layout = layoutOf(spec)
    this.layout.forEach(({ layer }, i) => {
      if (layer >= 0) (this.byLayer[layer] ??= []).push(i)
    })
    this.total = this.layout.reduce((n, entry) => n + entry.size, 0)
    this.padded = Math.ceil(this.total / CHUNK) * CHUNK
    const zeros = (): Cell => ({ value: device.zeros([this.padded]) })
    this.flat = zeros()
    device.write(this.flat.value, 0, initial)
    this.m = zeros()
    this.v = zeros()
    this.sum = zeros()
    this.part = device.zeros([this.padded])
    // In full-parameter training the base tensors themselves are the trained ones.
    this.tensors = this.layout.map(({ name, dims }) => (lora ? device.zeros(dims) : (weights.byName.get(name) as DeviceTensor)))
    this.distribute()
  }

  /** Copies the flat vector into the single tensors: the sampler and the trainer then see the new weights. */
  distribute(): void {
    this.changes++
    this.device.copy(this.layout.map((entry, i) => this.into(entry, this.flat.value, this.tensors[i] as DeviceTensor)))
  }

  /** Trained tensors of one layer by their graph names; empty in full-parameter training, where the base holds them. */
  layerInputs(layer: number, tensors: readonly DeviceTensor[] = this.tensors): Record<string, DeviceTensor> {
    if (!this.lora) return {}
    return Object.fromEntries((this.byLayer[layer] ?? []).map((i) => [(this.layout[i] as Entry).key, tensors[i] as DeviceTensor]))
  }

  /** A frozen copy of the single tensors. The caller frees it. */
  copyTensors(): DeviceTensor[] {
    const out = this.layout.map(({ dims }) => this.device.zeros(dims))
    this.device.copy(this.layout.map((entry, i) => this.into(entry, this.flat.value, out[i] as DeviceTensor)))
    return out
  }

  /** No adapter at all: zeros, one tensor for each shape, made once. */
  zeroTensors(): readonly DeviceTensor[] {
    const byShape = new Map<string, DeviceTensor>()
    this.noAdapter ??= this.layout.map(({ dims }) => {
      const zero = byShape.get(dims.join()) ?? this.device.zeros(dims)
      byShape.set(dims.join(), zero)
      return zero
    })
    return this.noAdapter
  }

  /** Where a gradient goes in the part vector. */
  gradientCopy(entry: Entry, gradient: DeviceTensor): Copy {
    return { from: gradient, fromOffset: 0, to: this.part, toOffset: entry.offset, count: entry.size }
  }

  zeroGradients(): void {
    this.device.write(this.sum.value, 0, new Float32Array(this.padded))
  }

  async exportTensors(): Promise<NamedTensor[]> {
    const flat = await this.device.read(this.flat.value)
    return this.layout.map(({ name, dims, offset, size }) => ({ name, dims: [...dims], data: flat.slice(offset, offset + size) }))
  }

  /** AdamW's moments, each cut as exportTensors cuts the values. */
  async exportMoments(): Promise<{ m: Float32Array[]; v: Float32Array[] }> {
    const cut = async (cell: Cell): Promise<Float32Array[]> => {
      const flat = await this.device.read(cell.value)
      return this.layout.map(({ offset, size }) => flat.slice(offset, offset + size))
    }
    return { m: await cut(this.m), v: await cut(this.v) }
  }

  /**
   * Replaces all trained values, clears the gradient, and sets the moments (zero without `moments`, which are in `given`'s order).
   * Throws PlaygroundError('config') when a tensor is missing or has another shape.
   */
  importTensors(given: readonly NamedTensor[], moments?: { m: readonly Float32Array[]; v: readonly Float32Array[] }): void {
    const places = new Map(given.map(({ name }, i) => [name, i]))
    const flat = new Float32Array(this.total)
    const m = new Float32Array(this.total)
    const v = new Float32Array(this.total)
    for (const { name, dims, offset, size } of this.layout) {
      const i = places.get(name) ?? -1
      const tensor = given[i]
      if (!tensor || tensor.dims.join() !== dims.join()) {
        throw new PlaygroundError('config', `The adapter has ${tensor ? `${name} with shape [${tensor.dims.join(', ')}]` : `no ${name}`}; [${dims.join(', ')}] is needed.`, 'Use the same rank and target modules as the adapter.')
      }
      flat.set(tensor.data, offset)
      if (!moments) continue
      const [first, second] = [moments.m[i], moments.v[i]]
      if (first?.length !== size || second?.length !== size) {
        throw new PlaygroundError('config', `The checkpoint's optimizer state of ${name} is missing or has another size.`, 'Resume from another checkpoint, or start anew from the adapter.')
      }
      m.set(first, offset)
      v.set(second, offset)
    }
    this.load(flat, m, v)
  }

  /** Replaces all trained values and moments (zero unless given) and clears the gradient. */
  load(flat: Float32Array, m = new Float32Array(this.total), v = new Float32Array(this.total)): void {
    this.device.write(this.flat.value, 0, flat)
    this.device.write(this.m.value, 0, m)
    this.device.write(this.v.value, 0, v)
    this.device.write(this.sum.value, 0, new Float32Array(this.total))
    this.distribute()
  }

  private into(entry: Entry, from: DeviceTensor, to: DeviceTensor): Copy {
    return { from, fromOffset: entry.offset, to, toOffset: 0, count: entry.size }
  }
}
