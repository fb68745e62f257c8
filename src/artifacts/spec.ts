/** What a set of training artifacts is built for. Everything in it is in the manifest, and it alone decides the bytes. */

import type { LoraConfig } from '../core/config'
import type { ModelConfig } from '../model/config'

export interface ArtifactSpec {
  config: ModelConfig
  /** null: all base parameters are trained instead of a LoRA. */
  lora: LoraConfig | null
  /** Activations, weights and gradients. (A 4-bit base comes later.) */
  precision: 'float32'
}

export type ArtifactName =
  | 'embed'
  | 'embed_backward'
  | 'decode'
  | 'prefill'
  | 'decode_host'
  | 'prefill_host'
  | `block_forward_${number}`
  | `block_backward_${number}`
  | 'head_sample'
  | 'head_sample_filtered'
  | 'head_forward'
  | 'head_backward'
  | 'accumulate'
  | 'grad_norm'
  | 'adamw'

/** Rows per micro-batch that block graphs are made for (the suffix of block_forward_N and block_backward_N). */
export const BATCH_SIZES = [1, 2, 4, 8] as const

/** Every artifact of a spec. */
export function artifactNames(spec: ArtifactSpec): ArtifactName[] {
  return [
    'embed',
    ...(spec.lora ? [] : (['embed_backward'] as const)),
    'decode',
    'prefill',
    'decode_host',
    'prefill_host',
    ...BATCH_SIZES.map((n) => `block_forward_${n}` as const),
    ...BATCH_SIZES.map((n) => `block_backward_${n}` as const),
    'head_sample',
    'head_sample_filtered',
    'head_forward',
    'head_backward',
    'accumulate',
    'grad_norm',
    'adamw',
  ]
}
