/** Matrix products. */

import { broadcast } from '../dims'
import { graphError, type Value } from '../graph'
import { describe, dimAt, expectRank, expectType } from './check'

/** Batched product [..., m, k] · [..., k, n] → [..., m, n]; leading dimensions broadcast. */
export function matmul(a: Value, b: Value): Value {
  expectType('MatMul', a, 'float32')
  expectType('MatMul', b, 'float32')
  if (a.shape.length < 2 || b.shape.length < 2 || dimAt(a, -1) !== dimAt(b, -2)) {
    throw graphError(`MatMul: ${describe(a)} and ${describe(b)} do not multiply.`)
  }
  const lead = broadcast(a.shape.slice(0, -2), b.shape.slice(0, -2))
  if (!lead) throw graphError(`MatMul: the leading dimensions of ${describe(a)} and ${describe(b)} do not broadcast.`)
  return a.graph.node('MatMul', [a, b], [{ dtype: 'float32', shape: [...lead, dimAt(a, -2), dimAt(b, -1)] }])[0] as Value
}

export interface GemmOptions {
  transA?: boolean
  transB?: boolean
  /** Factor on the product (not on c). */
  alpha?: number
  /** Added to the product: [m, n] or anything that broadcasts to it. */
  c?: Value
}

/** alpha · op(a) · op(b) + c with matrices a, b: [m, k] · [k, n] → [m, n]. */
export function gemm(a: Value, b: Value, { transA = false, transB = false, alpha = 1, c }: GemmOptions = {}): Value {
  expectRank('Gemm', a, 2)
  expectRank('Gemm', b, 2)
  const [m, k] = transA ? [dimAt(a, 1), dimAt(a, 0)] : [dimAt(a, 0), dimAt(a, 1)]
  const [kb, n] = transB ? [dimAt(b, 1), dimAt(b, 0)] : [dimAt(b, 0), dimAt(b, 1)]
  if (k !== kb) throw graphError(`Gemm: ${describe(a)}${transA ? 'ᵀ' : ''} and ${describe(b)}${transB ? 'ᵀ' : ''} do not multiply.`)
  if (c) {
    const fits = broadcast(c.shape, [m, n])
    if (!fits || fits.length !== 2 || fits[0] !== m || fits[1] !== n) throw graphError(`Gemm: ${describe(c)} cannot be added to [${m}, ${n}].`)
  }
  const attributes = { transA: { int: transA ? 1 : 0 }, transB: { int: transB ? 1 : 0 }, alpha: { float: alpha }, beta: { float: 1 } }
  return a.graph.node('Gemm', c ? [a, b, c] : [a, b], [{ dtype: 'float32', shape: [m, n] }], attributes)[0] as Value
}
