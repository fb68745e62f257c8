import { describe, expect, it } from 'vitest'
import { toHalf } from './narrow'
import { widen } from './widen'

const back = (values: number[]): number[] => [...widen(new Uint8Array(toHalf(Float32Array.from(values)).buffer), 'F16')]

describe('toHalf', () => {
  it('gives every half back as it was', () => {
    const all = Uint16Array.from({ length: 0x10000 }, (_, half) => half)
    const narrowed = toHalf(widen(new Uint8Array(all.buffer), 'F16'))
    const isNaNHalf = (half: number) => (half & 0x7c00) === 0x7c00 && (half & 0x3ff) !== 0
    const other = [...all].filter((half) => (isNaNHalf(half) ? !isNaNHalf(narrowed[half] as number) : narrowed[half] !== half))
    expect(other).toEqual([])
  })

  it('rounds to the nearest, halves to the even one', () => {
    // Steps of 2⁻¹⁰ above 1.
    expect(back([1 + 2 ** -11, 1 + 3 * 2 ** -11, 1 + 2 ** -11 + 2 ** -20, -1 - 2 ** -11])).toEqual([1, 1 + 2 ** -9, 1 + 2 ** -10, -1])
    // Steps of 2⁻²⁴ below 2⁻¹⁴, and the step from the largest of them to 2⁻¹⁴.
    expect(back([2 ** -25, 3 * 2 ** -25, 1.01 * 2 ** -25, 2 ** -14 - 2 ** -26])).toEqual([0, 2 ** -23, 2 ** -24, 2 ** -14])
    expect(back([65504, 65519, 65520, -65520, 1e-30, -0])).toEqual([65504, 65504, Infinity, -Infinity, 0, -0])
    expect(back([NaN])).toEqual([NaN])
  })

  it('reads a part of an array', () => {
    expect([...toHalf(Float32Array.from([9, 1, 2]).subarray(1))]).toEqual([0x3c00, 0x4000])
  })
})
