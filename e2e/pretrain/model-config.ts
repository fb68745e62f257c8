/** config.json and generation_config.json of the tiny model: a Qwen3 of about half a million parameters. */

import { addedTokenId, VOCABULARY_SIZE } from './tokenizer'

export const CONTEXT_LENGTH = 2048
const LAYERS = 4

export const MODEL_CONFIG = {
  architectures: ['Qwen3ForCausalLM'],
  attention_bias: false,
  attention_dropout: 0.0,
  bos_token_id: null,
  dtype: 'float32',
  eos_token_id: addedTokenId('<|im_end|>'),
  head_dim: 32,
  hidden_act: 'silu',
  hidden_size: 96,
  initializer_range: 0.02,
  intermediate_size: 256,
  layer_types: Array.from({ length: LAYERS }, () => 'full_attention'),
  max_position_embeddings: CONTEXT_LENGTH,
  max_window_layers: LAYERS,
  model_type: 'qwen3',
  num_attention_heads: 3,
  num_hidden_layers: LAYERS,
  num_key_value_heads: 1,
  pad_token_id: addedTokenId('<|endoftext|>'),
  rms_norm_eps: 1e-6,
  rope_scaling: null,
  rope_theta: 10000,
  sliding_window: null,
  tie_word_embeddings: true,
  torch_dtype: 'float32',
  use_cache: true,
  use_sliding_window: false,
  vocab_size: VOCABULARY_SIZE,
} as const

export const GENERATION_CONFIG = {
  do_sample: true,
  eos_token_id: [addedTokenId('<|im_end|>'), addedTokenId('<|endoftext|>')],
  pad_token_id: addedTokenId('<|endoftext|>'),
  temperature: 1.0,
  top_k: 0,
  top_p: 1.0,
} as const
