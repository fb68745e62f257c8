/** Base weights on the device: read piece by piece, quantised on the way where the precision says so, never held as a whole. */

import type { Precision } from '../core/config'
import { PlaygroundError } from '../core/errors'
import type { WeightSource } from '../core/weights'
import type { FrozenWeights } from '../artifacts/build'
import { type Bits, BLOCK, codeType, QUANTIZED_INPUTS, quantizedShapes } from '../graph/ops/quantized'
import type { ModelConfig } from '../model/config'
import { bitsOf } from '../model/linear-weight'
import { layerTensor } from '../core/linear-layers'
import { blockParameters, isMatrix, outerParameters, type ParameterSpec } from '../model/parameters'
import { notFinite, quantize } from '../model/quantize'
import type { Device, DeviceTensor } from './device'

/** Names and dims of all base tensors. */
export function baseTensors(config: ModelConfig): ParameterSpec[] {
  const blocks = Array.from({ length: config.num_hidden_layers }, (_, layer) =>
    blockParameters(config).map(({ name, dims }) => ({ name: layerTensor(layer, name), dims })),
  )
  return [...outerParameters(config), ...blocks.flat()]
}

/** One base tensor on the device: its graph inputs by their suffixes ('' is the tensor itself, or the codes of a quantised matrix). */
interface Stored {
  main: DeviceTensor
  scales: DeviceTensor | null
  inputs: Record<string, DeviceTensor>
}

/** Base tensors on the device, as the graphs name them. */
export interface DeviceWeights {
  norm: DeviceTensor
  /** Inputs of the embedding and of the head (the same ones when tied), named 'table' with the suffixes of a quantised matrix. */
  table: Record<string, DeviceTensor>
  head: Record<string, DeviceTensor>
  /** One record a layer: 'self_attn.q_proj.weight' → tensor, and '.codes', '.scales' where it is quantised. */
  blocks: Record<string, DeviceTensor>[]
  /** float32 tensors by their safetensors names. */
  byName: Map<string, DeviceTensor>
  /** Bytes of all of them. */
  bytes: number
}

/**
 * Reads all tensors onto the device. Throws PlaygroundError('model') naming the tensor that is missing, has another shape, cannot be
 * quantised or holds no finite numbers; what was uploaded is freed then.
 */
export async function loadWeights(source: WeightSource, config: ModelConfig, precision: Precision, device: Device): Promise<DeviceWeights> {
  const wanted = baseTensors(config)
  await checkShapes(source, wanted, precision)
  const bits = bitsOf(precision)
  const before = device.allocatedBytes
  const stored = new Map<string, Stored>()
  try {
    for (const { name, dims } of wanted) stored.set(name, allocate(device, dims, bits !== null && isMatrix(name) ? bits : null))
    for await (const { name, offset, data } of source.pieces(wanted.map((tensor) => tensor.name))) {
      const { main, scales } = stored.get(name) as Stored
      if (bits === null || scales === null) {
        checkFinite(data, name)
        device.write(main, offset, data)
        continue
      }
      const rows = quantize(data, bits, name)
      device.write(main, (offset * bits) / 8, rows.codes)
      device.write(scales, offset / BLOCK, rows.scales)
    }
  } catch (error) {
    for (const { main, scales } of stored.values()) device.free(main, scales)
    throw error
  }
  return joinWeights(config, stored, device.allocatedBytes - before)
}

/** Layer of a base tensor; −1 outside the layers. */
const layerOf = (name: string): number => Number(/^model\.layers\.(\d+)\./.exec(name)?.[1] ?? -1)

async function checkShapes(source: WeightSource, wanted: readonly ParameterSpec[], precision: Precision): Promise<void> {
  checkBlocks(wanted, precision)
  const shapes = await source.tensors()
  const layers = wanted.reduce((most, { name }) => Math.max(most, layerOf(name) + 1), 0)
  const beyond = [...shapes.keys()].find((name) => layerOf(name) >= layers)
  if (beyond !== undefined) {
    throw new PlaygroundError('model', `config.json names ${layers} layers, but the weights hold ${beyond}.`, 'The weights and config.json belong to different models.')
  }
  for (const { name, dims } of wanted) {
    const found = shapes.get(name)
    // A missing one is the source's to name.
    if (found && found.join() !== dims.join()) {
      throw new PlaygroundError(
        'model',
        `The weights hold ${name} with shape [${found.join(', ')}], config.json asks for [${dims.join(', ')}].`,
        'The weights and config.json belong to different models.',
      )
    }
  }
}

/** Throws PlaygroundError('model') naming the first matrix whose rows cannot be cut into whole blocks at this precision. */
export function checkBlocks(tensors: readonly ParameterSpec[], precision: Precision): void {
  if (precision === 'float32') return
  const odd = tensors.find(({ name, dims }) => isMatrix(name) && (dims[1] ?? 0) % BLOCK !== 0)
  if (!odd) return
  const message = `${odd.name} has ${odd.dims[1]} columns, which are no whole blocks of ${BLOCK}: it cannot be kept as ${precision}.`
  throw new PlaygroundError('model', message, 'Choose precision float32.')
}

/** Throws PlaygroundError('model') for a weight that is no number; matrices of codes are checked while they are quantised. */
function checkFinite(values: Float32Array, name: string): void {
  for (let i = 0; i < values.length; i++) {
    // Infinity − Infinity and NaN − NaN are NaN.
    if ((values[i] as number) - (values[i] as number) !== 0) throw notFinite(name)
  }
}

function allocate(device: Device, dims: readonly number[], bits: Bits | null): Stored {
  if (bits === null) {
    const main = device.zeros(dims)
    return { main, scales: null, inputs: { '': main } }
  }
  const shapes = quantizedShapes(dims as [number, number], bits)
  const main = device.zeroBytes(shapes.packed)
  const scales = device.zeros(shapes.scales)
  const inputs = {
    [QUANTIZED_INPUTS.packed]: main,
    [QUANTIZED_INPUTS.codes]: device.view(main, codeType(bits), shapes.codes),
    [QUANTIZED_INPUTS.bytes]: device.view(main, 'uint8', shapes.bytes),
    [QUANTIZED_INPUTS.scales]: scales,
  }
  return { main, scales, inputs }
}

function joinWeights(config: ModelConfig, stored: ReadonlyMap<string, Stored>, bytes: number): DeviceWeights {
  const get = (name: string): Stored => stored.get(name) as Stored
  const named = (name: string, { inputs }: Stored): [string, DeviceTensor][] => Object.entries(inputs).map(([suffix, tensor]) => [name + suffix, tensor])
  return {
    norm: get('model.norm.weight').main,
    table: Object.fromEntries(named('table', get('model.embed_tokens.weight'))),
    head: Object.fromEntries(named('table', get(config.tie_word_embeddings ? 'model.embed_tokens.weight' : 'lm_head.weight'))),
    blocks: Array.from({ length: config.num_hidden_layers }, (_, layer) =>
      Object.fromEntries(blockParameters(config).flatMap(({ name }) => named(name, get(layerTensor(layer, name))))),
    ),
    byName: new Map([...stored].flatMap(([name, { main, scales }]) => (scales ? [] : [[name, main]]))),
    bytes,
  }
}

/** Above this many bytes a WASM base is passed as inputs: each sampling graph that bakes it in holds a copy of its own. */
const MOST_BAKED = 64e6

/**
 * The same values as the sampling graphs' initializers, where that pays: on WASM, which copies every input at every run. null for
 * bases that are quantised or large, whose runs take far longer than the copying.
 */
export function frozenWeights({ byName, bytes }: DeviceWeights, config: ModelConfig, precision: Precision): FrozenWeights | null {
  if (precision !== 'float32' || bytes > MOST_BAKED) return null
  const host = (name: string): Float32Array => byName.get(name)?.tensor.data as Float32Array
  const table = host('model.embed_tokens.weight')
  return {
    block: (layer, name) => host(layerTensor(layer, name)),
    table,
    norm: host('model.norm.weight'),
    head: config.tie_word_embeddings ? table : host('lm_head.weight'),
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

/** Every value of a float32 base in the flat order of `names`, read back from the device. */
export async function readBack({ byName }: DeviceWeights, names: readonly string[], device: Device): Promise<Float32Array[]> {
  const out: Float32Array[] = []
  for (const name of names) out.push(await device.read(byName.get(name) as DeviceTensor))
  return out
}
