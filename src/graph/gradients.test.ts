import { describe, expect, it } from 'vitest'
import { runnable } from '../runtime/testing/run-graph'
import { gradients } from './gradients'
import { Graph, type Value } from './graph'
import * as ops from './ops'

/** Values of the named outputs. */
async function evaluate(g: Graph, feeds: Record<string, number[]>): Promise<Record<string, number[]>> {
  const session = await runnable(g)
  const out = await session.run(Object.fromEntries(Object.entries(feeds).map(([name, data]) => [name, Float32Array.from(data)])))
  await session.release()
  return Object.fromEntries(Object.entries(out).map(([name, { data }]) => [name, Array.from(data, Number)]))
}

const inputs = (g: Graph, ...names: string[]): Value[] => names.map((name) => g.input(name, 'float32', [2]))

describe('several ways', () => {
  it('add up: y = x·x + x', async () => {
    const g = new Graph('g')
    const [x, seed] = inputs(g, 'x', 'seed') as [Value, Value]
    const [dx] = gradients([{ output: ops.add(ops.mul(x, x), x), seed }], [x])
    g.output('dx', dx as Value)
    expect(await evaluate(g, { x: [3, -2], seed: [1, 10] })).toEqual({ dx: [7, -30] })
  })

  it('add up over a diamond: h = x², y = h·(h + 1)', async () => {
    const g = new Graph('g')
    const [x, seed] = inputs(g, 'x', 'seed') as [Value, Value]
    const h = ops.mul(x, x)
    const y = ops.mul(h, ops.add(h, g.constant(1)))
    const [dx, dh] = gradients([{ output: y, seed }], [x, h])
    g.output('dx', dx as Value)
    g.output('dh', dh as Value)
    // dy/dh = 2h + 1, dh/dx = 2x
    expect(await evaluate(g, { x: [3, 1], seed: [1, 1] })).toEqual({ dx: [114, 6], dh: [19, 3] })
  })

  it('add up over two outputs with a seed each', async () => {
    const g = new Graph('g')
    const [x, s, t] = inputs(g, 'x', 's', 't') as [Value, Value, Value]
    const [dx] = gradients([{ output: ops.scale(x, 2), seed: s }, { output: ops.mul(x, x), seed: t }], [x])
    g.output('dx', dx as Value)
    expect(await evaluate(g, { x: [3, 4], s: [1, 0], t: [1, 1] })).toEqual({ dx: [8, 8] })
  })

  it('one seed of the same value on two outputs', async () => {
    const g = new Graph('g')
    const [x, s, t] = inputs(g, 'x', 's', 't') as [Value, Value, Value]
    const y = ops.scale(x, 5)
    const [dx] = gradients([{ output: y, seed: s }, { output: y, seed: t }], [x])
    g.output('dx', dx as Value)
    expect(await evaluate(g, { s: [1, 2], t: [10, 20] })).toEqual({ dx: [55, 110] })
  })
})

describe('what is not reached', () => {
  it('has no gradient', () => {
    const g = new Graph('g')
    const [x, aside, seed] = inputs(g, 'x', 'aside', 'seed') as [Value, Value, Value]
    const y = ops.neg(x)
    ops.mul(x, aside)
    const [dx, dAside] = gradients([{ output: y, seed }], [x, aside])
    expect(dx).not.toBeNull()
    expect(dAside).toBeNull()
  })

  it('a cast and a comparison stop it', () => {
    const g = new Graph('g')
    const [x, seed] = inputs(g, 'x', 'seed') as [Value, Value]
    expect(gradients([{ output: ops.cast(ops.less(x, g.constant(0)), 'float32'), seed }], [x])).toEqual([null])
  })

  it('costs no node', () => {
    const g = new Graph('g')
    const [x, w, seed] = inputs(g, 'x', 'w', 'seed') as [Value, Value, Value]
    const y = ops.mul(ops.exp(ops.tanh(w)), x)
    const before = g.nodes.length
    gradients([{ output: y, seed }], [x])
    // One product for dx; nothing for the frozen branch.
    expect(g.nodes.slice(before).map((node) => node.op)).toEqual(['Mul'])
  })

  it('asks for nothing, gets nothing', () => {
    expect(gradients([], [])).toEqual([])
  })
})

describe('refusals', () => {
  it('name the operator that has no rule, and its result', () => {
    const g = new Graph('g')
    const x = g.input('x', 'float32', [2, 8])
    const y = ops.cumSum(x)
    expect(() => gradients([{ output: y, seed: g.input('seed', 'float32', [2, 8]) }], [x])).toThrow(/CumSum.*cumsum_0.*no gradient rule/)
  })

  it('of attention over a cache', () => {
    const g = new Graph('g')
    const input = (name: string, shape: (number | string)[]): Value => g.input(name, 'float32', shape)
    const cache = { key: input('k0', [1, 1, 8, 16]), value: input('v0', [1, 1, 8, 16]), lastIndex: g.input('l', 'int32', [1]), total: g.input('t', 'int32', [1]), cos: input('c', [8, 8]), sin: input('s', [8, 8]) }
    const q = input('q', [1, 1, 16])
    const [y] = ops.groupQueryAttention(q, input('k', [1, 1, 16]), input('v', [1, 1, 16]), cache, 1, 1)
    expect(() => gradients([{ output: y, seed: input('seed', [1, 1, 16]) }], [q])).toThrow(/GroupQueryAttention/)
  })

  it('of a seed that does not fit, with the value and the shape', () => {
    const g = new Graph('g')
    const x = g.input('x', 'float32', [2, 3])
    const y = ops.neg(x)
    expect(() => gradients([{ output: y, seed: g.input('seed', 'float32', [3]) }], [x])).toThrow(/neg_0.*\[3\]/)
  })

  it('of index gradients over tables of unknown size', () => {
    const g = new Graph('g')
    const x = g.input('x', 'float32', ['n', 2])
    const y = ops.gather(x, g.integers([0]))
    expect(() => gradients([{ output: y, seed: g.input('seed', 'float32', [1, 2]) }], [x])).toThrow(/Gather.*known size.*n/)
  })
})
