/** Operators of transformers: softmax, RMSNorm, rotary embedding, grouped-query attention over a KV cache. */

import { graphError, type Value } from '../graph'
import type { Dim } from '../dims'
import { describe, dimAt, expectRank, expectType } from './check'

/** Softmax along the last axis. A row must not be −∞ throughout (NaN on WASM): mask with −1e9. */
export function softmax(x: Value): Value {
  expectType('Softmax', x, 'float32')
  return x.graph.node('Softmax', [x], [{ dtype: 'float32', shape: x.shape }], { axis: { int: -1 } })[0] as Value
}

/** x / √(mean(x²) + epsilon) · weight along the last axis; weight [n]. */
export function rmsNorm(x: Value, weight: Value, epsilon: number): Value {
  expectRank('RMSNormalization', weight, 1)
  if (dimAt(x, -1) !== dimAt(weight, 0)) throw graphError(`RMSNorm: ${describe(weight)} does not fit ${describe(x)}.`)
  const attributes = { axis: { int: -1 }, epsilon: { float: epsilon } }
  return x.graph.node('RMSNormalization', [x, weight], [{ dtype: 'float32', shape: x.shape }], attributes)[0] as Value
}

/**
 * Rotary position embedding in Qwen's half-split layout. x [batch, heads, tokens, head_dim],
 * positions int64 [batch, tokens] index rows of cos and sin [positions, head_dim / 2].
 */
export function rotary(x: Value, positions: Value, cos: Value, sin: Value): Value {
  expectRank('RotaryEmbedding', x, 4)
  expectType('RotaryEmbedding', positions, 'int64')
  const half = (dimAt(x, 3) as number) / 2
  if (dimAt(cos, 1) !== half || dimAt(sin, 1) !== half) throw graphError(`RotaryEmbedding: ${describe(cos)} does not fit ${describe(x)}.`)
  const shape = { dtype: 'float32' as const, shape: x.shape }
  return x.graph.node('RotaryEmbedding', [x, positions, cos, sin], [shape], { interleaved: { int: 0 } }, 'com.microsoft')[0] as Value
}

export interface AttentionCache {
  /** [batch, kv_heads, capacity, head_dim] */
  key: Value
  value: Value
  /** int32 [batch]: tokens in the row after this run, minus one. */
  lastIndex: Value
  /** int32 scalar: the cache's token capacity in this run. */
  total: Value
  /** [positions, head_dim / 2] */
  cos: Value
  sin: Value
}

/**
 * Causal attention of new tokens over a cache that they are appended to, rotary embedding included. q, k, v are
 * [batch, tokens, heads · head_dim] (kv heads for k and v). With a past, batch or tokens must be 1.
 * Returns the output and the present cache, which onnxruntime may write in place of the past. It has no gradient rule.
 */
export function groupQueryAttention(q: Value, k: Value, v: Value, cache: AttentionCache, heads: number, kvHeads: number): [Value, Value, Value] {
  const headDim = (dimAt(q, 2) as number) / heads
  if (!Number.isInteger(headDim) || headDim % 16 !== 0) {
    throw graphError(`GroupQueryAttention: head size ${headDim} is not a multiple of 16, which onnxruntime's rotary attention needs.`)
  }
  const inputs = [q, k, v, cache.key, cache.value, cache.lastIndex, cache.total, cache.cos, cache.sin]
  const present = { dtype: 'float32' as const, shape: cache.key.shape as Dim[] }
  const attributes = {
    num_heads: { int: heads },
    kv_num_heads: { int: kvHeads },
    do_rotary: { int: 1 },
    rotary_interleaved: { int: 0 },
    scale: { float: 1 / Math.sqrt(headDim) },
  }
  return q.graph.node('GroupQueryAttention', inputs, [{ dtype: 'float32', shape: q.shape }, present, present], attributes, 'com.microsoft') as [
    Value,
    Value,
    Value,
  ]
}
