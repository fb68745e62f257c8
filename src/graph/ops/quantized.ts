/**
 * Operators over a frozen matrix [rows, columns] kept as 4- or 8-bit codes in blocks of 32 along the columns, each block with a
 * float32 scale: value = (code − zero point) · scale, zero point 8 or 128. One buffer of codes serves all of them; ONNX's types
 * differ, so each operator sees it through an input of its own.
 */

import type { Dim } from '../dims'
import { type Graph, graphError, type Value } from '../graph'
import { describe, dimAt, expectRank, expectType } from './check'

/** Columns that share a scale. */
export const BLOCK = 32

export type Bits = 4 | 8

/** Element type of the codes. */
export const codeType = (bits: Bits): 'uint4' | 'uint8' => (bits === 4 ? 'uint4' : 'uint8')

export interface QuantizedMatrix {
  bits: Bits
  /** [rows, columns]; columns are a multiple of BLOCK. */
  dims: readonly [number, number]
  /** uint8 [rows, columns / 32, bytes of a block], MatMulNBits' shape. */
  packed: Value
  /** uint4 or uint8 [rows, columns], DequantizeLinear's. */
  codes: Value
  /** uint8 [rows, bytes of a row], GatherBlockQuantized's. */
  bytes: Value
  /** float32 [rows, columns / 32] */
  scales: Value
}

/** Suffixes of the inputs of a quantised matrix; the first three are views of the same bytes. */
export const QUANTIZED_INPUTS = { packed: '', codes: '.codes', bytes: '.bytes', scales: '.scales' } as const

const byPacked = new WeakMap<Value, QuantizedMatrix>()
const zeroPoints = new WeakMap<Graph, Map<string, Value>>()

/** Shapes of a quantised matrix's inputs. */
export function quantizedShapes([rows, columns]: readonly [number, number], bits: Bits): Record<keyof typeof QUANTIZED_INPUTS, number[]> {
  const blocks = columns / BLOCK
  return { packed: [rows, blocks, (BLOCK * bits) / 8], codes: [rows, columns], bytes: [rows, (columns * bits) / 8], scales: [rows, blocks] }
}

/** Declares the inputs; those that no live node uses are left out of the file as always. */
export function quantizedInput(g: Graph, name: string, dims: readonly [number, number], bits: Bits): QuantizedMatrix {
  if (dims[1] % BLOCK !== 0) throw graphError(`${name}: ${dims[1]} columns are no whole blocks of ${BLOCK}.`)
  const shapes = quantizedShapes(dims, bits)
  return quantizedMatrix(dims, bits, {
    packed: g.input(name + QUANTIZED_INPUTS.packed, 'uint8', shapes.packed),
    codes: g.input(name + QUANTIZED_INPUTS.codes, codeType(bits), shapes.codes),
    bytes: g.input(name + QUANTIZED_INPUTS.bytes, 'uint8', shapes.bytes),
    scales: g.input(name + QUANTIZED_INPUTS.scales, 'float32', shapes.scales),
  })
}

/** Joins views of one matrix, so that the gradient rule of matmulNBits finds the codes. */
export function quantizedMatrix(dims: readonly [number, number], bits: Bits, views: Omit<QuantizedMatrix, 'bits' | 'dims'>): QuantizedMatrix {
  const matrix = { bits, dims, ...views }
  byPacked.set(views.packed, matrix)
  return matrix
}

/** The matrix whose packed view a MatMulNBits node reads. */
export function matrixOf(packed: Value): QuantizedMatrix {
  const matrix = byPacked.get(packed)
  if (!matrix) throw graphError(`MatMulNBits: ${describe(packed)} belongs to no quantised matrix.`)
  return matrix
}

/** x · Wᵀ: [rows, columns of W] → [rows, rows of W]. */
export function matmulNBits(x: Value, weight: QuantizedMatrix): Value {
  expectRank('MatMulNBits', x, 2)
  expectType('MatMulNBits', x, 'float32')
  const [n, k] = weight.dims
  if (dimAt(x, 1) !== k) throw graphError(`MatMulNBits: ${describe(x)} does not fit a matrix [${n}, ${k}].`)
  const attributes = { K: { int: k }, N: { int: n }, bits: { int: weight.bits }, block_size: { int: BLOCK } }
  const shape = [dimAt(x, 0), n]
  return x.graph.node('MatMulNBits', [x, weight.packed, weight.scales], [{ dtype: 'float32', shape }], attributes, 'com.microsoft')[0] as Value
}

/** The whole matrix as float32 [rows, columns]. */
export function dequantize({ codes, scales, dims, bits }: QuantizedMatrix): Value {
  const attributes = { axis: { int: 1 }, block_size: { int: BLOCK } }
  const zero = zeroPoint(codes.graph, [dims[0], dims[1] / BLOCK], bits)
  return codes.graph.node('DequantizeLinear', [codes, scales, zero], [{ dtype: 'float32', shape: [...dims] }], attributes)[0] as Value
}

/** Rows of the matrix picked by integer ids [n], as float32 [n, columns]. */
export function gatherQuantized({ bytes, scales, dims, bits }: QuantizedMatrix, ids: Value): Value {
  expectType('GatherBlockQuantized', ids, 'int32', 'int64')
  expectRank('GatherBlockQuantized', ids, 1)
  const attributes = { gather_axis: { int: 0 }, quantize_axis: { int: 1 }, block_size: { int: BLOCK }, bits: { int: bits } }
  const shape: Dim[] = [dimAt(ids, 0), dims[1]]
  return bytes.graph.node('GatherBlockQuantized', [bytes, ids, scales], [{ dtype: 'float32', shape }], attributes, 'com.microsoft')[0] as Value
}

/** The middle code, for every block: DequantizeLinear wants as many as there are scales. */
function zeroPoint(g: Graph, dims: [number, number], bits: Bits): Value {
  const known = zeroPoints.get(g) ?? new Map<string, Value>()
  zeroPoints.set(g, known)
  const key = `${dims.join()}:${bits}`
  const count = dims[0] * dims[1]
  const value = known.get(key) ?? g.bytes(codeType(bits), new Uint8Array(bits === 4 ? Math.ceil(count / 2) : count).fill(bits === 4 ? 0x88 : 0x80), dims)
  known.set(key, value)
  return value
}
