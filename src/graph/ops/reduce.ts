/** Reductions over axes, and what is read along an axis. */

import type { Dim } from '../dims'
import { graphError, type Value } from '../graph'
import { axisOf, describe, dimAt, expectType } from './check'

function reduced(x: Value, axes: readonly number[], keep: boolean): Dim[] {
  return x.shape.flatMap((dim, i) => (axes.includes(i) ? (keep ? [1] : []) : [dim]))
}

function reduce(op: string, x: Value, axes: readonly number[], keep: boolean): Value {
  expectType(op, x, 'float32')
  const resolved = axes.map((axis) => axisOf(op, x, axis))
  const attributes = { keepdims: { int: keep ? 1 : 0 } }
  return x.graph.node(op, [x, x.graph.integers(resolved)], [{ dtype: 'float32', shape: reduced(x, resolved, keep) }], attributes)[0] as Value
}

export const reduceSum = (x: Value, axes: readonly number[], keep = true): Value => reduce('ReduceSum', x, axes, keep)
export const reduceMean = (x: Value, axes: readonly number[], keep = true): Value => reduce('ReduceMean', x, axes, keep)
/** No gradient: it is used for shifts that cancel (log-sum-exp). */
export const reduceMax = (x: Value, axes: readonly number[], keep = true): Value => reduce('ReduceMax', x, axes, keep)

/** Index of the largest element along the last axis, int64, that axis kept as 1. */
export function argMax(x: Value): Value {
  expectType('ArgMax', x, 'float32')
  const axis = x.shape.length - 1
  const attributes = { axis: { int: axis }, keepdims: { int: 1 } }
  return x.graph.node('ArgMax', [x], [{ dtype: 'int64', shape: [...x.shape.slice(0, -1), 1] }], attributes)[0] as Value
}

/** The k largest along the last axis, best first: [values, int64 indices]. */
export function topK(x: Value, k: number): [Value, Value] {
  expectType('TopK', x, 'float32')
  const dim = dimAt(x, -1)
  if (typeof dim === 'number' && k > dim) throw graphError(`TopK: ${describe(x)} has fewer than ${k} elements along its last axis.`)
  const shape = [...x.shape.slice(0, -1), k]
  return x.graph.node('TopK', [x, x.graph.integers([k])], [{ dtype: 'float32', shape }, { dtype: 'int64', shape }]) as [Value, Value]
}

/** Running sum along the last axis. */
export function cumSum(x: Value): Value {
  expectType('CumSum', x, 'float32')
  return x.graph.node('CumSum', [x, x.graph.integers([x.shape.length - 1], [])], [{ dtype: 'float32', shape: x.shape }])[0] as Value
}
