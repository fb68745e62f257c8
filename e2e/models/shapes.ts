/** config.json of real models, and weights of those shapes that are made as they are read: nothing of this size is stored. */

export { randomSource as shapeSource, randomValues, repeat } from '../../src/runtime/random-source'

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
