/**
 * Gradient rules, one per operator: from d loss / d outputs to d loss / d inputs.
 * A rule may skip inputs that are not needed; it must undo broadcasting (`sumTo`).
 */

import { type Dim, sameShape, type Shape } from './dims'
import { graphError, type Node, type Value } from './graph'
import {
  add, cast, concat, dequantize, div, equal, gemm, matmul, matrixOf, mul, neg, reciprocal, reduceMean, reduceSum, reshape, rotary, scale, slice, sqrt, sub, transpose, where,
} from './ops'

export type Rule = (node: Node, upstream: readonly (Value | null)[], needed: readonly boolean[]) => (Value | null)[]

/** Sums a gradient over the axes along which `shape` was broadcast. */
export function sumTo(gradient: Value, shape: Shape): Value {
  if (sameShape(gradient.shape, shape)) return gradient
  const offset = gradient.shape.length - shape.length
  const axes = gradient.shape.flatMap((dim, i) => (i < offset || (shape[i - offset] === 1 && dim !== 1) ? [i] : []))
  return reshape(axes.length > 0 ? reduceSum(gradient, axes) : gradient, shape)
}

const input = (node: Node, i: number): Value => node.inputs[i] as Value
const output = (node: Node): Value => node.outputs[0] as Value
const intOf = (node: Node, name: string): number => {
  const a = node.attributes[name]
  return a && 'int' in a ? a.int : 0
}
const floatOf = (node: Node, name: string, otherwise: number): number => {
  const a = node.attributes[name]
  return a && 'float' in a ? a.float : otherwise
}

function unary(f: (g: Value, x: Value, y: Value) => Value): Rule {
  return (node, [g]) => [f(g as Value, input(node, 0), output(node))]
}

function binary(fa: (g: Value, a: Value, b: Value) => Value, fb: (g: Value, a: Value, b: Value) => Value): Rule {
  return (node, [g], [needA, needB]) => {
    const [a, b] = [input(node, 0), input(node, 1)]
    return [needA ? sumTo(fa(g as Value, a, b), a.shape) : null, needB ? sumTo(fb(g as Value, a, b), b.shape) : null]
  }
}

function lastTwoSwapped(x: Value): Value {
  const axes = x.shape.map((_, i) => i)
  const n = axes.length
  return transpose(x, [...axes.slice(0, n - 2), n - 1, n - 2])
}

/** Matrices on both sides of the leading broadcast dimensions; sums over those of the smaller one. */
const matmulRule: Rule = (node, [g], [needA, needB]) => {
  const [a, b] = [input(node, 0), input(node, 1)]
  const dy = g as Value
  return [needA ? sumTo(matmul(dy, lastTwoSwapped(b)), a.shape) : null, needB ? sumTo(matmul(lastTwoSwapped(a), dy), b.shape) : null]
}

/** y = alpha · op(a) op(b) + c. dA = alpha · dY op(b)ᵀ (transposed if a was), dB likewise, dC = dY summed to c's shape. */
const gemmRule: Rule = (node, [g], [needA, needB, needC]) => {
  const dy = g as Value
  const [a, b, c] = [input(node, 0), input(node, 1), node.inputs[2] ?? null]
  const [ta, tb, alpha] = [intOf(node, 'transA') === 1, intOf(node, 'transB') === 1, floatOf(node, 'alpha', 1)]
  const da = ta ? () => gemm(b, dy, { transA: tb, transB: true, alpha }) : () => gemm(dy, b, { transB: !tb, alpha })
  const db = tb ? () => gemm(dy, a, { transA: true, transB: ta, alpha }) : () => gemm(a, dy, { transA: !ta, alpha })
  return [needA ? da() : null, needB ? db() : null, c && needC ? sumTo(dy, c.shape) : null]
}

/** y = x Wᵀ over a frozen matrix of codes: dx = dy · W, W dequantised from the same bytes. */
const matmulNBitsRule: Rule = (node, [g]) => [gemm(g as Value, dequantize(matrixOf(input(node, 1)))), null, null]

/** dx = y · (dy − Σ y·dy). */
const softmaxRule = unary((g, _x, y) => {
  const weighted = mul(g, y)
  return sub(weighted, mul(y, reduceSum(weighted, [-1])))
})

/** With r = 1/√(mean x² + ε): dx = r·(dy·w − x·r²·mean(dy·w·x)), dw = Σ rows dy·x·r. */
const rmsNormRule: Rule = (node, [g], [needX, needW]) => {
  const [x, w] = [input(node, 0), input(node, 1)]
  const dy = g as Value
  const epsilon = x.graph.constant(floatOf(node, 'epsilon', 1e-6))
  const r = reciprocal(sqrt(add(reduceMean(mul(x, x), [-1]), epsilon)))
  const xr = mul(x, r)
  const gw = mul(dy, w)
  const dx = needX ? mul(r, sub(gw, mul(xr, reduceMean(mul(gw, xr), [-1])))) : null
  return [dx, needW ? sumTo(mul(dy, xr), w.shape) : null]
}

/** A rotation's transpose is the rotation by the opposite angle. */
const rotaryRule: Rule = (node, [g]) => {
  const [positions, cos, sin] = [input(node, 1), input(node, 2), input(node, 3)]
  return [rotary(g as Value, positions, cos, neg(sin)), null, null, null]
}

function zeros(graph: Value['graph'], shape: Shape): Value {
  const dims = shape.map((dim: Dim) => {
    if (typeof dim === 'string') throw graphError(`A zero gradient of unknown size ${dim} is not supported.`)
    return dim
  })
  return graph.constant(new Float32Array(dims.reduce((a, b) => a * b, 1)), dims)
}

const sliceRule: Rule = (node, [g]) => {
  const x = input(node, 0)
  const dy = g as Value
  const axis = x.shape.findIndex((dim, i) => dim !== dy.shape[i])
  if (axis < 0) return [dy]
  const starts = x.graph.constants.find((c) => c.value === node.inputs[1])
  const start = Number(starts?.data[0] ?? 0)
  const pad = (size: number): Value => zeros(x.graph, x.shape.map((d, i) => (i === axis ? size : d)))
  const after = (x.shape[axis] as number) - start - (dy.shape[axis] as number)
  return [concat([...(start > 0 ? [pad(start)] : []), dy, ...(after > 0 ? [pad(after)] : [])], axis)]
}

const concatRule: Rule = (node, [g]) => {
  const axis = intOf(node, 'axis')
  let at = 0
  return node.inputs.map((part) => {
    const size = (part as Value).shape[axis] as number
    at += size
    return slice(g as Value, axis, at - size, at)
  })
}

function known(dim: Dim, op: string): number {
  if (typeof dim === 'string') throw graphError(`${op}: the gradient needs a known size, not ${dim}.`)
  return dim
}

/** 0, 1, … in the integer type of `like`. */
function countUp(graph: Value['graph'], length: number, dims: number[], like: Value): Value {
  return graph.integers(Array.from({ length }, (_, i) => i), dims, like.dtype === 'int32' ? 'int32' : 'int64')
}

/** Rows picked by index: a one-hot matrix product puts them back (WebGPU has no scatter that adds). */
const gatherRule: Rule = (node, [g], [needed]) => {
  const [x, indices] = [input(node, 0), input(node, 1)]
  const dy = g as Value
  if (!needed) return [null, null]
  if (x.shape.length !== 2 || indices.shape.length !== 1) throw graphError('Gather: the gradient is written for a table and a list of rows.')
  const rows = known(x.shape[0] as Dim, 'Gather')
  const iota = countUp(x.graph, rows, [rows, 1], indices)
  const oneHot = cast(equal(iota, reshape(indices, [1, indices.shape[0] as Dim])), 'float32')
  return [gemm(oneHot, dy), null]
}

/** d of one element a row: put back where the column index equals, without a scatter. */
const gatherElementsRule: Rule = (node, [g]) => {
  const [x, indices] = [input(node, 0), input(node, 1)]
  const columns = known(x.shape[1] as Dim, 'GatherElements')
  if (indices.shape[1] !== 1) throw graphError('GatherElements: the gradient is written for one index a row.')
  const iota = countUp(x.graph, columns, [1, columns], indices)
  return [where(equal(iota, indices), g as Value, x.graph.constant(0)), null]
}

const reduceRule =
  (mean: boolean): Rule =>
  (node, [g]) => {
    const x = input(node, 0)
    const axes = x.graph.constants.find((c) => c.value === node.inputs[1])
    const list = Array.from(axes?.data ?? [], Number)
    const kept = reshape(g as Value, x.shape.map((dim, i) => (list.includes(i) ? 1 : dim)))
    const count = mean ? list.reduce((n, axis) => n * (x.shape[axis] as number), 1) : 1
    if (!Number.isFinite(count)) throw graphError('ReduceMean: the gradient needs axes of known size.')
    const ones = add(mul(x, x.graph.constant(0)), x.graph.constant(1))
    return [mul(mean ? scale(kept, 1 / count) : kept, ones), null]
  }

export const RULES: Readonly<Record<string, Rule>> = {
  Add: binary((g) => g, (g) => g),
  Sub: binary((g) => g, (g) => neg(g)),
  Mul: binary((g, _a, b) => mul(g, b), (g, a) => mul(g, a)),
  Div: binary((g, _a, b) => div(g, b), (g, a, b) => neg(div(mul(g, a), mul(b, b)))),
  Neg: unary((g) => neg(g)),
  Exp: unary((g, _x, y) => mul(g, y)),
  Log: unary((g, x) => div(g, x)),
  Sqrt: unary((g, _x, y) => div(scale(g, 0.5), y)),
  Reciprocal: unary((g, _x, y) => neg(mul(g, mul(y, y)))),
  Sigmoid: unary((g, _x, y) => mul(g, sub(y, mul(y, y)))),
  Tanh: unary((g, _x, y) => sub(g, mul(g, mul(y, y)))),
  Where: (node, [g]) => {
    const [condition, a, b] = [input(node, 0), input(node, 1), input(node, 2)]
    const zero = condition.graph.constant(0)
    return [null, sumTo(where(condition, g as Value, zero), a.shape), sumTo(where(condition, zero, g as Value), b.shape)]
  },
  Cast: () => [null],
  Reshape: (node, [g]) => [reshape(g as Value, input(node, 0).shape), null],
  Transpose: (node, [g]) => {
    const perm = node.attributes.perm
    const axes = perm && 'ints' in perm ? perm.ints : []
    return [transpose(g as Value, axes.map((_, i) => axes.indexOf(i)))]
  },
  Expand: (node, [g]) => [sumTo(g as Value, input(node, 0).shape), null],
  Slice: sliceRule,
  Concat: concatRule,
  Gather: gatherRule,
  GatherElements: gatherElementsRule,
  ReduceSum: reduceRule(false),
  ReduceMean: reduceRule(true),
  /** Used only as a shift that cancels: its gradient is zero by contract (see reduceMax). */
  ReduceMax: () => [null, null],
  MatMul: matmulRule,
  Gemm: gemmRule,
  MatMulNBits: matmulNBitsRule,
  Softmax: softmaxRule,
  RMSNormalization: rmsNormRule,
  RotaryEmbedding: rotaryRule,
}
