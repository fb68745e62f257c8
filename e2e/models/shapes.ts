/** config.json of real models, and weights of those shapes that are made as they are read: nothing of this size is stored. */

import { PIECE_ELEMENTS, type WeightSource } from '../../src/core/weights'
import { RandomStream } from '../../src/core/random'
import { parseModelConfig } from '../../src/model/config'
import { elements } from '../../src/model/parameters'
import { baseTensors } from '../../src/runtime/weights'

export const SHAPES = {
  'qwen3-0.6b': {
    model_type: 'qwen3', hidden_size: 1024, num_hidden_layers: 28, num_attention_heads: 16, num_key_value_heads: 8, head_dim: 128, intermediate_size: 3072,
    vocab_size: 151_936, rms_norm_eps: 1e-6, rope_theta: 1_000_000, max_position_embeddings: 40_960, tie_word_embeddings: true, hidden_act: 'silu',
  },
  'qwen2.5-0.5b': {
    model_type: 'qwen2', hidden_size: 896, num_hidden_layers: 24, num_attention_heads: 14, num_key_value_heads: 2, intermediate_size: 4864,
    vocab_size: 151_936, rms_norm_eps: 1e-6, rope_theta: 1_000_000, max_position_embeddings: 32_768, tie_word_embeddings: true, hidden_act: 'silu',
  },
  /** Large enough that its memory is not noise, small enough for a software adapter. */
  'test-30m': {
    model_type: 'qwen3', hidden_size: 256, num_hidden_layers: 4, num_attention_heads: 8, num_key_value_heads: 4, head_dim: 64, intermediate_size: 1024,
    vocab_size: 20_000, rms_norm_eps: 1e-6, rope_theta: 10_000, max_position_embeddings: 4096, tie_word_embeddings: true, hidden_act: 'silu',
  },
} as const

export type ShapeName = keyof typeof SHAPES

/** Numbers that stand for weights: normal, of standard deviation 0.02, one array used again and again from other places. */
export function randomValues(): Float32Array {
  const random = new RandomStream(6)
  return Float32Array.from({ length: PERIOD }, () => 0.02 * random.normal())
}

/** Elements after which the random numbers come again; a prime, so that no two rows are alike. */
const PERIOD = 1_048_573

/** Fills `out` with the values from place `from` on, again and again. */
export function repeat<A extends Float32Array | Uint8Array>(values: A, from: number, out: A): A {
  for (let at = 0, start = from % values.length; at < out.length; start = 0) {
    const part = values.subarray(start, Math.min(values.length, start + out.length - at))
    out.set(part, at)
    at += part.length
  }
  return out
}

/** A model of this config.json with random weights. */
export function shapeSource(config: Readonly<Record<string, unknown>>): WeightSource {
  const tensors = new Map(baseTensors(parseModelConfig(config)).map(({ name, dims }) => [name, dims]))
  const values = randomValues()
  return {
    config: () => Promise.resolve(config),
    tensors: () => Promise.resolve(tensors),
    async *pieces(wanted) {
      for (const [i, name] of wanted.entries()) {
        const dims = tensors.get(name) as number[]
        const ones = name.endsWith('norm.weight')
        for (const { offset, length } of cuts(dims)) yield { name, offset, data: ones ? new Float32Array(length).fill(1) : repeat(values, i * 7919 + offset, new Float32Array(length)) }
      }
    },
  }
}

function* cuts(dims: readonly number[]): Generator<{ offset: number; length: number }> {
  const row = dims.at(-1) ?? 1
  const step = Math.max(1, Math.floor(PIECE_ELEMENTS / row)) * row
  const total = elements(dims)
  for (let offset = 0; offset < total; offset += step) yield { offset, length: Math.min(step, total - offset) }
}
