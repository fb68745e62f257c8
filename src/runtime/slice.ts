/** A small model out of a large one: the first layers, the first words and the final norm, kept while the weights stream by. */

import type { Precision } from '../core/config'
import { PIECE_ELEMENTS, type WeightPiece, type WeightSource } from '../core/weights'
import { type Bits, BLOCK } from '../graph/ops/quantized'
import { type ModelConfig, parseModelConfig } from '../model/config'
import { bitsOf } from '../model/linear-weight'
import { elements, isMatrix } from '../model/parameters'
import { dequantizeRows, quantize } from '../model/quantize'
import { baseTensors } from './weights'

/** Two where they fit: only then does a gradient pass through a layer to the one before it. */
const MOST_LAYERS = 2
/** More than the head finds in one level (model/head.ts), so that the slice samples as a large vocabulary does. */
const MOST_WORDS = 4096
/** Most bytes that a slice keeps, unless one layer is more. Qwen3-1.7B: two layers at 4 bits, or one at 8, with their words are 66 and 61 MB. */
const SLICE_BYTES = 100e6

export interface SliceOptions {
  /** How the base is kept: a quantised matrix is kept as the codes and scales that the engine itself makes of it. */
  precision: Precision
}

export interface SlicedSource {
  /** The whole model: what it gives is the given source's, unchanged. */
  source: WeightSource
  /** The slice as a model of its own, once its tensors have streamed out of `source`. Throws an Error before that. */
  slice(): Promise<WeightSource>
}

/** What a slice is cut to, and how its matrices are kept. */
export interface Cut {
  layers: number
  words: number
  keep: Precision
  /** Of all its matrices. */
  bytes: number
  tensors: ReadonlyMap<string, readonly number[]>
}

/** One tensor of the slice. */
interface Kept {
  /** Elements that have come. */
  filled: number
  values: Float32Array | null
  codes: Uint8Array
  scales: Float32Array
}

/**
 * Watches the pieces of `source` and keeps what the slice needs of them; nothing is read for it. A second pass over the pieces (a load that
 * was begun again) replaces what the first one kept. The slice's config.json is the model's with fewer layers and words.
 */
export function sliceSource(source: WeightSource, { precision }: SliceOptions): SlicedSource {
  const kept = new Map<string, Kept>()
  let cut: Promise<Cut> | null = null
  const cutOnce = (): Promise<Cut> => (cut ??= source.config().then((json) => chooseCut(parseModelConfig(json), precision)))

  async function* watched(wanted: readonly string[]): AsyncGenerator<WeightPiece> {
    const { tensors, keep } = await cutOnce()
    for (const name of wanted) kept.delete(name)
    for await (const piece of source.pieces(wanted)) {
      const dims = tensors.get(piece.name)
      if (dims) keepPiece(kept, piece, dims, keep)
      yield piece
    }
  }

  return {
    source: { config: () => source.config(), tensors: () => source.tensors(), pieces: watched },
    async slice() {
      const chosen = await cutOnce()
      const missing = [...chosen.tensors].find(([name, dims]) => kept.get(name)?.filled !== elements(dims))
      if (missing) throw new Error(`The slice was asked for before ${missing[0]} had come as a whole.`)
      return keptSource(await source.config(), chosen, new Map(kept))
    },
  }
}

/** The most layers that fit into `bytes`, at the base's own precision or else at 8 bits; one layer if even that is more. */
export function chooseCut(config: ModelConfig, precision: Precision, bytes = SLICE_BYTES): Cut {
  const words = Math.min(config.vocab_size, MOST_WORDS)
  const of = (layers: number, keep: Precision): Cut => {
    const specs = baseTensors({ ...config, num_hidden_layers: layers, vocab_size: words })
    const bits = bitsOf(keep)
    const weight = bits === null ? 4 : bits / 8 + 4 / BLOCK
    const size = specs.reduce((sum, { name, dims }) => sum + (isMatrix(name) ? elements(dims) * weight : 0), 0)
    return { layers, words, keep, bytes: size, tensors: new Map(specs.map(({ name, dims }) => [name, dims])) }
  }
  const cuts = [of(Math.min(MOST_LAYERS, config.num_hidden_layers), precision), of(1, precision)]
  // A float32 engine then has the rounded weights on both backends, which compares them as well.
  const blocks = baseTensors(config).every(({ name, dims }) => !isMatrix(name) || (dims[1] as number) % BLOCK === 0)
  if (precision === 'float32' && blocks) cuts.push(of(1, 'int8'))
  return cuts.find((cut) => cut.bytes <= bytes) ?? (cuts.at(-1) as Cut)
}

/** Takes what lies in the slice's rows, which are the first ones, out of a piece. */
function keepPiece(kept: Map<string, Kept>, { name, offset, data }: WeightPiece, dims: readonly number[], keep: Precision): void {
  const total = elements(dims)
  if (offset >= total) return
  const bits = isMatrix(name) ? bitsOf(keep) : null
  let tensor = kept.get(name)
  if (!tensor) {
    const [codes, scales] = bits === null ? [0, 0] : [(total * bits) / 8, total / BLOCK]
    tensor = { filled: 0, values: bits === null ? new Float32Array(total) : null, codes: new Uint8Array(codes), scales: new Float32Array(scales) }
    kept.set(name, tensor)
  }
  const part = data.subarray(0, total - offset)
  tensor.filled += part.length
  if (bits === null) tensor.values?.set(part, offset)
  else {
    const rows = quantize(part, bits, name)
    tensor.codes.set(rows.codes, (offset * bits) / 8)
    tensor.scales.set(rows.scales, offset / BLOCK)
  }
}

function keptSource(json: unknown, { layers, words, keep, tensors }: Cut, kept: ReadonlyMap<string, Kept>): WeightSource {
  const whole = json as Readonly<Record<string, unknown>>
  const types = whole.layer_types
  const config = {
    ...whole,
    num_hidden_layers: layers,
    vocab_size: words,
    ...(Array.isArray(types) ? { layer_types: (types as unknown[]).slice(0, layers) } : {}),
  }
  return {
    config: () => Promise.resolve(config),
    tensors: () => Promise.resolve(tensors),
    async *pieces(wanted) {
      for (const name of wanted) {
        const tensor = kept.get(name)
        const dims = tensors.get(name)
        if (!tensor || !dims) throw new Error(`The slice has no ${name}.`)
        const row = dims.at(-1) as number
        const step = Math.max(1, Math.floor(PIECE_ELEMENTS / row)) * row
        for (let offset = 0; offset < elements(dims); offset += step) {
          yield { name, offset, data: valuesOf(tensor, offset, Math.min(elements(dims), offset + step), bitsOf(keep)) }
        }
      }
    },
  }
}

/** Elements `from` to `to` of a tensor, whole blocks where it is quantised, as float32. */
function valuesOf({ values, codes, scales }: Kept, from: number, to: number, bits: Bits | null): Float32Array {
  if (values || bits === null) return (values as Float32Array).subarray(from, to)
  return dequantizeRows({ codes: codes.subarray((from * bits) / 8, (to * bits) / 8), scales: scales.subarray(from / BLOCK, to / BLOCK) }, bits)
}
