/** Element-by-element operators, with NumPy broadcasting for those of two inputs. */

import { type DType, ELEMENT_TYPE, type Value } from '../graph'
import { broadcastOf, expectType } from './check'

function unary(op: string, x: Value): Value {
  expectType(op, x, 'float32')
  return x.graph.node(op, [x], [{ dtype: 'float32', shape: x.shape }])[0] as Value
}

function binary(op: string, a: Value, b: Value, dtypes: DType[], out?: DType): Value {
  expectType(op, a, ...dtypes)
  expectType(op, b, a.dtype)
  return a.graph.node(op, [a, b], [{ dtype: out ?? a.dtype, shape: broadcastOf(op, a, b) }])[0] as Value
}

export const add = (a: Value, b: Value): Value => binary('Add', a, b, ['float32', 'int64'])
export const sub = (a: Value, b: Value): Value => binary('Sub', a, b, ['float32', 'int64'])
export const mul = (a: Value, b: Value): Value => binary('Mul', a, b, ['float32', 'int64'])
export const div = (a: Value, b: Value): Value => binary('Div', a, b, ['float32'])
/** a < b, bool. */
export const less = (a: Value, b: Value): Value => binary('Less', a, b, ['float32', 'int32', 'int64'], 'bool')
/** a == b, bool. */
export const equal = (a: Value, b: Value): Value => binary('Equal', a, b, ['float32', 'int32', 'int64'], 'bool')

export const neg = (x: Value): Value => unary('Neg', x)
export const exp = (x: Value): Value => unary('Exp', x)
export const log = (x: Value): Value => unary('Log', x)
export const sqrt = (x: Value): Value => unary('Sqrt', x)
export const reciprocal = (x: Value): Value => unary('Reciprocal', x)
export const sigmoid = (x: Value): Value => unary('Sigmoid', x)
export const tanh = (x: Value): Value => unary('Tanh', x)

/** x · c for a number c. */
export const scale = (x: Value, c: number): Value => mul(x, x.graph.constant(c))

/** x · sigmoid(x), the activation of Qwen's gated MLP. */
export const silu = (x: Value): Value => mul(x, sigmoid(x))

/** condition ? a : b, broadcasting all three. No gradient flows to the condition. */
export function where(condition: Value, a: Value, b: Value): Value {
  expectType('Where', condition, 'bool')
  expectType('Where', b, a.dtype)
  const picked = broadcastOf('Where', a, b)
  const probe: Value = { ...a, shape: picked }
  return a.graph.node('Where', [condition, a, b], [{ dtype: a.dtype, shape: broadcastOf('Where', condition, probe) }])[0] as Value
}

/** Converts the element type. Gradients stop here. */
export function cast(x: Value, dtype: DType): Value {
  return x.graph.node('Cast', [x], [{ dtype, shape: x.shape }], { to: { int: ELEMENT_TYPE[dtype] } })[0] as Value
}
