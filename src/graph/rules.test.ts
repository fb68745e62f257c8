/** Every gradient rule against finite differences of the forward graph, both computed by onnxruntime on WASM. */

import { describe, expect, it } from 'vitest'
import { RandomStream } from '../core/random'
import { runnable } from '../runtime/testing/run-graph'
import type { Dim } from './dims'
import { gradients } from './gradients'
import { Graph, type Value } from './graph'
import * as ops from './ops'
import { RULES } from './rules'
import { frozenMatrix } from '../model/testing/quantized'

interface Case {
  /** Key of RULES that it is for. */
  rule: string
  name: string
  /** Shapes of the inputs a, b, c, …; the symbol 'n' is 3 when the graph runs. */
  shapes: Dim[][]
  build: (g: Graph, ...inputs: Value[]) => Value
  /** Inputs lie in [0.5, 2] instead of [−1, 1]. */
  positive?: boolean
}

const N = 3
const elementwise: [string, Dim[], Dim[]][] = [
  ['same shape', [2, 3], [2, 3]],
  ['trailing vector', [2, 3], [3]],
  ['row', [2, 3], [1, 3]],
  ['column', [2, 3], [2, 1]],
  ['both sides', [2, 1, 3], [4, 1]],
  ['scalar on the right', [2, 3], []],
  ['scalar on the left', [], [2, 3]],
  ['new leading dimension on the left', [3], [2, 3]],
  ['ones stay', [1, 3], [1, 1]],
  ['symbolic rows', ['n', 2], [2]],
  ['symbolic column', ['n', 2], ['n', 1]],
]
const binary = (rule: string, build: (a: Value, b: Value) => Value): Case[] =>
  elementwise.map(([name, a, b]) => ({ rule, name, shapes: [a, b], positive: rule === 'Div', build: (_g, x, y) => build(x, y) }))
const unary = (rule: string, build: (x: Value) => Value, positive = false): Case => ({
  rule, name: 'any', shapes: [[2, 3]], positive, build: (_g, x) => build(x),
})
/** bool constant of alternating truth. */
const mask = (g: Graph, dims: number[]): Value => {
  const n = dims.reduce((a, b) => a * b, 1)
  return ops.less(g.constant(Array.from({ length: n }, (_, i) => (i % 3) - 0.5), dims), g.constant(0))
}
const gemmCases: Case[] = [0, 1, 2, 3].flatMap((bits) => {
  const [transA, transB] = [(bits & 1) === 1, (bits & 2) === 2]
  const [a, b] = [transA ? [4, 2] : [2, 4], transB ? [3, 4] : [4, 3]]
  return ([null, [3], [2, 3], [1, 3], [2, 1], []] as (number[] | null)[]).map((c): Case => ({
    rule: 'Gemm',
    name: `transA ${transA}, transB ${transB}, c ${c ? `[${c.join(', ')}]` : 'none'}`,
    shapes: [a, b, ...(c ? [c] : [])],
    build: (_g, x, y, z) => ops.gemm(x, y, { transA, transB, alpha: 0.7, c: z }),
  }))
})
const reduceCases = (rule: string, reduce: typeof ops.reduceSum): Case[] =>
  [true, false].flatMap((keep) =>
    [[0], [1], [-1], [0, 2], [0, 1, 2]].map((axes): Case => ({
      rule, name: `axes ${axes.join(', ')}, keep ${keep}`, shapes: [[2, 3, 2]], build: (_g, x) => ops.tanh(reduce(x, axes, keep)),
    })),
  )
const rotate = (g: Graph, x: Value): Value => {
  const angles = Array.from({ length: 5 * 4 }, (_, i) => Math.floor(i / 4) / 3 ** (i % 4))
  return ops.rotary(x, g.integers([0, 1, 4, 2, 2, 3], [2, 3]), g.constant(angles.map(Math.cos), [5, 4]), g.constant(angles.map(Math.sin), [5, 4]))
}

const cases: Case[] = [
  ...([4, 8] as const).flatMap((bits) =>
    [[3, 32], [5, 64]].map(([rows = 0, columns = 0]): Case => ({
      rule: 'MatMulNBits', name: `${bits} bits, [${rows}, ${columns}]`, shapes: [['n', columns]],
      build: (g, x) => ops.matmulNBits(x, frozenMatrix(g, [rows, columns], bits)),
    })),
  ),
  ...binary('Add', ops.add),
  ...binary('Sub', ops.sub),
  ...binary('Mul', ops.mul),
  ...binary('Div', ops.div),
  unary('Neg', ops.neg),
  unary('Exp', ops.exp),
  unary('Log', ops.log, true),
  unary('Sqrt', ops.sqrt, true),
  unary('Reciprocal', ops.reciprocal, true),
  unary('Sigmoid', ops.sigmoid),
  unary('Tanh', ops.tanh),
  ...([[[2, 3], [2, 3], [2, 3]], [[2, 3], [3], [2, 1]], [[2, 1], [], [3]], [[3], [2, 1], [2, 3]]] as const).map(([condition, a, b]): Case => ({
    rule: 'Where', name: `[${condition.join(', ')}] ? [${a.join(', ')}] : [${b.join(', ')}]`, shapes: [[...a], [...b]],
    build: (g, x, y) => ops.where(mask(g, [...condition]), x, y),
  })),
  { rule: 'Cast', name: 'a mask made of the value itself', shapes: [[2, 3]], build: (g, x) => ops.mul(x, ops.cast(ops.less(g.constant(-2), x), 'float32')) },
  { rule: 'Reshape', name: 'known', shapes: [[2, 6]], build: (_g, x) => ops.tanh(ops.reshape(x, [3, 4])) },
  { rule: 'Reshape', name: 'symbolic', shapes: [['n', 4]], build: (_g, x) => ops.tanh(ops.splitDim(x, 1, 2)) },
  { rule: 'Transpose', name: 'a cycle of three', shapes: [[2, 3, 4]], build: (_g, x) => ops.tanh(ops.transpose(x, [2, 0, 1])) },
  { rule: 'Transpose', name: 'symbolic', shapes: [['n', 2]], build: (_g, x) => ops.tanh(ops.transpose(x, [1, 0])) },
  { rule: 'Expand', name: 'a column', shapes: [[2, 1]], build: (_g, x) => ops.expand(x, [2, 3]) },
  { rule: 'Expand', name: 'new leading dimensions', shapes: [[3]], build: (_g, x) => ops.expand(x, [2, 2, 3]) },
  ...([[0, 0, 1], [0, 1, 3], [1, 1, 3], [1, 3, 4], [1, 0, 4], [-1, 1, 2]] as const).map(([axis, from, to]): Case => ({
    rule: 'Slice', name: `axis ${axis}, ${from}:${to}`, shapes: [[3, 4]], build: (_g, x) => ops.tanh(ops.slice(x, axis, from, to)),
  })),
  { rule: 'Concat', name: 'three parts, axis 0', shapes: [[1, 2], [2, 2], [1, 2]], build: (_g, ...parts) => ops.tanh(ops.concat(parts, 0)) },
  { rule: 'Concat', name: 'last axis', shapes: [[2, 1], [2, 3]], build: (_g, ...parts) => ops.tanh(ops.concat(parts, -1)) },
  { rule: 'Concat', name: 'one value twice', shapes: [[2, 2]], build: (_g, x) => ops.tanh(ops.concat([x, x], 1)) },
  ...(['int64', 'int32'] as const).flatMap((dtype): Case[] => [
    { rule: 'Gather', name: `rows, one of them twice, ${dtype}`, shapes: [[4, 3]], build: (g, x) => ops.gather(x, g.integers([2, 0, 2], [3], dtype)) },
    { rule: 'GatherElements', name: `one a row, ${dtype}`, shapes: [[3, 4]], build: (g, x) => ops.gatherElements(x, g.integers([1, 3, 1], [3, 1], dtype)) },
  ]),
  ...reduceCases('ReduceSum', ops.reduceSum),
  ...reduceCases('ReduceMean', ops.reduceMean),
  {
    rule: 'ReduceMax', name: 'the shift of a log-sum-exp cancels', shapes: [[2, 4]],
    build: (_g, x) => {
      const max = ops.reduceMax(x, [-1])
      return ops.add(ops.log(ops.reduceSum(ops.exp(ops.sub(x, max)), [-1])), max)
    },
  },
  ...([[[2, 3], [3, 4]], [[2, 2, 3], [2, 3, 2]], [[2, 2, 3], [3, 2]], [[2, 3], [2, 3, 2]], [[2, 1, 2, 3], [3, 3, 2]], [['n', 2], [2, 3]], [[2, 'n', 2], [2, 2, 'n']]] as Dim[][][]).map(
    ([a, b]): Case => ({ rule: 'MatMul', name: `[${a?.join(', ')}] · [${b?.join(', ')}]`, shapes: [a ?? [], b ?? []], build: (_g, x, y) => ops.matmul(x, y) }),
  ),
  ...gemmCases,
  { rule: 'Softmax', name: 'rows', shapes: [[2, 4]], build: (_g, x) => ops.softmax(x) },
  { rule: 'Softmax', name: 'four dimensions, masked', shapes: [[2, 2, 2, 3]], build: (g, x) => ops.softmax(ops.add(x, g.constant([0, 0, -1e9]))) },
  { rule: 'RMSNormalization', name: 'rows', shapes: [[2, 4], [4]], build: (_g, x, w) => ops.rmsNorm(x, w, 1e-6) },
  { rule: 'RMSNormalization', name: 'three dimensions, large epsilon', shapes: [['n', 2, 4], [4]], build: (_g, x, w) => ops.rmsNorm(x, w, 0.5) },
  { rule: 'RotaryEmbedding', name: 'two rows, positions out of order', shapes: [[2, 2, 3, 8]], build: (g, x) => rotate(g, x) },
]

const numbersOf = (shape: readonly Dim[]): number[] => shape.map((dim) => (dim === 'n' ? N : (dim as number)))
const sizeOf = (shape: readonly Dim[]): number => numbersOf(shape).reduce((a, b) => a * b, 1)

/** Largest difference between the rule's gradient and the differences, relative to the largest gradient; per input. */
async function check({ rule, shapes, build, positive }: Case): Promise<{ error: number; size: number }[]> {
  const g = new Graph('case')
  const inputs = shapes.map((shape, i) => g.input('abc'[i] ?? '', 'float32', shape))
  const y = build(g, ...inputs)
  expect(g.nodes.map((node) => node.op)).toContain(rule)
  const seed = g.input('seed', 'float32', y.shape)
  // Scaled by 1: an output may not be an input, nor twice the same value.
  g.output('y', ops.scale(y, 1))
  gradients([{ output: y, seed }], inputs).forEach((d, i) => {
    expect(d, `a gradient for input ${i}`).not.toBeNull()
    expect(d?.shape).toEqual(inputs[i]?.shape)
    g.output(`d${i}`, ops.scale(d as Value, 1))
  })
  const session = await runnable(g)
  const random = new RandomStream(1, shapes.length)
  const fill = (n: number): Float32Array => Float32Array.from({ length: n }, () => (positive ? 0.5 + 1.5 * random.next() : 2 * random.next() - 1))
  const feeds: Record<string, Float32Array> = Object.fromEntries(inputs.map(({ name, shape }) => [name, fill(sizeOf(shape))]))
  feeds.seed = fill(sizeOf(y.shape))
  const dims = Object.fromEntries([...inputs, seed].map(({ name, shape }) => [name, numbersOf(shape)]))
  const loss = async (): Promise<number> => {
    const out = (await session.run(feeds, dims)).y?.data as Float32Array
    return out.reduce((sum, value, i) => sum + value * (feeds.seed?.[i] as number), 0)
  }
  const analytic = await session.run(feeds, dims)
  expect(analytic.y?.dims).toEqual(numbersOf(y.shape))
  const results: { error: number; size: number }[] = []
  for (const [i, { name }] of inputs.entries()) {
    const data = feeds[name] as Float32Array
    const expected = analytic[`d${i}`]?.data as Float32Array
    let [error, size] = [0, 0]
    for (let k = 0; k < data.length; k++) {
      const [held, h] = [data[k] as number, 1 / 32]
      const at = async (steps: number): Promise<number> => {
        data[k] = held + steps * h
        const value = await loss()
        data[k] = held
        return value
      }
      // Fourth-order central difference.
      const difference = (8 * ((await at(1)) - (await at(-1))) - ((await at(2)) - (await at(-2)))) / (12 * h)
      error = Math.max(error, Math.abs(difference - (expected[k] as number)))
      size = Math.max(size, Math.abs(difference))
    }
    results.push({ error, size })
  }
  await session.release()
  return results
}

it('has a case for every rule, and no case for another', () => {
  expect([...new Set(cases.map(({ rule }) => rule))].sort()).toEqual(Object.keys(RULES).sort())
})

describe.each(Object.keys(RULES))('%s', (rule) => {
  it.each(cases.filter((example) => example.rule === rule))('$name', async (example) => {
    for (const { error, size } of await check(example)) {
      expect(size).toBeGreaterThan(1e-3)
      expect(error).toBeLessThan(2e-4 * Math.max(1, size))
    }
  })
})

it('the check itself sees a gradient that lacks one percent', async () => {
  // No gradient passes a Cast, so the second term's is missing.
  const stopped = (x: Value): Value => ops.cast(ops.cast(x, 'float32'), 'float32')
  const [result] = await check({ rule: 'Mul', name: 'wrong', shapes: [[3]], build: (_g, x) => ops.add(ops.mul(x, x), ops.scale(stopped(x), 0.01)) })
  expect(result?.error).toBeGreaterThan(1e-3)
})
