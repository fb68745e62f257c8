/** A frozen matrix as the graphs use it: float32, or 4- or 8-bit codes. Everything that multiplies by one goes through here. */

import type { Precision } from '../core/config'
import type { Graph, Value } from '../graph/graph'
import { add, type Bits, gather, gatherQuantized, gemm, matmulNBits, type QuantizedMatrix, quantizedInput } from '../graph/ops'

export type LinearWeight = Value | QuantizedMatrix

/** Bits of a code; null for float32. */
export function bitsOf(precision: Precision): Bits | null {
  return precision === 'int4' ? 4 : precision === 'int8' ? 8 : null
}

/** Declares a matrix [out, in] as graph input, or as the inputs of a quantised one. */
export function matrixInput(g: Graph, name: string, dims: readonly [number, number], precision: Precision): LinearWeight {
  const bits = bitsOf(precision)
  return bits ? quantizedInput(g, name, dims, bits) : g.input(name, 'float32', dims)
}

/** x Wᵀ + c: x [rows, in] → [rows, out]. */
export function multiply(x: Value, weight: LinearWeight, c?: Value): Value {
  if (!('bits' in weight)) return gemm(x, weight, { transB: true, ...(c ? { c } : {}) })
  const y = matmulNBits(x, weight)
  return c ? add(y, c) : y
}

/** Rows of the matrix by integer ids [n], as float32 [n, in]. */
export function rowsOf(weight: LinearWeight, ids: Value): Value {
  return 'bits' in weight ? gatherQuantized(weight, ids) : gather(weight, ids)
}
