/** Random frozen matrices as constants of a graph, and their values, for tests. */

import { RandomStream } from '../../core/random'
import { dequantizeRows, quantize } from '../quantize'
import type { Graph } from '../../graph/graph'
import { type Bits, codeType, type QuantizedMatrix, quantizedMatrix, quantizedShapes } from '../../graph/ops/quantized'

/** Values [rows · columns] that a matrix of codes holds exactly, and the codes. */
export function frozenValues([rows, columns]: readonly [number, number], bits: Bits, seed = 5) {
  const random = new RandomStream(seed, rows, columns)
  const packed = quantize(Float32Array.from({ length: rows * columns }, () => random.normal()), bits, 'w')
  return { ...packed, values: dequantizeRows(packed, bits) }
}

/** The matrix of `frozenValues` as constants. */
export function frozenMatrix(g: Graph, dims: readonly [number, number], bits: Bits, seed = 5): QuantizedMatrix {
  const { codes, scales } = frozenValues(dims, bits, seed)
  const shapes = quantizedShapes(dims, bits)
  return quantizedMatrix(dims, bits, {
    packed: g.bytes('uint8', codes, shapes.packed),
    codes: g.bytes(codeType(bits), codes, shapes.codes),
    bytes: g.bytes('uint8', codes, shapes.bytes),
    scales: g.constant(scales, shapes.scales),
  })
}
