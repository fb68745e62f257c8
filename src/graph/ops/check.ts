/** Checks that every operator shares: they fail early, with the operator's and the values' names. */

import { broadcast, type Dim, show } from '../dims'
import { type DType, graphError, type Value } from '../graph'

export function describe(value: Value): string {
  return `${value.name} ${value.dtype}${show(value.shape)}`
}

/** Throws unless value has one of the dtypes. */
export function expectType(op: string, value: Value, ...dtypes: DType[]): void {
  if (!dtypes.includes(value.dtype)) throw graphError(`${op}: ${describe(value)} should be ${dtypes.join(' or ')}.`)
}

export function expectRank(op: string, value: Value, rank: number): void {
  if (value.shape.length !== rank) throw graphError(`${op}: ${describe(value)} should have ${rank} dimensions.`)
}

/** The broadcast shape of two values; throws with both names when they do not fit. */
export function broadcastOf(op: string, a: Value, b: Value): Dim[] {
  const shape = broadcast(a.shape, b.shape)
  if (!shape) throw graphError(`${op}: ${describe(a)} and ${describe(b)} do not broadcast.`)
  return shape
}

/** A non-negative axis; throws when out of range. */
export function axisOf(op: string, value: Value, axis: number): number {
  const rank = value.shape.length
  const resolved = axis < 0 ? axis + rank : axis
  if (resolved < 0 || resolved >= rank) throw graphError(`${op}: ${describe(value)} has no axis ${axis}.`)
  return resolved
}

/** The dimension at an axis, negative axes counted from the end. */
export function dimAt(value: Value, axis: number): Dim {
  return value.shape[axisOf('shape', value, axis)] as Dim
}
