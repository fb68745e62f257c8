/** Graphs cut in two give what the whole gives. */

import { describe, expect, it } from 'vitest'
import { gradients } from './gradients'
import { Graph, type Value } from './graph'
import { add, gemm, matmul, mul, silu, transpose } from './ops'
import { after, worthKeeping } from './split'
import { type Numbers, runnable } from '../runtime/testing/run-graph'

/** y = silu(x Wᵀ) + x with its gradient by x and W. */
function build(): { g: Graph; forward: Set<Graph['nodes'][number]>; product: Value } {
  const g = new Graph('whole')
  const [x, w] = [g.input('x', 'float32', [3, 4]), g.input('w', 'float32', [4, 4])]
  const product = gemm(x, w, { transB: true })
  const y = add(silu(product), x)
  const forward = new Set(g.nodes)
  const dy = g.input('dy', 'float32', [3, 4])
  const [dx, dw] = gradients([{ output: y, seed: dy }], [x, w])
  g.output('dx', dx as Value)
  g.output('dw', dw as Value)
  return { g, forward, product }
}

describe('a graph cut in two', () => {
  it('keeps the products of matrices and nothing that is cheap', () => {
    const { g, forward, product } = build()
    expect(worthKeeping(g, forward)).toEqual([product])
  })

  it('gives the numbers of the whole from what was kept', async () => {
    const { g, forward, product } = build()
    const second = after(g, 'second', new Map(worthKeeping(g, forward).map((value) => [value, 'keep.0'])))
    expect(second.inputs.map(({ name }) => name)).toEqual(['x', 'w', 'dy', 'keep.0'])
    expect(second.nodes.filter(({ op }) => op === 'Gemm')).toHaveLength(2)
    const floats = (n: number, f: (i: number) => number) => Float32Array.from({ length: n }, (_, i) => f(i))
    const feeds = { x: floats(12, (i) => Math.sin(i)), w: floats(16, (i) => Math.cos(3 * i)), dy: floats(12, (i) => 1 / (i + 1)) }
    g.output('product', product)
    const run = async (graph: Graph, given: Record<string, Numbers>) => (await runnable(graph)).run(given)
    const whole = await run(g, feeds)
    const parts = await run(second, { ...feeds, 'keep.0': whole['product']?.data as Float32Array })
    for (const name of ['dx', 'dw']) expect(parts[name]?.data).toEqual(whole[name]?.data)
  })

  it('does not hand over what grows with the square of a dimension', () => {
    const g = new Graph('attention')
    const q = g.input('q', 'float32', ['tokens', 4])
    const scores = matmul(q, transpose(q, [1, 0]))
    const forward = new Set(g.nodes)
    g.output('out', mul(scores, scores))
    expect(worthKeeping(g, forward)).toEqual([])
  })
})
