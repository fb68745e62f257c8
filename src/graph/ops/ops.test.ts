/** Operators fail early, with their own name and the names of the values; what no rule covers is checked by value. */

import { describe, expect, it } from 'vitest'
import { runnable } from '../../runtime/testing/run-graph'
import { Graph, type Value } from '../graph'
import * as ops from '.'

const g0 = (): { g: Graph; f: (name: string, ...shape: (number | string)[]) => Value; i: (name: string, ...shape: number[]) => Value } => {
  const g = new Graph('g')
  return { g, f: (name, ...shape) => g.input(name, 'float32', shape), i: (name, ...shape) => g.input(name, 'int64', shape) }
}

describe('refusals', () => {
  const { g, f, i } = g0()
  const x = f('x', 2, 3)
  const y = f('y', 4, 5)
  const n = f('n', 'tokens', 3)
  const v = f('v', 4)
  const index = i('index', 2)
  const cos = f('cos', 8, 2)
  const truth = ops.less(x, x)
  it.each<[string, RegExp, () => unknown]>([
    ['add', /Add.*\bx float32\[2, 3\].*\by float32\[4, 5\]/, () => ops.add(x, y)],
    ['add symbols', /Add.*\bx\b.*\bn float32\[tokens, 3\]/, () => ops.add(x, n)],
    ['add types', /Add.*index int64/, () => ops.add(x, index)],
    ['exp of integers', /Exp.*index int64\[2\].*float32/, () => ops.exp(index)],
    ['where condition', /Where.*\bx\b.*bool/, () => ops.where(x, x, x)],
    ['where sides', /Where.*\bx\b.*\by\b/, () => ops.where(truth, x, y)],
    ['matmul', /MatMul.*\bx\b.*\by\b/, () => ops.matmul(x, y)],
    ['matmul rank', /MatMul.*\bv\b/, () => ops.matmul(v, y)],
    ['matmul leading', /MatMul.*\bp\b.*\bq\b/, () => ops.matmul(f('p', 2, 3, 4), f('q', 3, 4, 5))],
    ['gemm', /Gemm.*\bx\b.*\by\b/, () => ops.gemm(x, y)],
    ['gemm transposed', /Gemm.*\bx\b.*\by\b.*ᵀ/, () => ops.gemm(x, y, { transB: true })],
    ['gemm rank', /Gemm.*\bv\b.*2 dim/, () => ops.gemm(v, y)],
    ['gemm c', /Gemm.*\bv\b.*\[2, 2\]/, () => ops.gemm(x, x, { transB: true, c: v })],
    ['rmsNorm', /RMSNorm.*\bv\b.*\bx\b/, () => ops.rmsNorm(x, v, 1e-6)],
    ['rotary tables', /RotaryEmbedding.*\bcos\b.*\bh\b/, () => ops.rotary(f('h', 1, 1, 2, 8), i('at', 1, 2), cos, cos)],
    ['rotary positions', /RotaryEmbedding.*\bx\b.*int64/, () => ops.rotary(f('h2', 1, 1, 2, 4), x, cos, cos)],
    ['softmax', /Softmax.*index/, () => ops.softmax(index)],
    ['axis', /ReduceSum.*\bx\b.*no axis 2/, () => ops.reduceSum(x, [2])],
    ['reshape', /Reshape.*\bx\b.*\[7\]/, () => ops.reshape(x, [7])],
    ['reshape unknown', /Reshape.*more than one/, () => ops.reshape(f('m', 'a', 'b'), ['b', 'a'])],
    ['splitDim', /Reshape.*4.*\bx\b/, () => ops.splitDim(x, 1, 4)],
    ['transpose', /Transpose.*0, 0/, () => ops.transpose(x, [0, 0])],
    ['transpose rank', /Transpose.*\bx\b.*3 dim/, () => ops.transpose(x, [0, 1, 2])],
    ['expand', /Expand.*\bx\b.*\[4, 3\]/, () => ops.expand(x, [4, 3])],
    ['expand symbol', /Expand.*tokens/, () => ops.expand(x, ['tokens', 3])],
    ['slice', /Slice.*0:4.*\bx\b/, () => ops.slice(x, 1, 0, 4)],
    ['slice of a symbol', /Slice.*\bn\b/, () => ops.slice(n, 0, 0, 1)],
    ['slice of nothing', /Slice.*1:1/, () => ops.slice(x, 1, 1, 1)],
    ['concat', /Concat.*\by\b.*\bx\b/, () => ops.concat([x, y], 0)],
    ['concat nothing', /Concat/, () => ops.concat([], 0)],
    ['gather', /Gather.*\bx\b.*int/, () => ops.gather(y, x)],
    ['gatherElements', /GatherElements.*\bindex2\b.*\bx\b/, () => ops.gatherElements(x, i('index2', 3, 1))],
    ['topK', /TopK.*\bx\b.*5/, () => ops.topK(x, 5)],
    ['attention head size', /GroupQueryAttention.*24.*16/, () => {
      const cache = { key: x, value: x, lastIndex: x, total: x, cos, sin: cos }
      return ops.groupQueryAttention(f('query', 1, 1, 48), x, x, cache, 2, 2)
    }],
  ])('%s', (_name, message, build) => {
    const nodes = g.nodes.length
    expect(build).toThrow(message)
    // A refused node is not left in the graph.
    expect(g.nodes).toHaveLength(nodes)
  })
})

describe('values', () => {
  async function valuesOf(build: (g: Graph, x: Value) => Value[], data: number[], dims: number[]): Promise<number[][]> {
    const g = new Graph('g')
    build(g, g.input('x', 'float32', dims)).forEach((value, k) => g.output(`y${k}`, value))
    const session = await runnable(g)
    const out = await session.run({ x: Float32Array.from(data) })
    await session.release()
    return g.outputs.map(({ name, value }) => {
      expect(out[name]?.dims).toEqual(value.shape)
      return Array.from(out[name]?.data ?? [], Number)
    })
  }
  const rows = [3, 1, 2, 5, 5, 4]

  it('argMax takes the first of equals', async () => {
    expect(await valuesOf((_g, x) => [ops.argMax(x)], rows, [2, 3])).toEqual([[0, 0]])
  })
  it('topK is best first, equals in order', async () => {
    expect(await valuesOf((_g, x) => ops.topK(x, 2), rows, [2, 3])).toEqual([[3, 2, 5, 5], [0, 2, 0, 1]])
  })
  it('cumSum runs along the last axis', async () => {
    expect(await valuesOf((_g, x) => [ops.cumSum(x)], rows, [2, 3])).toEqual([[3, 4, 6, 5, 10, 14]])
  })
  it('less, equal, where and cast', async () => {
    const build = (g: Graph, x: Value): Value[] => [
      ops.cast(ops.less(x, g.constant(3)), 'float32'),
      ops.where(ops.equal(x, g.constant(5)), x, g.constant(0)),
      ops.cast(ops.cast(x, 'int32'), 'float32'),
    ]
    expect(await valuesOf(build, rows, [2, 3])).toEqual([[0, 1, 1, 0, 0, 0], [0, 0, 0, 5, 5, 0], rows])
  })
  it('reshape keeps a symbolic dimension at its place, or makes it the unknown one', async () => {
    const g = new Graph('g')
    const x = g.input('x', 'float32', ['n', 4])
    g.output('kept', ops.reshape(x, ['n', 2, 2]))
    g.output('moved', ops.reshape(x, [2, 2, 'n']))
    g.output('flat', ops.reshape(x, ['4*n']))
    const session = await runnable(g)
    const out = await session.run({ x: new Float32Array(12) }, { x: [3, 4] })
    await session.release()
    expect([out.kept?.dims, out.moved?.dims, out.flat?.dims]).toEqual([[3, 2, 2], [2, 2, 3], [12]])
  })
})
