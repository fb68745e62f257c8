/** The ONNX bytes: deterministic, free of what nobody needs, read back field by field and by onnxruntime. */

import { describe, expect, it } from 'vitest'
import { runnable } from '../runtime/testing/run-graph'
import { Graph, type Value } from './graph'
import { OPSET, toOnnx } from './onnx'
import * as ops from './ops'
import { type Field, fields, texts } from './testing/wire'

function build(): Graph {
  const g = new Graph('small')
  const x = g.input('x', 'float32', ['rows', 4])
  const w = g.input('w', 'float32', [3, 4])
  g.input('nobody', 'float32', [1])
  const y = ops.gemm(x, w, { transB: true, alpha: 0.5, c: g.weight('bias', Float32Array.of(1, 2, 3), [3]) })
  ops.exp(ops.add(y, g.constant(7)))
  g.output('y', ops.softmax(y))
  g.output('best', ops.argMax(y))
  return g
}

const message = (list: Field[], field: number): Field[][] => list.filter((f) => f.field === field).map((f) => fields(f.bytes))
const text = (list: Field[], field: number): string => texts(list, field)[0] ?? ''

describe('toOnnx', () => {
  const model = fields(toOnnx(build()))
  const graph = message(model, 7)[0] ?? []

  it('gives the same bytes each time', () => {
    expect(Buffer.from(toOnnx(build())).equals(Buffer.from(toOnnx(build())))).toBe(true)
    const g = build()
    expect(Buffer.from(toOnnx(g)).equals(Buffer.from(toOnnx(g)))).toBe(true)
  })

  it('writes versions and operator sets', () => {
    expect(Number(model.find((f) => f.field === 1)?.value)).toBe(11)
    expect(message(model, 8).map((o) => [text(o, 1), Number(o.find((f) => f.field === 2)?.value)])).toEqual([['', OPSET], ['com.microsoft', 1]])
    expect(text(graph, 2)).toBe('small')
  })

  it('leaves out nodes, constants and inputs that no output needs', () => {
    expect(message(graph, 1).map((node) => text(node, 4))).toEqual(['Gemm', 'Softmax', 'ArgMax'])
    expect(message(graph, 11).map((input) => text(input, 1))).toEqual(['x', 'w'])
    expect(message(graph, 5).map((tensor) => text(tensor, 8))).toEqual(['bias'])
    expect(message(graph, 12).map((output) => text(output, 1))).toEqual(['y', 'best'])
  })

  it('writes symbolic and known dimensions', () => {
    const x = message(graph, 11)[0] ?? []
    const tensor = message(message(x, 2)[0] ?? [], 1)[0] ?? []
    const dims = message(message(tensor, 2)[0] ?? [], 1)
    expect(text(dims[0] ?? [], 2)).toBe('rows')
    expect(Number(dims[1]?.[0]?.value)).toBe(4)
    expect(Number(tensor[0]?.value)).toBe(1)
  })

  it('writes weights as raw little-endian bytes', () => {
    const raw = (message(graph, 5)[0] ?? []).find((f) => f.field === 9)?.bytes ?? new Uint8Array()
    expect([...new Float32Array(raw.slice().buffer)]).toEqual([1, 2, 3])
  })

  it('is what onnxruntime computes', async () => {
    const session = await runnable(build())
    const out = await session.run({ x: Float32Array.of(1, 0, 0, 0), w: Float32Array.from({ length: 12 }, (_, i) => i) }, { x: [1, 4] })
    await session.release()
    const logits = [1, 2 + 2, 3 + 4]
    const total = logits.reduce((sum, z) => sum + Math.exp(z), 0)
    logits.forEach((z, i) => expect(out.y?.data[i]).toBeCloseTo(Math.exp(z) / total, 6))
    expect(Number(out.best?.data[0])).toBe(2)
  })
})

describe('refusals', () => {
  const cases: [string, RegExp, (g: Graph, x: Value) => void][] = [
    ['no output', /bad has no outputs/, () => undefined],
    ['an output that is an input', /bad: output y is an input or a constant/, (g, x) => g.output('y', x)],
    ['an output that is a constant', /bad: output y is an input or a constant/, (g) => g.output('y', g.constant(1))],
    ['two outputs of one value', /bad: outputs y and z are one value/, (g, x) => {
      const y = ops.neg(x)
      g.output('y', y)
      g.output('z', y)
    }],
  ]
  it.each(cases)('%s', (_name, expected, arrange) => {
    const g = new Graph('bad')
    arrange(g, g.input('x', 'float32', [1]))
    expect(() => toOnnx(g)).toThrow(expected)
  })
})
