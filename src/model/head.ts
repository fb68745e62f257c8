/** Final norm and output head: log-probabilities, entropies, their derivatives, and sampling, as graph code. */

import type { Dim } from '../graph/dims'
import type { Value } from '../graph/graph'
import {
  add, argMax, cast, concat, cumSum, equal, exp, gather, gatherElements, gemm, less, log, mul, neg, reduceMax, reduceMean, reduceSum, reshape, rmsNorm, slice, sub, topK, where,
} from '../graph/ops'
import { gradients } from '../graph/gradients'
import type { ModelConfig } from './config'
import { type LinearWeight, multiply } from './linear-weight'

/** How many of the likeliest tokens a sampled token carries. */
export const TOP = 5

export interface HeadInputs {
  /** Hidden states of the last layer, before the final norm, [rows, hidden]. */
  x: Value
  norm: Value
  /** Output table [vocab, hidden]; the embedding when tied. */
  table: LinearWeight
  /** float32 scalar: 1 / temperature. */
  inverseTemperature: Value
}

interface Distribution {
  hidden: Value
  /** Temperature-scaled, [rows, vocab]. */
  logits: Value
  /** [rows, 1] */
  lse: Value
}

function distribution({ x, norm, table, inverseTemperature }: HeadInputs, config: ModelConfig): Distribution {
  const hidden = rmsNorm(x, norm, config.rms_norm_eps)
  const logits = mul(multiply(hidden, table), inverseTemperature)
  // WebGPU's ReduceLogSumExp overflows from logits of about 100: the maximum is written out.
  const max = reduceMax(logits, [-1])
  return { hidden, logits, lse: add(log(reduceSum(exp(sub(logits, max)), [-1])), max) }
}

export const flat = (x: Value): Value => reshape(x, [x.shape[0] as Dim])
export const column = (x: Value): Value => reshape(x, [x.shape[0] as Dim, 1])

/** H = −Σ p log p in nats, [rows, 1]. */
function entropyOf(probs: Value, logprobs: Value): Value {
  return neg(reduceSum(mul(probs, logprobs), [-1]))
}

export interface HeadScores {
  logprob: Value
  entropy: Value
  lse: Value
  argmax: Value
  meanLogit: Value
}

/** log softmax(logits)[target], entropy, log-sum-exp and mean logit, each [rows], and the greedy token [rows, 1]. target int32 [rows]. */
export function headForward(inputs: HeadInputs & { target: Value }, config: ModelConfig): HeadScores {
  const { logits, lse } = distribution(inputs, config)
  const logprobs = sub(logits, lse)
  return {
    logprob: flat(sub(gatherElements(logits, column(inputs.target)), lse)),
    entropy: flat(entropyOf(exp(logprobs), logprobs)),
    lse: flat(lse),
    argmax: argMax(logits),
    meanLogit: flat(reduceMean(logits, [-1])),
  }
}

export interface HeadGradients {
  /** d loss / d x, [rows, hidden] */
  dx: Value
  /** Only when asked for (full-parameter training). */
  dNorm: Value | null
  dTable: Value | null
}

/** Scores of the forward pass and d loss / d log-prob (a) and d entropy (b), each [rows]. */
export interface HeadSlopes {
  lse: Value
  entropy: Value
  dLogprob: Value
  dEntropy: Value
}

/** p · (a + b · (log p + H)) at each logit [rows, words], and a as a column. */
export function weightedSlopes(logits: Value, slopes: HeadSlopes): { a: Value; weighted: Value } {
  const logprobs = sub(logits, column(slopes.lse))
  const a = column(slopes.dLogprob)
  const spread = add(a, mul(column(slopes.dEntropy), add(logprobs, column(slopes.entropy))))
  return { a, weighted: mul(exp(logprobs), spread) }
}

/**
 * From d loss / d log-prob (a) and d loss / d entropy (b) to d loss / d x. With p = softmax(z), z the scaled logits:
 * ∂logp_t/∂z = e_t − p and ∂H/∂z = −p·(log p + H), so d loss / dz = a·e_t − p·(a + b·(log p + H)); no one-hot is built
 * unless the table's own gradient is wanted.
 */
export function headBackward(
  inputs: Omit<HeadInputs, 'table'> & HeadSlopes & { table: Value; target: Value },
  config: ModelConfig,
  full: boolean,
): HeadGradients {
  const { x, norm, table, inverseTemperature, target } = inputs
  const g = x.graph
  const hidden = rmsNorm(x, norm, config.rms_norm_eps)
  const logits = mul(gemm(hidden, table, { transB: true }), inverseTemperature)
  const { a, weighted } = weightedSlopes(logits, inputs)
  const dHidden = mul(sub(mul(a, gather(table, target)), gemm(weighted, table)), inverseTemperature)
  const [dx, dNorm] = gradients([{ output: hidden, seed: dHidden }], full ? [x, norm] : [x])
  if (!dx) throw new Error('headBackward: no gradient reached x.')
  if (!full) return { dx, dNorm: null, dTable: null }
  const vocab = g.integers(Array.from({ length: config.vocab_size }, (_, i) => i), [1, config.vocab_size], 'int32')
  const dLogits = sub(where(equal(vocab, column(target)), a, g.constant(0)), weighted)
  return { dx, dNorm: dNorm ?? null, dTable: mul(gemm(dLogits, hidden, { transA: true }), inverseTemperature) }
}

export interface SampleOutputs {
  /** float32 [rows]: the sampled id (exact below 2²⁴); from the filtered sampler its place in topId. */
  choice: Value
  logprob: Value
  entropy: Value
  /** float32 [rows, TOP]: probabilities of the likeliest tokens, best first. */
  topProb: Value
  /** int64, or of a large vocabulary float32, [rows, TOP]; from the filtered sampler int64 [rows, FILTER_WIDTH or fewer]: their ids. */
  topId: Value
}

const iota = (x: Value): Value => {
  const n = x.shape[1] as number
  return x.graph.constant(Array.from({ length: n }, (_, i) => i), [1, n])
}

/** One element a row, by a float32 index [rows, 1] into float32 x [rows, n]; 0 for an index outside. */
function pick(x: Value, index: Value): Value {
  return reduceSum(where(equal(iota(x), index), x, x.graph.constant(0)), [-1])
}

/** Index of the first of `running` [rows, n] that exceeds the threshold [rows, 1], float32 [rows, 1]; `otherwise` where none does. */
function firstAbove(running: Value, threshold: Value, otherwise: Value): Value {
  const g = running.graph
  const above = reduceSum(cast(less(threshold, running), 'float32'), [-1])
  return where(less(above, g.constant(1)), otherwise, sub(g.constant(running.shape[1] as number), above))
}

/** Above this many buckets running sums are taken in two levels and the largest found one by one: on WebGPU onnxruntime's CumSum takes n² time, its TopK sorts. */
const ONE_LEVEL = 2048

/** Index of the bucket that holds `uniform` of the total, float32 [rows, 1]; buckets [rows, n], none below 0. */
function inverseCdf(weights: Value, uniform: Value): Value {
  const g = weights.graph
  const n = weights.shape[1] as number
  const level = (running: Value): { threshold: Value; at: Value } => {
    const threshold = mul(column(uniform), reduceMax(running, [-1]))
    // uniform is below 1, so only numbers that are none leave no bucket.
    return { threshold, at: firstAbove(running, threshold, g.constant((running.shape[1] as number) - 1)) }
  }
  if (n <= ONE_LEVEL) return level(cumSum(weights)).at

  const size = Math.ceil(Math.sqrt(n))
  const count = Math.ceil(n / size)
  const rest = count * size - n
  const padded = rest === 0 ? weights : concat([weights, mul(slice(weights, 1, 0, rest), g.constant(0))], 1)
  const blocks = reshape(padded, [weights.shape[0] as Dim, count, size])
  const sums = cumSum(reduceSum(blocks, [-1], false))
  const { threshold, at } = level(sums)
  const before = pick(sums, sub(at, g.constant(1)))
  const chosen = equal(g.constant(Array.from({ length: count }, (_, i) => i), [1, count, 1]), reshape(at, [at.shape[0] as Dim, 1, 1]))
  const block = reduceSum(where(chosen, blocks, g.constant(0)), [1], false)
  // The two sums of a block may differ in the last bit and leave no bucket: its last one that is not empty is meant then.
  const last = reduceMax(where(less(g.constant(0), block), iota(block), g.constant(0)), [-1])
  return add(mul(at, g.constant(size)), firstAbove(add(cumSum(block), before), threshold, last))
}

/**
 * The TOP largest of each row of x [rows, n] (all above −1), best first, and their places as float32 (exact below 2²⁴). One maximum
 * after the other: onnxruntime's TopK sorts the whole row on WebGPU, in about 170 dispatches where the vocabulary is large.
 */
function largest(x: Value): [Value, Value] {
  const g = x.graph
  const n = x.shape[1] as number
  const backwards = g.constant(Array.from({ length: n }, (_, i) => n - 1 - i), [1, n])
  const [values, places]: [Value[], Value[]] = [[], []]
  let left = x
  for (let k = 0; k < TOP; k++) {
    const value = reduceMax(left, [-1])
    // Of equal ones the first.
    const fromEnd = reduceMax(where(equal(left, value), backwards, g.constant(-1)), [-1])
    values.push(value)
    places.push(sub(g.constant(n - 1), fromEnd))
    if (k + 1 < TOP) left = where(equal(backwards, fromEnd), g.constant(-1), left)
  }
  return [concat(values, 1), concat(places, 1)]
}

/** Draws from softmax(logits / temperature) by inverse CDF over the vocabulary; uniform float32 [rows] in [0, 1). */
export function headSample(inputs: HeadInputs & { uniform: Value }, config: ModelConfig): SampleOutputs {
  const { logits, lse } = distribution(inputs, config)
  const logprobs = sub(logits, lse)
  const probs = exp(logprobs)
  const id = inverseCdf(probs, inputs.uniform)
  const [topProb, topId] = config.vocab_size > ONE_LEVEL ? largest(probs) : topK(probs, TOP)
  return { choice: flat(id), logprob: flat(pick(logprobs, id)), entropy: flat(entropyOf(probs, logprobs)), topProb, topId }
}

/** Most tokens that the filtered sampler looks at; a nucleus wider than this is cut there. */
export const FILTER_WIDTH = 1024

/**
 * The same with top-k, top-p and min-p (transformers' order: top-k, then top-p on what is left, then min-p); the
 * log-prob and entropy are still those of the unfiltered distribution. topK, topP, minP are float32 scalars.
 */
export function headSampleFiltered(
  inputs: HeadInputs & { uniform: Value; topK: Value; topP: Value; minP: Value },
  config: ModelConfig,
): SampleOutputs {
  const g = inputs.x.graph
  const { logits, lse } = distribution(inputs, config)
  const logprobs = sub(logits, lse)
  const probs = exp(logprobs)
  const [sorted, ids] = topK(probs, Math.min(FILTER_WIDTH, config.vocab_size))
  const zero = g.constant(0)
  const byK = where(less(iota(sorted), inputs.topK), sorted, zero)
  const before = sub(cumSum(byK), byK)
  const byP = where(less(before, mul(inputs.topP, reduceSum(byK, [-1]))), byK, zero)
  const floor = mul(inputs.minP, reduceMax(sorted, [-1]))
  const kept = where(less(byP, floor), zero, byP)
  const rank = inverseCdf(kept, inputs.uniform)
  // The ids stay int64, with which WebGPU cannot compute: the host looks the sampled one up.
  return {
    choice: flat(rank),
    logprob: flat(log(pick(sorted, rank))),
    entropy: flat(entropyOf(probs, logprobs)),
    topProb: slice(sorted, 1, 0, TOP),
    topId: ids,
  }
}
