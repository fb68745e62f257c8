/** Names and shapes of a model's tensors: one layer's as the graphs call them, the whole model's as safetensors does. */

import { LORA_TARGETS, type LoraConfig, type LoraTarget } from '../core/config'
import { linearDims, modulePath } from '../core/linear-layers'
import type { ModelConfig } from './config'

export interface ParameterSpec {
  /** Name inside a block graph, e.g. 'self_attn.q_proj.weight' or 'self_attn.q_proj.lora_A'. */
  name: string
  dims: number[]
}

/** Name of a linear layer's matrix inside a block, 'mlp.up_proj.weight'. */
export const matrixName = (target: LoraTarget): string => `${modulePath(target)}.weight`

/** Whether a base tensor is a matrix that may be quantised: a linear layer's, the embedding, the head. Block or safetensors names. */
export function isMatrix(name: string): boolean {
  return /(_proj|embed_tokens|lm_head)\.weight$/.test(name)
}

/** Base tensors of one layer, in the graphs' input order. */
export function blockParameters(config: ModelConfig): ParameterSpec[] {
  const out: ParameterSpec[] = [{ name: 'input_layernorm.weight', dims: [config.hidden_size] }]
  for (const target of LORA_TARGETS) {
    const [rows, columns] = linearDims(config, target)
    if (target === 'gate_proj') out.push({ name: 'post_attention_layernorm.weight', dims: [config.hidden_size] })
    out.push({ name: `${modulePath(target)}.weight`, dims: [rows, columns] })
    if (config.qkv_bias && ['q_proj', 'k_proj', 'v_proj'].includes(target)) out.push({ name: `${modulePath(target)}.bias`, dims: [rows] })
    if (config.qk_norm && target === 'q_proj') out.push({ name: 'self_attn.q_norm.weight', dims: [config.head_dim] })
    if (config.qk_norm && target === 'k_proj') out.push({ name: 'self_attn.k_norm.weight', dims: [config.head_dim] })
  }
  return out
}

/** LoRA tensors of one layer: lora_A [r, in] and lora_B [out, r] per target. */
export function loraParameters(config: ModelConfig, lora: LoraConfig): ParameterSpec[] {
  return LORA_TARGETS.filter((target) => lora.target_modules.includes(target)).flatMap((target) => {
    const [out, input] = linearDims(config, target)
    const path = modulePath(target)
    return [
      { name: `${path}.lora_A`, dims: [lora.r, input] },
      { name: `${path}.lora_B`, dims: [out, lora.r] },
    ]
  })
}

/** Tensors outside the layers: embedding, final norm, and the head unless it is the embedding. Safetensors names. */
export function outerParameters(config: ModelConfig): ParameterSpec[] {
  const table = [config.vocab_size, config.hidden_size]
  const out: ParameterSpec[] = [
    { name: 'model.embed_tokens.weight', dims: table },
    { name: 'model.norm.weight', dims: [config.hidden_size] },
  ]
  if (!config.tie_word_embeddings) out.push({ name: 'lm_head.weight', dims: table })
  return out
}

export function elements(dims: readonly number[]): number {
  return dims.reduce((a, b) => a * b, 1)
}

const sizeOf = (specs: readonly ParameterSpec[]): number => specs.reduce((n, { dims }) => n + elements(dims), 0)

/** Number of base parameters of one layer: as many multiplications it takes of a token. */
export const countLayerParameters = (config: ModelConfig): number => sizeOf(blockParameters(config))

/** Number of base parameters, a tied head counted once. */
export function countParameters(config: ModelConfig): number {
  return sizeOf(outerParameters(config)) + config.num_hidden_layers * countLayerParameters(config)
}
