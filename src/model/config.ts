/** Reads a Hugging Face config.json into what the graphs need, and refuses by name what they do not support. */

import { z } from 'zod/mini'
import { PlaygroundError } from '../core/errors'
import '../core/zod-words'

/** Architecture of a Qwen2/2.5/3 decoder, every value resolved. */
export interface ModelConfig {
  architecture: 'qwen2' | 'qwen3'
  hidden_size: number
  num_hidden_layers: number
  num_attention_heads: number
  num_key_value_heads: number
  head_dim: number
  intermediate_size: number
  vocab_size: number
  rms_norm_eps: number
  rope_theta: number
  max_position_embeddings: number
  tie_word_embeddings: boolean
  /** Bias on q, k and v (Qwen2). */
  qkv_bias: boolean
  /** RMSNorm on each head's query and key (Qwen3). */
  qk_norm: boolean
  /** Ids that end a turn; empty where config.json names none. */
  eos_token_ids: number[]
}

/** Far beyond any model that a browser holds: what a damaged or hostile file says must not be planned for. */
const size = (most: number) => z.int().check(z.positive(), z.maximum(most))
const positive = z.number().check(z.positive())
const HIDDEN = 65_536
const HEADS = 1024
const schema = z.looseObject({
  model_type: z.enum(['qwen2', 'qwen3']),
  hidden_size: size(HIDDEN),
  num_hidden_layers: size(512),
  num_attention_heads: size(HEADS),
  num_key_value_heads: z.optional(size(HEADS)),
  head_dim: z.nullish(size(HEADS)),
  intermediate_size: size(4 * HIDDEN),
  vocab_size: size(2_000_000),
  rms_norm_eps: positive,
  rope_theta: z.optional(positive),
  rope_scaling: z.nullish(z.looseObject({})),
  rope_parameters: z.nullish(z.looseObject({ rope_theta: z.optional(positive), rope_type: z.optional(z.string()) })),
  max_position_embeddings: size(100_000_000),
  tie_word_embeddings: z.optional(z.boolean()),
  attention_bias: z.optional(z.boolean()),
  hidden_act: z.string(),
  use_sliding_window: z.optional(z.boolean()),
  sliding_window: z.nullish(z.number()),
  layer_types: z.nullish(z.array(z.string())),
  eos_token_id: z.nullish(z.union([z.number(), z.array(z.number())])),
})

/** Read first: a config of another family has other fields, and its family is what a person needs to hear. */
const familySchema = z.looseObject({ model_type: z.string(), quantization_config: z.catch(z.nullish(z.looseObject({ quant_method: z.string() })), null) })

function refuse(field: string, value: unknown, why: string, advice = 'Choose a dense Qwen2, Qwen2.5 or Qwen3 model.'): never {
  throw new PlaygroundError('model', `config.json: ${field} is ${JSON.stringify(value)}, ${why}.`, advice)
}

function checkFamily(json: unknown): void {
  const family = familySchema.safeParse(json)
  // Without model_type the whole schema says what is missing.
  if (!family.success) return
  const { model_type: type, quantization_config: quantization } = family.data
  if (type !== 'qwen2' && type !== 'qwen3') refuse('model_type', type, 'which is not supported')
  if (quantization) {
    const advice = 'Choose the model as it was before it was quantised (its name without AWQ, GPTQ, FP8 or bnb); it is quantised here while it loads.'
    refuse('quantization_config.quant_method', quantization.quant_method, 'weights that are quantised in the file are not read', advice)
  }
}

/** Parses a parsed config.json. Throws PlaygroundError('model') with the name of the field that is missing or unsupported. */
export function parseModelConfig(json: unknown): ModelConfig {
  checkFamily(json)
  const parsed = schema.safeParse(json)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw new PlaygroundError('model', `config.json: ${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'not readable'}.`, 'Check that this is the config.json of a Qwen model.')
  }
  const c = parsed.data
  if ('num_experts' in c && c.num_experts) refuse('num_experts', c.num_experts, 'mixture-of-experts layers are not supported')
  if (c.hidden_act !== 'silu') refuse('hidden_act', c.hidden_act, 'only silu is supported')
  if (c.use_sliding_window) refuse('use_sliding_window', true, 'sliding-window attention is not supported')
  const otherLayer = c.layer_types?.find((type) => type !== 'full_attention')
  if (otherLayer !== undefined) refuse('layer_types', otherLayer, 'only full_attention layers are supported')
  const scaling = c.rope_scaling?.rope_type ?? c.rope_scaling?.type ?? 'default'
  if (scaling !== 'default') refuse('rope_scaling', scaling, 'only the default rope is supported')
  const ropeType = c.rope_parameters?.rope_type ?? 'default'
  if (ropeType !== 'default') refuse('rope_parameters.rope_type', ropeType, 'only the default rope is supported')
  const qwen3 = c.model_type === 'qwen3'
  if (qwen3 && c.attention_bias) refuse('attention_bias', true, 'Qwen3 with attention bias is not supported')
  const kvHeads = c.num_key_value_heads ?? c.num_attention_heads
  if (c.num_attention_heads % kvHeads !== 0) refuse('num_key_value_heads', kvHeads, `which does not divide num_attention_heads ${c.num_attention_heads}`)
  // transformers' defaults: Qwen3's heads need not add up to the hidden size.
  const headDim = c.head_dim ?? (qwen3 ? 128 : c.hidden_size / c.num_attention_heads)
  if (!Number.isInteger(headDim) || headDim % 16 !== 0) refuse('head_dim', headDim, 'which is not a multiple of 16 (the rotary attention kernel needs that)')
  const theta = c.rope_theta ?? c.rope_parameters?.rope_theta
  if (theta === undefined) refuse('rope_theta', null, 'it is needed')
  return {
    architecture: c.model_type,
    hidden_size: c.hidden_size,
    num_hidden_layers: c.num_hidden_layers,
    num_attention_heads: c.num_attention_heads,
    num_key_value_heads: kvHeads,
    head_dim: headDim,
    intermediate_size: c.intermediate_size,
    vocab_size: c.vocab_size,
    rms_norm_eps: c.rms_norm_eps,
    rope_theta: theta,
    max_position_embeddings: c.max_position_embeddings,
    tie_word_embeddings: c.tie_word_embeddings ?? false,
    qkv_bias: !qwen3,
    qk_norm: qwen3,
    eos_token_ids: c.eos_token_id == null ? [] : [c.eos_token_id].flat(),
  }
}
