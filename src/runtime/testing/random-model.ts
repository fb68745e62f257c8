/** Random models of two layers, an adapter for them and a small batch: the same numbers in Node, in a page and in a worker. */

import { LORA_TARGETS, type LoraConfig } from '../../core/config'
import type { NamedTensor, TrainSequence } from '../../core/engine'
import { RandomStream } from '../../core/random'
import { cutTensor, type WeightSource } from '../../core/weights'
import { parseModelConfig } from '../../model/config'
import { elements } from '../../model/parameters'
import { baseTensors } from '../weights'

export const CONFIG = {
  model_type: 'qwen3',
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  intermediate_size: 48,
  vocab_size: 64,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  max_position_embeddings: 256,
  tie_word_embeddings: true,
  hidden_act: 'silu',
}

/** The same size as a Qwen2: biases on q, k and v, no norms on the heads, a head of its own. */
export const QWEN2_CONFIG = { ...CONFIG, model_type: 'qwen2', tie_word_embeddings: false }

export const LORA: LoraConfig = {
  r: 4,
  lora_alpha: 8,
  use_rslora: false,
  target_modules: [...LORA_TARGETS],
}

/** The model with weights wide enough that its distributions are far from uniform. */
export function randomModel(config: Readonly<Record<string, unknown>> = CONFIG, seed = 7): WeightSource {
  const tensors = baseTensors(parseModelConfig(config)).map(({ name, dims }, i): NamedTensor => {
    const random = new RandomStream(seed, i)
    const norm = name.endsWith('norm.weight')
    const std = name.includes('embed_tokens') || name.includes('lm_head') ? 0.3 : 1 / Math.sqrt(dims[1] ?? 1)
    return { name, dims: [...dims], data: Float32Array.from({ length: elements(dims) }, () => (norm ? 1 + 0.2 * random.normal() : std * random.normal())) }
  })
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]))
  return {
    config: async () => config,
    tensors: async () => new Map(tensors.map(({ name, dims }) => [name, dims])),
    async *pieces(wanted) {
      for (const name of wanted) {
        const tensor = byName.get(name)
        if (!tensor) throw new Error(`The random model has no ${name}.`)
        yield* cutTensor(name, tensor.dims, tensor.data)
      }
    },
  }
}

/** An adapter whose B is not zero, so that every gradient of A is there too. */
export function randomAdapter(like: readonly NamedTensor[], seed = 11): NamedTensor[] {
  return like.map(({ name, dims }, i) => {
    const random = new RandomStream(seed, i)
    return { name, dims: [...dims], data: Float32Array.from({ length: elements(dims) }, () => 0.3 * random.normal()) }
  })
}

/** Two sequences behind one prompt and one that stands alone; the model wrote two stretches of the last. */
export function smallBatch(vocab = CONFIG.vocab_size, seed = 3): TrainSequence[] {
  const random = new RandomStream(seed)
  const ids = (n: number): number[] => Array.from({ length: n }, () => random.int(vocab))
  const prompt = ids(10)
  const made = (start: number[], rest: number[], wrote: (t: number) => boolean): TrainSequence => {
    const all = [...start, ...rest]
    return { ids: all, mask: all.map((_, t) => (wrote(t) ? 1 : 0)) }
  }
  return [
    made(prompt, ids(6), (t) => t >= 10),
    made(prompt, ids(3), (t) => t >= 10),
    made(ids(4), ids(9), (t) => (t >= 4 && t < 7) || t >= 10),
  ]
}
