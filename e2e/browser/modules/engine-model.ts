/** A random two-layer Qwen3 and a small batch, made the same way in Node, in a page and in a worker. */

import type { LoraConfig } from '../../../src/core/config'
import type { NamedTensor, TrainSequence } from '../../../src/core/engine'
import { RandomStream } from '../../../src/core/random'
import { memorySource } from '../../../src/hub/memory-source'
import { parseModelConfig } from '../../../src/model/config'
import { elements } from '../../../src/model/parameters'
import { baseTensors } from '../../../src/runtime/weights'

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

export const LORA: LoraConfig = {
  r: 4,
  lora_alpha: 8,
  use_rslora: false,
  target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
}

/** The model with weights wide enough that its distributions are far from uniform. */
export function randomModel(config: Readonly<Record<string, unknown>> = CONFIG, seed = 7) {
  const tensors = baseTensors(parseModelConfig(config)).map(({ name, dims }, i): NamedTensor => {
    const random = new RandomStream(seed, i)
    const norm = name.endsWith('norm.weight')
    const std = name.includes('embed_tokens') || name.includes('lm_head') ? 0.3 : 1 / Math.sqrt(dims[1] ?? 1)
    return { name, dims: [...dims], data: Float32Array.from({ length: elements(dims) }, () => (norm ? 1 + 0.2 * random.normal() : std * random.normal())) }
  })
  return memorySource(config, tensors)
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
