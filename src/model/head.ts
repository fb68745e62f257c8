/** Final norm and output head: log-probabilities, entropies, their derivatives, and sampling, as graph code. */

import type { Dim } from '../graph/dims'
import type { Value } from '../graph/graph'
import {
  add, argMax, cast, cumSum, equal, exp, gather, gatherElements, gemm, less, log, mul, neg, reduceMax, reduceMean, reduceSum, reshape, rmsNorm, slice, sub, topK, where,
} from '../graph/ops'
import { gradients } from '../graph/gradients'
import type { ModelConfig } from './config'

/** How many of the likeliest tokens a sampled token carries. */
export const TOP = 5

interface HeadInputs {
  /** Hidden states of the last layer, before the final norm, [rows, hidden]. */
  x: Value
  norm: Value
  /** Output table [vocab, hidden]; the embedding when tied. */
  table: Value
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
  const logits = mul(gemm(hidden, table, { transB: true }), inverseTemperature)
  // WebGPU's ReduceLogSumExp overflows from logits of about 100: the maximum is written out.
  const max = reduceMax(logits, [-1])
  return { hidden, logits, lse: add(log(reduceSum(exp(sub(logits, max)), [-1])), max) }
}

const flat = (x: Value): Value => reshape(x, [x.shape[0] as Dim])
const column = (x: Value): Value => reshape(x, [x.shape[0] as Dim, 1])

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

/**
 * From d loss / d log-prob (a) and d loss / d entropy (b) to d loss / d x. With p = softmax(z), z the scaled logits:
 * ∂logp_t/∂z = e_t − p and ∂H/∂z = −p·(log p + H), so d loss / dz = a·e_t − p·(a + b·(log p + H)); no one-hot is built
 * unless the table's own gradient is wanted.
 */
export function headBackward(
  inputs: HeadInputs & { target: Value; lse: Value; entropy: Value; dLogprob: Value; dEntropy: Value },
  config: ModelConfig,
  full: boolean,
): HeadGradients {
  const { x, norm, table, inverseTemperature, target } = inputs
  const g = x.graph
  const hidden = rmsNorm(x, norm, config.rms_norm_eps)
  const logits = mul(gemm(hidden, table, { transB: true }), inverseTemperature)
  const logprobs = sub(logits, column(inputs.lse))
  const a = column(inputs.dLogprob)
  const spread = add(a, mul(column(inputs.dEntropy), add(logprobs, column(inputs.entropy))))
  const weighted = mul(exp(logprobs), spread)
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
  /** int64 [rows, TOP], from the filtered sampler [rows, FILTER_WIDTH or fewer]: their ids. */
  topId: Value
}

/** Index of the first bucket whose running sum exceeds u · total: float32 [rows, 1]; buckets are [rows, n]. */
function inverseCdf(weights: Value, uniform: Value): Value {
  const g = weights.graph
  const n = weights.shape[1] as number
  const running = cumSum(weights)
  const threshold = mul(column(uniform), reduceMax(running, [-1]))
  const above = reduceSum(cast(less(threshold, running), 'float32'), [-1])
  // Rounding can leave no bucket above the threshold; the last one is meant then.
  return sub(g.constant(n), where(less(above, g.constant(1)), g.constant(1), above))
}

const iota = (x: Value): Value => {
  const n = x.shape[1] as number
  return x.graph.constant(Array.from({ length: n }, (_, i) => i), [1, n])
}

/** One element a row, by a float32 index [rows, 1] into float32 x [rows, n]. */
function pick(x: Value, index: Value): Value {
  return reduceSum(where(equal(iota(x), index), x, x.graph.constant(0)), [-1])
}

/** Draws from softmax(logits / temperature) by inverse CDF over the vocabulary; uniform float32 [rows] in [0, 1). */
export function headSample(inputs: HeadInputs & { uniform: Value }, config: ModelConfig): SampleOutputs {
  const { logits, lse } = distribution(inputs, config)
  const logprobs = sub(logits, lse)
  const probs = exp(logprobs)
  const id = inverseCdf(probs, inputs.uniform)
  const [topProb, topId] = topK(probs, TOP)
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
