/**
 * A decoder layer over a KV cache that the host keeps: only the new tokens' keys and values leave the graph. For backends
 * that copy every input and output (WASM) this moves a third of what GroupQueryAttention's past and present would, and its
 * attention over several new tokens is plain matrix products, which run faster there.
 */

import type { LoraConfig } from '../core/config'
import { type Dim, product } from '../graph/dims'
import type { Value } from '../graph/graph'
import { add, div, exp, less, matmul, reduceMax, reduceSum, reshape, rotary, scale, sub, transpose, where } from '../graph/ops'
import { type BlockWeights, blockWith } from './block'
import type { ModelConfig } from './config'

export interface HostCacheContext {
  /** Either may be symbolic, not both; the other is 1. */
  slots: Dim
  tokens: Dim
  /** int64 [slots, tokens] */
  positions: Value
  /** Keys [slots, kv_heads, head_dim, capacity] (transposed, as the product wants them), values [slots, kv_heads, capacity, head_dim]. */
  key: Value
  value: Value
  /** [slots, 1, 1, capacity]: 0 for tokens of the slot, −1e9 behind its end. */
  pastBias: Value
  /** [1, 1, tokens, tokens]: causal among the new tokens; null for one token. */
  newBias: Value | null
  cos: Value
  sin: Value
}

const max = (a: Value, b: Value): Value => where(less(a, b), b, a)

/** x [slots · tokens, hidden] → the same shape, and the new keys and values [slots, kv_heads, tokens, head_dim]. */
export function hostCacheBlock(x: Value, config: ModelConfig, lora: LoraConfig | null, weights: BlockWeights, context: HostCacheContext): [Value, Value, Value] {
  const { slots, tokens, positions, cos, sin } = context
  const { num_attention_heads: heads, num_key_value_heads: kv, head_dim: dim } = config
  const split = (y: Value, n: number): Value => transpose(reshape(y, [slots, tokens, n, dim]), [0, 2, 1, 3])
  const rows = product([heads / kv, tokens])
  let made: [Value, Value] | null = null
  const y = blockWith(x, config, lora, weights, (q, k, v) => {
    const queries = reshape(rotary(scale(split(q, heads), 1 / Math.sqrt(dim)), positions, cos, sin), [slots, kv, rows, dim])
    const keys = rotary(split(k, kv), positions, cos, sin)
    const values = split(v, kv)
    made = [keys, values]
    const past = add(matmul(queries, context.key), context.pastBias)
    let fresh = matmul(queries, transpose(keys, [0, 1, 3, 2]))
    if (context.newBias) {
      fresh = reshape(add(reshape(fresh, [slots, heads, tokens, tokens]), context.newBias), [slots, kv, rows, tokens])
    }
    // One softmax over both parts: shifted by their common maximum, divided by their common sum.
    const shift = max(reduceMax(past, [-1]), reduceMax(fresh, [-1]))
    const [pastWeights, freshWeights] = [exp(sub(past, shift)), exp(sub(fresh, shift))]
    const total = add(reduceSum(pastWeights, [-1]), reduceSum(freshWeights, [-1]))
    const mixed = div(add(matmul(pastWeights, context.value), matmul(freshWeights, values)), total)
    return reshape(transpose(reshape(mixed, [slots, heads, tokens, dim]), [0, 2, 1, 3]), [x.shape[0] as Dim, heads * dim])
  })
  if (!made) throw new Error('hostCacheBlock: attention did not run.')
  return [y, made[0], made[1]]
}
