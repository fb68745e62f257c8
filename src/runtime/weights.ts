/** Base weights on the device, and as host arrays while they are baked into sampling graphs. */

import { PlaygroundError } from '../core/errors'
import type { WeightSource } from '../core/weights'
import type { FrozenWeights } from '../artifacts/build'
import type { ModelConfig } from '../model/config'
import { blockParameters, elements, layerTensor, outerParameters, type ParameterSpec } from '../model/parameters'
import type { Device, DeviceTensor } from './device'

/** Every base tensor by its safetensors name. */
export type HostWeights = ReadonlyMap<string, Float32Array>

/** Names and dims of all base tensors. */
export function baseTensors(config: ModelConfig): ParameterSpec[] {
  const blocks = Array.from({ length: config.num_hidden_layers }, (_, layer) =>
    blockParameters(config).map(({ name, dims }) => ({ name: layerTensor(layer, name), dims })),
  )
  return [...outerParameters(config), ...blocks.flat()]
}

/** Reads all tensors and checks their shapes. Throws PlaygroundError('model') naming the tensor that does not fit. */
export async function readWeights(source: WeightSource, config: ModelConfig): Promise<HostWeights> {
  const out = new Map<string, Float32Array>()
  const shapes = await source.tensors()
  const wanted = baseTensors(config)
  for (const { name, dims } of wanted) {
    const found = shapes.get(name)
    if (found && found.join() !== dims.join()) {
      throw new PlaygroundError(
        'model',
        `The weights hold ${name} with shape [${found.join(', ')}], config.json asks for [${dims.join(', ')}].`,
        'The weights and config.json belong to different models.',
      )
    }
    out.set(name, new Float32Array(elements(dims)))
  }
  for await (const { name, offset, data } of source.pieces(wanted.map(({ name }) => name))) out.get(name)?.set(data, offset)
  return out
}

function named(weights: HostWeights, name: string): Float32Array {
  const data = weights.get(name)
  if (!data) throw new Error(`No base tensor ${name}.`)
  return data
}

/** The same arrays as the sampling graphs' initializers. */
export function frozenWeights(weights: HostWeights, config: ModelConfig): FrozenWeights {
  const table = named(weights, 'model.embed_tokens.weight')
  return {
    block: (layer, name) => named(weights, layerTensor(layer, name)),
    table,
    norm: named(weights, 'model.norm.weight'),
    head: config.tie_word_embeddings ? table : named(weights, 'lm_head.weight'),
  }
}

/** Base tensors on the device, as the graphs name them. */
export interface DeviceWeights {
  table: DeviceTensor
  norm: DeviceTensor
  head: DeviceTensor
  /** One record a layer: 'self_attn.q_proj.weight' → tensor. */
  blocks: Record<string, DeviceTensor>[]
  byName: Map<string, DeviceTensor>
}

export function uploadWeights(device: Device, weights: HostWeights, config: ModelConfig): DeviceWeights {
  const byName = new Map(baseTensors(config).map(({ name, dims }) => [name, device.upload(named(weights, name), dims)]))
  const get = (name: string): DeviceTensor => byName.get(name) as DeviceTensor
  return {
    byName,
    table: get('model.embed_tokens.weight'),
    norm: get('model.norm.weight'),
    head: get(config.tie_word_embeddings ? 'model.embed_tokens.weight' : 'lm_head.weight'),
    blocks: Array.from({ length: config.num_hidden_layers }, (_, layer) =>
      Object.fromEntries(blockParameters(config).map(({ name }) => [name, get(layerTensor(layer, name))])),
    ),
  }
}

/** cos and sin of the rotary angles, each [positions, head_dim / 2]: angle = position · theta^(−2i / head_dim). */
export function ropeTables(config: ModelConfig, positions: number): { cos: Float32Array; sin: Float32Array; dims: [number, number] } {
  const half = config.head_dim / 2
  const cos = new Float32Array(positions * half)
  const sin = new Float32Array(positions * half)
  for (let position = 0; position < positions; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position * config.rope_theta ** (-i / half)
      cos[position * half + i] = Math.cos(angle)
      sin[position * half + i] = Math.sin(angle)
    }
  }
  return { cos, sin, dims: [positions, half] }
}
