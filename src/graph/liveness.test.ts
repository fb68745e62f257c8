import { describe, expect, it } from 'vitest'
import { Graph } from './graph'
import { turnsOf } from './liveness'
import { add, exp, gemm, mul, reshape } from './ops'

/** Bytes that exist while each node runs. */
function footprint(graph: Graph, dims: Record<string, number> = {}): number[] {
  const live = new Map<string, number>()
  return turnsOf(graph, dims).map(({ made, freed }) => {
    for (const { name, bytes } of made) live.set(name, bytes)
    const now = [...live.values()].reduce((a, b) => a + b, 0)
    for (const name of freed) live.delete(name)
    return now
  })
}

describe('turnsOf', () => {
  it('makes a buffer for each product and frees it after its last use', () => {
    const g = new Graph('g')
    const [x, w] = [g.input('x', 'float32', ['n', 4]), g.input('w', 'float32', [4, 4])]
    const a = gemm(x, w)
    const b = gemm(a, w)
    g.output('y', gemm(b, w))
    // n = 2: 32 bytes each; the output stays.
    expect(footprint(g, { n: 2 })).toEqual([32, 64, 64])
    expect(turnsOf(g, { n: 2 }).map(({ freed }) => freed.length)).toEqual([0, 1, 1])
  })

  it('lets an elementwise result take the place of an input that nobody needs, but not of one that is needed', () => {
    const g = new Graph('g')
    const x = g.input('x', 'float32', [4])
    const a = exp(x)
    const b = exp(a)
    const c = mul(b, b)
    g.output('y', add(c, x))
    expect(footprint(g)).toEqual([16, 16, 16, 16])
    const h = new Graph('h')
    const z = exp(h.input('x', 'float32', [4]))
    g.output('z', exp(a))
    h.output('y', mul(exp(z), z))
    expect(footprint(h)).toEqual([16, 32, 32])
    expect(footprint(g)[1]).toBe(32)
  })

  it('does not replace a smaller input, and a view takes nothing', () => {
    const g = new Graph('g')
    const row = exp(g.input('row', 'float32', [1, 4]))
    const sum = add(g.input('x', 'float32', [8, 4]), row)
    g.output('y', exp(reshape(sum, [4, 8])))
    const turns = turnsOf(g, {})
    expect(turns.map(({ made }) => made.map(({ bytes }) => bytes))).toEqual([[16], [128], [], []])
    expect(turns.map(({ freed }) => freed.length)).toEqual([0, 1, 0, 0])
  })

  it('never frees an output, not even through a view or in place', () => {
    const g = new Graph('g')
    const a = exp(g.input('x', 'float32', [4]))
    g.output('a', reshape(a, [2, 2]))
    g.output('b', exp(a))
    expect(turnsOf(g, {}).flatMap(({ freed }) => freed)).toEqual([])
    expect(footprint(g).at(-1)).toBe(32)
  })
})
