import { describe, expect, it } from 'vitest'
import { PlaygroundError } from '../core/errors'
import { Graph } from './graph'
import * as ops from './ops'

function thrown(work: () => unknown): PlaygroundError {
  try {
    work()
  } catch (error) {
    if (error instanceof PlaygroundError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('names', () => {
  it('of inputs and weights are taken once', () => {
    const g = new Graph('block')
    g.input('x', 'float32', [2])
    expect(thrown(() => g.input('x', 'float32', [2]))).toMatchObject({ kind: 'graph', message: expect.stringMatching(/block.*\bx\b/) })
    expect(thrown(() => g.weight('x', new Float32Array(2), [2])).message).toContain('x')
  })

  it('of outputs are taken once', () => {
    const g = new Graph('block')
    const y = ops.neg(g.input('x', 'float32', [2]))
    g.output('y', y)
    expect(thrown(() => g.output('y', ops.neg(y))).message).toMatch(/block.*\by\b/)
  })

  it('come from the operator and a counter, so a graph built twice has the same', () => {
    const build = (): string[] => {
      const g = new Graph('g')
      ops.silu(ops.rmsNorm(g.input('x', 'float32', ['n', 4]), g.input('w', 'float32', [4]), 1e-6))
      return g.nodes.flatMap((node) => node.outputs.map((value) => value.name))
    }
    expect(build()).toEqual(build())
    expect(build()[0]).toMatch(/^rmsnormalization_/)
  })
})

it('refuses values of another graph, with both graphs’ names', () => {
  const [one, two] = [new Graph('one'), new Graph('two')]
  const [a, b] = [one.input('a', 'float32', [2]), two.input('b', 'float32', [2])]
  expect(thrown(() => ops.add(a, b)).message).toMatch(/Add.*\bb\b.*two.*one/)
})

it('refuses sizes that are none', () => {
  const g = new Graph('g')
  expect(thrown(() => g.input('x', 'float32', [2, -1])).message).toContain('[2, -1]')
  expect(thrown(() => g.input('z', 'float32', [1.5])).message).toContain('1.5')
})

it('stores equal constants once, and unequal ones apart', () => {
  const g = new Graph('g')
  expect(g.constant([1, 2])).toBe(g.constant(Float32Array.of(1, 2)))
  expect(g.constant([1, 2], [2, 1])).not.toBe(g.constant([1, 2]))
  expect(g.integers([1])).not.toBe(g.integers([1], [1], 'int32'))
  expect(g.integers([1], [1], 'int32')).toMatchObject({ dtype: 'int32', shape: [1] })
  expect(g.constant(1)).toMatchObject({ dtype: 'float32', shape: [] })
  expect(g.constants).toHaveLength(5)
})

it('keeps only what an output needs', () => {
  const g = new Graph('g')
  const [a, b, unused] = ['a', 'b', 'unused'].map((name) => g.input(name, 'float32', [2])) as [never, never, never]
  const sum = ops.add(a, b)
  ops.mul(sum, unused)
  g.output('y', ops.neg(sum))
  expect(g.liveNodes().map((node) => node.op)).toEqual(['Add', 'Neg'])
  expect(g.liveInputs().map((input) => input.name)).toEqual(['a', 'b'])
})
