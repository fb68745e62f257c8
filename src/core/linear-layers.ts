/** The seven linear layers of a decoder layer: where they stand, how large they are, and what safetensors and PEFT call their tensors. */

import type { LoraTarget } from './config'

/** What of a model decides the shapes of its linear layers; a ModelConfig has it all. */
export interface ModelShape {
  hidden_size: number
  intermediate_size: number
  num_hidden_layers: number
  num_attention_heads: number
  num_key_value_heads: number
  head_dim: number
}

const ATTENTION: readonly LoraTarget[] = ['q_proj', 'k_proj', 'v_proj', 'o_proj']

/** 'self_attn.q_proj', 'mlp.up_proj', … */
export function modulePath(target: LoraTarget): string {
  return `${ATTENTION.includes(target) ? 'self_attn' : 'mlp'}.${target}`
}

/** [out, in] of a linear layer, PyTorch's orientation. */
export function linearDims(shape: ModelShape, target: LoraTarget): [number, number] {
  const { hidden_size: hidden, intermediate_size: ffn } = shape
  const q = shape.num_attention_heads * shape.head_dim
  const kv = shape.num_key_value_heads * shape.head_dim
  const dims: Record<LoraTarget, [number, number]> = {
    q_proj: [q, hidden],
    k_proj: [kv, hidden],
    v_proj: [kv, hidden],
    o_proj: [hidden, q],
    gate_proj: [ffn, hidden],
    up_proj: [ffn, hidden],
    down_proj: [hidden, ffn],
  }
  return dims[target]
}

/** Safetensors name of a layer's base tensor. */
export const layerTensor = (layer: number, name: string): string => `model.layers.${layer}.${name}`

/** PEFT's name of a layer's LoRA tensor ('self_attn.q_proj.lora_A' → 'base_model.model.model.layers.0.…lora_A.weight'). */
export const peftTensor = (layer: number, name: string): string => `base_model.model.${layerTensor(layer, name)}.weight`
