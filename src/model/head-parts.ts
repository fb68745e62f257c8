/**
 * The output head in parts of the vocabulary, for vocabularies whose [rows, vocab] array (or whose table as float32) is too large to
 * make at once. The host joins the parts of the forward pass; the parts of the backward pass add up on the device.
 */

import { gradients } from '../graph/gradients'
import type { Value } from '../graph/graph'
import { argMax, exp, gatherElements, gemm, mul, reduceMax, reduceSum, rmsNorm, sub } from '../graph/ops'
import type { ModelConfig } from './config'
import { column, flat, type HeadInputs, type HeadSlopes, weightedSlopes } from './head'
import { type LinearWeight, rowsOf } from './linear-weight'

export interface HeadPartInputs extends HeadInputs {
  /** int32 [part]: the vocabulary ids of this part. */
  ids: Value
}

/** Temperature-scaled logits [rows, part] and the table's rows [part, hidden] that made them. */
function partLogits({ x, norm, table, ids, inverseTemperature }: HeadPartInputs, config: ModelConfig): { logits: Value; rows: Value } {
  const rows = rowsOf(table, ids)
  return { logits: gemm(mul(rmsNorm(x, norm, config.rms_norm_eps), inverseTemperature), rows, { transB: true }), rows }
}

export interface HeadPartScores {
  max: Value
  /** Σ exp(z − max) */
  sum: Value
  /** Σ exp(z − max) · (z − max) */
  weighted: Value
  /** Σ z */
  total: Value
  targetLogit: Value
  /** int64 [rows, 1]: place of the likeliest token in the part. */
  argmax: Value
}

/** What joinParts needs of one part, each [rows]. target int32 [rows]: a place in this part (any, for a target of another part). */
export function headForwardPart(inputs: HeadPartInputs & { target: Value }, config: ModelConfig): HeadPartScores {
  const { logits } = partLogits(inputs, config)
  const max = reduceMax(logits, [-1])
  const shifted = sub(logits, max)
  const weights = exp(shifted)
  return {
    max: flat(max),
    sum: flat(reduceSum(weights, [-1])),
    weighted: flat(reduceSum(mul(weights, shifted), [-1])),
    total: flat(reduceSum(logits, [-1])),
    targetLogit: flat(gatherElements(logits, column(inputs.target))),
    argmax: argMax(logits),
  }
}

/** Scores of one row out of its parts, in float64. `target` is the target's logit. */
export function joinParts(parts: readonly { max: number; sum: number; weighted: number }[], target: number): { logprob: number; entropy: number; lse: number } {
  const max = Math.max(...parts.map((part) => part.max))
  let sum = 0
  let weighted = 0
  for (const part of parts) {
    const shift = part.max - max
    const factor = Math.exp(shift)
    sum += factor * part.sum
    weighted += factor * (part.weighted + shift * part.sum)
  }
  const log = Math.log(sum)
  return { logprob: target - max - log, entropy: log - weighted / sum, lse: max + log }
}

/** The first term of d loss / d hidden · temperature: a · E[target], [rows, hidden]. target int32 [rows] counts over the vocabulary. */
export function headBackwardStart(table: LinearWeight, target: Value, dLogprob: Value): Value {
  return mul(column(dLogprob), rowsOf(table, target))
}

/** Adds a part's term: acc − (p · (a + b · (log p + H))) E, see headBackward in head.ts for the formula. */
export function headBackwardPart(
  inputs: HeadPartInputs & HeadSlopes & { accumulated: Value },
  config: ModelConfig,
): Value {
  const { logits, rows } = partLogits(inputs, config)
  return gemm(weightedSlopes(logits, inputs).weighted, rows, { alpha: -1, c: inputs.accumulated })
}

/** d loss / d x [rows, hidden] from the accumulated sum, through the temperature and the final norm. */
export function headBackwardEnd(x: Value, norm: Value, accumulated: Value, inverseTemperature: Value, config: ModelConfig): Value {
  const hidden = rmsNorm(x, norm, config.rms_norm_eps)
  const [dx] = gradients([{ output: hidden, seed: mul(accumulated, inverseTemperature) }], [x])
  if (!dx) throw new Error('headBackwardEnd: no gradient reached x.')
  return dx
}
