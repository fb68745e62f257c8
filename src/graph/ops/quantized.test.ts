import { describe, expect, it } from 'vitest'
import { RandomStream } from '../../core/random'
import { runnable } from '../../runtime/testing/run-graph'
import { Graph } from '../graph'
import { frozenMatrix, frozenValues } from '../../model/testing/quantized'
import { scale } from './elementwise'
import { type Bits, dequantize, gatherQuantized, matmulNBits, quantizedInput } from './quantized'

const cases = ([4, 8] as const).flatMap((bits) => ([[7, 64], [3, 32], [33, 96]] as const).map((dims) => ({ bits, dims })))
const close = (a: ArrayLike<number>, b: ArrayLike<number>): number => Math.max(...Array.from(a, (x, i) => Math.abs(x - (b[i] as number))))

describe.each(cases)('$bits bits, $dims', ({ bits, dims }) => {
  const { values } = frozenValues(dims, bits)
  const [rows, columns] = dims

  it('dequantises, gathers rows and multiplies the same values', async () => {
    const g = new Graph('q')
    const weight = frozenMatrix(g, dims, bits)
    const ids = [rows - 1, 0, 1, 1]
    // Scaled by 1: constants alone would be folded away.
    g.output('all', scale(dequantize(weight), 1))
    g.output('some', gatherQuantized(weight, g.input('ids', 'int32', ['n'])))
    g.output('product', matmulNBits(g.input('x', 'float32', ['m', columns]), weight))
    const session = await runnable(g)
    const random = new RandomStream(2)
    const x = Float32Array.from({ length: 3 * columns }, () => random.normal())
    const out = await session.run({ ids: Int32Array.from(ids), x }, { ids: [4], x: [3, columns] })
    expect(Array.from(out.all?.data as Float32Array)).toEqual(Array.from(values))
    expect(Array.from(out.some?.data as Float32Array)).toEqual(ids.flatMap((id) => Array.from(values.subarray(id * columns, (id + 1) * columns))))
    const product = Array.from({ length: 3 * rows }, (_, i) => {
      let sum = 0
      for (let k = 0; k < columns; k++) sum += (x[Math.floor(i / rows) * columns + k] as number) * (values[(i % rows) * columns + k] as number)
      return sum
    })
    expect(close(out.product?.data as Float32Array, product)).toBeLessThan(1e-4)
    await session.release()
  })
})

it('refuses a matrix whose rows are no whole blocks', () => {
  const declare = (bits: Bits) => quantizedInput(new Graph('g'), 'w', [4, 48], bits)
  expect(() => declare(4)).toThrow('48 columns are no whole blocks of 32')
})
