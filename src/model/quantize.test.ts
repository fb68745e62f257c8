import { describe, expect, it } from 'vitest'
import { RandomStream } from '../core/random'
import { dequantizeRows, quantize } from './quantize'

const random = new RandomStream(4)
const values = Float32Array.from({ length: 32 * 40 }, () => random.normal())

describe.each([[4, 8] as const, [8, 127] as const])('%i bits', (bits, most) => {
  it('is nowhere further off than half a step, and exact at each block’s extreme', () => {
    const rows = quantize(values, bits, 'w')
    const back = dequantizeRows(rows, bits)
    for (let block = 0; block < rows.scales.length; block++) {
      const part = values.subarray(block * 32, block * 32 + 32)
      const extreme = part.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a))
      const step = Math.abs(extreme) / most
      part.forEach((value, i) => {
        // On the side away from the extreme int4 has one code less.
        const room = bits === 4 ? 1.0001 : 0.5001
        expect(Math.abs((back[block * 32 + i] as number) - value)).toBeLessThanOrEqual(step * room)
      })
      const at = part.indexOf(extreme)
      expect(Math.abs((back[block * 32 + at] as number) - extreme)).toBeLessThan(1e-6 * Math.abs(extreme) + 1e-12)
    }
  })

  it('gives back what is on its grid, bit for bit', () => {
    const once = dequantizeRows(quantize(values, bits, 'w'), bits)
    expect(dequantizeRows(quantize(once, bits, 'w'), bits)).toEqual(once)
  })

  it('keeps zeros, and blocks of denormal numbers finite', () => {
    const rows = quantize(Float32Array.from({ length: 64 }, (_, i) => (i < 32 ? 0 : 1e-44)), bits, 'w')
    expect([...rows.scales].every(Number.isFinite)).toBe(true)
    expect([...dequantizeRows(rows, bits).subarray(0, 32)].every((x) => x === 0)).toBe(true)
  })

  it.each([NaN, Infinity, -Infinity])('refuses %s and names the tensor', (bad) => {
    const broken = values.slice()
    broken[77] = bad
    expect(() => quantize(broken, bits, 'model.norm.weight')).toThrow(/model\.norm\.weight holds a value that is not a finite number/)
  })
})
