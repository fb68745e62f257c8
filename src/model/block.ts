/** One decoder layer as graph code: the same formulas for training (whole sequences) and for decoding (over a cache). */

import { loraScale, type LoraConfig, type LoraTarget, type Precision } from '../core/config'
import { type Dim, product } from '../graph/dims'
import type { Graph, Value } from '../graph/graph'
import { add, gemm, groupQueryAttention, matmul, mul, type QuantizedMatrix, reshape, rmsNorm, rotary, scale, silu, softmax, transpose } from '../graph/ops'
import type { ModelConfig } from './config'
import { type LinearWeight, matrixInput, multiply } from './linear-weight'
import { modulePath } from '../core/linear-layers'
import { blockParameters, isMatrix, loraParameters, matrixName } from './parameters'

/** A layer's tensors by their names inside the block. */
export interface BlockWeights {
  /** Any float32 tensor; null where the model or the LoRA has none, and for a matrix of codes. */
  tensor(name: string): Value | null
  /** The frozen matrix of a linear layer. */
  matrix(target: LoraTarget): LinearWeight
}

/** Declares a layer's tensors as graph inputs; names are prefixed. Frozen float32 tensors may come from `bake` as constants. */
export function declareBlock(
  g: Graph,
  { config, lora, precision }: { config: ModelConfig; lora: LoraConfig | null; precision: Precision },
  prefix = '',
  bake?: (name: string, dims: number[]) => Value,
): BlockWeights {
  const values = new Map<string, Value>()
  const matrices = new Map<string, QuantizedMatrix>()
  for (const { name, dims } of blockParameters(config)) {
    const declare = (): LinearWeight =>
      isMatrix(name) ? matrixInput(g, prefix + name, dims as [number, number], precision) : g.input(prefix + name, 'float32', dims)
    const weight = bake ? bake(name, dims) : declare()
    if ('bits' in weight) matrices.set(name, weight)
    else values.set(name, weight)
  }
  if (lora) for (const { name, dims } of loraParameters(config, lora)) values.set(name, g.input(prefix + name, 'float32', dims))
  return {
    tensor: (name) => values.get(name) ?? null,
    matrix: (target) => required(matrices.get(matrixName(target)) ?? values.get(matrixName(target)), matrixName(target)),
  }
}

function required<T>(value: T | null | undefined, name: string): T {
  if (!value) throw new Error(`The block has no tensor ${name}.`)
  return value
}

/** W x + b + s·B(A x) + residual for rows x [rows, in] → [rows, out]. PEFT's formula, dropout 0. */
function linear(x: Value, target: LoraTarget, weights: BlockWeights, lora: LoraConfig | null, residual?: Value): Value {
  const path = modulePath(target)
  const bias = weights.tensor(`${path}.bias`)
  let y = multiply(x, weights.matrix(target), residual ?? bias ?? undefined)
  if (residual && bias) y = add(y, bias)
  const [a, b] = [weights.tensor(`${path}.lora_A`), weights.tensor(`${path}.lora_B`)]
  if (!lora || !a || !b) return y
  return gemm(gemm(x, a, { transB: true }), b, { transB: true, alpha: loraScale(lora), c: y })
}

/** [rows, heads · head_dim] with RMSNorm over each head where the model has it. */
function headNorm(x: Value, heads: number, config: ModelConfig, weight: Value | null): Value {
  if (!weight) return x
  const rows = x.shape[0] as Dim
  return reshape(rmsNorm(reshape(x, [rows, heads, config.head_dim]), weight, config.rms_norm_eps), [rows, heads * config.head_dim])
}

type Attend = (q: Value, k: Value, v: Value) => Value

/** The layer around any attention: x [rows, hidden], attend([rows, heads·dim], [rows, kv·dim], [rows, kv·dim]) → [rows, heads·dim]. */
export function blockWith(x: Value, config: ModelConfig, lora: LoraConfig | null, weights: BlockWeights, attend: Attend): Value {
  const normed = rmsNorm(x, required(weights.tensor('input_layernorm.weight'), 'input_layernorm.weight'), config.rms_norm_eps)
  const q = headNorm(linear(normed, 'q_proj', weights, lora), config.num_attention_heads, config, weights.tensor('self_attn.q_norm.weight'))
  const k = headNorm(linear(normed, 'k_proj', weights, lora), config.num_key_value_heads, config, weights.tensor('self_attn.k_norm.weight'))
  const v = linear(normed, 'v_proj', weights, lora)
  const afterAttention = linear(attend(q, k, v), 'o_proj', weights, lora, x)
  const normed2 = rmsNorm(afterAttention, required(weights.tensor('post_attention_layernorm.weight'), 'post_attention_layernorm.weight'), config.rms_norm_eps)
  const gated = mul(silu(linear(normed2, 'gate_proj', weights, lora)), linear(normed2, 'up_proj', weights, lora))
  return linear(gated, 'down_proj', weights, lora, afterAttention)
}

export interface TrainingContext {
  /** Rows of a micro-batch; tokens a row. x is [batch · tokens, hidden]. */
  batch: number
  tokens: Dim
  /** int64 [batch, tokens] */
  positions: Value
  /** [batch, 1, tokens, tokens]: 0 where a token may look, −1e9 elsewhere. */
  bias: Value
  /** [positions, head_dim / 2] */
  cos: Value
  sin: Value
}

/** A layer over whole rows: x [batch · tokens, hidden] → the same shape. Attention as the bias allows. */
export function trainingBlock(x: Value, config: ModelConfig, lora: LoraConfig | null, weights: BlockWeights, context: TrainingContext): Value {
  const { batch, tokens, positions, bias, cos, sin } = context
  const { num_attention_heads: heads, num_key_value_heads: kv, head_dim: dim } = config
  const split = (y: Value, n: number): Value => transpose(reshape(y, [batch, tokens, n, dim]), [0, 2, 1, 3])
  const perGroup = product([heads / kv, tokens])
  return blockWith(x, config, lora, weights, (q, k, v) => {
    const queries = rotary(scale(split(q, heads), 1 / Math.sqrt(dim)), positions, cos, sin)
    const keys = rotary(split(k, kv), positions, cos, sin)
    // The query heads of a group become rows of one product, so k and v are never repeated.
    const grouped = reshape(queries, [batch, kv, perGroup, dim])
    const scores = matmul(grouped, transpose(keys, [0, 1, 3, 2]))
    const weightsOfTokens = softmax(add(reshape(scores, [batch, heads, tokens, tokens]), bias))
    const mixed = matmul(reshape(weightsOfTokens, [batch, kv, perGroup, tokens]), split(v, kv))
    return reshape(transpose(reshape(mixed, [batch, heads, tokens, dim]), [0, 2, 1, 3]), [x.shape[0] as Dim, heads * dim])
  })
}

export interface DecodingContext {
  /** Either dimension may be symbolic, not both; one of them is 1 when the cache is not empty. */
  slots: Dim
  tokens: Dim
  /** [slots, kv_heads, capacity, head_dim] */
  key: Value
  value: Value
  /** int32 [slots] and int32 scalar, see AttentionCache. */
  lastIndex: Value
  total: Value
  cos: Value
  sin: Value
}

/** A layer over new tokens and a cache: x [slots · tokens, hidden] → the same shape, and the present key and value. */
export function decodingBlock(x: Value, config: ModelConfig, lora: LoraConfig | null, weights: BlockWeights, context: DecodingContext): [Value, Value, Value] {
  const { slots, tokens } = context
  const { num_attention_heads: heads, num_key_value_heads: kv, head_dim: dim } = config
  let present: [Value, Value] | null = null
  const y = blockWith(x, config, lora, weights, (q, k, v) => {
    const rows = (value: Value, n: number): Value => reshape(value, [slots, tokens, n * dim])
    const [out, key, value] = groupQueryAttention(rows(q, heads), rows(k, kv), rows(v, kv), context, heads, kv)
    present = [key, value]
    return reshape(out, [x.shape[0] as Dim, heads * dim])
  })
  if (!present) throw new Error('decodingBlock: attention did not run.')
  return [y, present[0], present[1]]
}
