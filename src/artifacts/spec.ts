/** What a set of training artifacts is built for. Everything in it is in the manifest, and it alone decides the bytes. */

import type { LoraConfig, Precision } from '../core/config'
import type { ModelConfig } from '../model/config'

export interface ArtifactSpec {
  config: ModelConfig
  /** null: all base parameters are trained instead of a LoRA. */
  lora: LoraConfig | null
  /** Of the base's matrices; activations, LoRA and gradients are float32 always. Full-parameter training needs float32. */
  precision: Precision
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
  | `block_forward_keep_${number}`
  | `block_backward_kept_${number}`
  | 'head_sample'
  | 'head_sample_filtered'
  | 'head_forward'
  | 'head_backward'
  | 'head_forward_part'
  | 'head_backward_start'
  | 'head_backward_part'
  | 'head_backward_end'
  | 'accumulate'
  | 'grad_norm'
  | 'adamw'

/** Rows per micro-batch that block graphs are made for (the suffix of block_forward_N and the like). */
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
    ...BATCH_SIZES.map((n) => `block_forward_keep_${n}` as const),
    ...BATCH_SIZES.map((n) => `block_backward_kept_${n}` as const),
    'head_sample',
    'head_sample_filtered',
    ...(headInParts(spec) ? HEAD_PARTS : HEAD_WHOLE),
    'accumulate',
    'grad_norm',
    'adamw',
  ]
}

const HEAD_WHOLE = ['head_forward', 'head_backward'] as const
const HEAD_PARTS = ['head_forward_part', 'head_backward_start', 'head_backward_part', 'head_backward_end'] as const

/** Above this many words the trained head goes by parts of the vocabulary. */
const WHOLE_VOCABULARY = 16_384

/**
 * Whether the trained head goes by parts of the vocabulary: a table of codes is multiplied from the left as float32, which only a
 * part of it may become at once. Full-parameter training wants the table's own gradient, which only the whole head gives.
 */
export function headInParts({ config, lora, precision }: ArtifactSpec): boolean {
  return lora !== null && (precision !== 'float32' || config.vocab_size > WHOLE_VOCABULARY)
}
