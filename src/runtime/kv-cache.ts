/** What the sampler needs of a KV cache; one keeps it on the GPU in place, one on the host. */

import type { DeviceTensor } from './device'
import type { LoadedModel } from './model'

export interface KvCache {
  /** LoRA tensors that runs use; undefined means the trained ones. */
  adapter: readonly DeviceTensor[] | undefined
  /** Most tokens that one prefill takes. */
  readonly longestPrefill: number
  /** Makes room for `tokens` tokens in every slot. */
  reserve(tokens: number): void
  /**
   * Appends n tokens, x [n, hidden], to a slot that holds `before`; returns hidden states [rows, hidden] of which
   * the last is the last token's; the caller frees them.
   */
  prefill(x: DeviceTensor, slot: number, before: number, n: number): Promise<DeviceTensor>
  /** Appends one token, x [slots, hidden], to each of `slots`; `lengths` are those of all slots before it. Rows of others are undefined. */
  decode(x: DeviceTensor, slots: readonly number[], lengths: readonly number[]): Promise<DeviceTensor>
  /** Copies a slot's first `length` tokens over other slots. */
  copy(from: number, to: readonly number[], length: number): void
  /** Whether makeRoom() has anything worth giving. */
  readonly lends: boolean
  /**
   * Gives its memory back where that is worth it (after training the tokens in it are stale anyway); the next prefill takes it
   * again. Returns whether the slots' contents are gone.
   */
  makeRoom(): boolean
  /** Forgets everything, also what lies behind the slots' ends: a number that is not finite would survive any mask. */
  clear(): void
}

/** Weights and rotary tables of the decode graphs; a session leaves out what is baked into it. */
export function decodeInputs({ weights, parameters, rope, spec, contextLength }: LoadedModel, adapter: readonly DeviceTensor[] | undefined): Record<string, DeviceTensor> {
  const out: Record<string, DeviceTensor> = { ...rope.atLeast(contextLength) }
  for (let layer = 0; layer < spec.config.num_hidden_layers; layer++) {
    for (const [name, tensor] of Object.entries({ ...weights.blocks[layer], ...parameters.layerInputs(layer, adapter) })) out[`layers.${layer}.${name}`] = tensor
  }
  return out
}
