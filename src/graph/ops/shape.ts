/** Operators that move elements without changing them. */

import { type Dim, product, quotient, type Shape, show } from '../dims'
import { graphError, type Value } from '../graph'
import { axisOf, describe, dimAt, expectRank, expectType } from './check'

/**
 * The same elements in another shape. At most one target dimension may be symbolic (it becomes ONNX's −1), unless the
 * symbolic ones stand at the same place as in x (ONNX's 0). Throws when the element counts differ.
 */
export function reshape(x: Value, shape: Shape): Value {
  if (product(x.shape) !== product(shape)) throw graphError(`Reshape: ${describe(x)} does not hold the elements of ${show(shape)}.`)
  const symbolic = shape.filter((dim, axis) => typeof dim === 'string' && x.shape[axis] !== dim)
  if (symbolic.length > 1) throw graphError(`Reshape: ${show(shape)} has more than one unknown dimension.`)
  const target = shape.map((dim, axis) => (typeof dim === 'number' ? dim : x.shape[axis] === dim ? 0 : -1))
  return x.graph.node('Reshape', [x, x.graph.integers(target)], [{ dtype: x.dtype, shape }])[0] as Value
}

/** Axis i of the result is axis perm[i] of x. */
export function transpose(x: Value, perm: readonly number[]): Value {
  expectRank('Transpose', x, perm.length)
  if ([...perm].sort((a, b) => a - b).some((axis, i) => axis !== i)) throw graphError(`Transpose: ${perm.join(', ')} is not a permutation.`)
  const shape = perm.map((axis) => x.shape[axis] as Dim)
  return x.graph.node('Transpose', [x], [{ dtype: x.dtype, shape }], { perm: { ints: [...perm] } })[0] as Value
}

/** x repeated along its dimensions of size 1 (and new leading ones) up to `shape`, whose dims must be known numbers. */
export function expand(x: Value, shape: Shape): Value {
  const known = shape.map((dim) => {
    if (typeof dim === 'string') throw graphError(`Expand: the dimension ${dim} is not known when the graph is built.`)
    return dim
  })
  const offset = shape.length - x.shape.length
  if (offset < 0 || x.shape.some((dim, i) => dim !== 1 && dim !== shape[i + offset])) {
    throw graphError(`Expand: ${describe(x)} does not broadcast to ${show(shape)}.`)
  }
  return x.graph.node('Expand', [x, x.graph.integers(known)], [{ dtype: x.dtype, shape }])[0] as Value
}

/** Elements start ≤ i < end along one axis (known numbers, end at most the dimension). */
export function slice(x: Value, axis: number, start: number, end: number): Value {
  const at = axisOf('Slice', x, axis)
  const dim = x.shape[at]
  if (typeof dim !== 'number' || start < 0 || end > dim || start >= end) {
    throw graphError(`Slice: ${start}:${end} does not lie in axis ${axis} of ${describe(x)}.`)
  }
  const g = x.graph
  const shape = x.shape.map((d, i) => (i === at ? end - start : d))
  return g.node('Slice', [x, g.integers([start]), g.integers([end]), g.integers([at])], [{ dtype: x.dtype, shape }])[0] as Value
}

/** Joins along one axis, whose dims must be known. */
export function concat(parts: readonly Value[], axis: number): Value {
  const first = parts[0]
  if (!first) throw graphError('Concat: nothing to join.')
  const at = axisOf('Concat', first, axis)
  let total = 0
  for (const part of parts) {
    const dim = part.shape[at]
    const fits = part.shape.length === first.shape.length && part.shape.every((d, i) => i === at || d === first.shape[i])
    if (!fits || typeof dim !== 'number') throw graphError(`Concat: ${describe(part)} does not continue ${describe(first)} along axis ${axis}.`)
    total += dim
  }
  const shape = first.shape.map((d, i) => (i === at ? total : d))
  return first.graph.node('Concat', parts, [{ dtype: first.dtype, shape }], { axis: { int: at } })[0] as Value
}

/** Rows of x picked by integer indices along axis 0: [n, …] and [k] → [k, …]. */
export function gather(x: Value, indices: Value): Value {
  expectType('Gather', indices, 'int32', 'int64')
  const shape = [...indices.shape, ...x.shape.slice(1)]
  return x.graph.node('Gather', [x, indices], [{ dtype: x.dtype, shape }], { axis: { int: 0 } })[0] as Value
}

/** Elements of each row: x [rows, columns] and integer indices [rows, k] → [rows, k]. */
export function gatherElements(x: Value, indices: Value): Value {
  expectType('GatherElements', indices, 'int32', 'int64')
  expectRank('GatherElements', x, 2)
  expectRank('GatherElements', indices, 2)
  if (dimAt(x, 0) !== dimAt(indices, 0)) throw graphError(`GatherElements: ${describe(indices)} has other rows than ${describe(x)}.`)
  return x.graph.node('GatherElements', [x, indices], [{ dtype: x.dtype, shape: indices.shape }], { axis: { int: 1 } })[0] as Value
}

/** Splits one dimension into two: axis of size a·b → [a, b]. */
export function splitDim(x: Value, axis: number, inner: number): Value {
  const at = axisOf('Reshape', x, axis)
  const outer = quotient(x.shape[at] as Dim, inner)
  if (outer === null) throw graphError(`Reshape: ${inner} does not divide axis ${axis} of ${describe(x)}.`)
  return reshape(x, [...x.shape.slice(0, at), outer, inner, ...x.shape.slice(at + 1)])
}
