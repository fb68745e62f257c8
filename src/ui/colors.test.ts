import { describe, expect, it } from 'vitest'
import { divergingScale, lowerHalf, quantile, risingScale, scaleColor, sequentialScale, signMark } from './colors'

describe('diverging scale', () => {
  it('is centred on zero and symmetric', () => {
    const scale = divergingScale([-1, 0, 2])
    expect(scale.at(0)).toBe(0)
    expect(scale.at(1)).toBeCloseTo(-scale.at(-1), 12)
    expect(scale.low).toBe(-scale.high)
  })
  it('clamps at the 2nd and 98th percentile so that one outlier does not wash out the rest', () => {
    const values = [...Array.from({ length: 100 }, (_, i) => i / 100), 1000]
    const scale = divergingScale(values)
    expect(scale.high).toBeCloseTo(0.98, 6)
    expect(scale.at(1000)).toBe(1)
  })
  it('may be centred elsewhere, and cut to the half that values can reach', () => {
    const ratio = divergingScale([0.9, 1.3], 1)
    expect(ratio.at(1)).toBe(0)
    expect(ratio.at(1.2)).toBeCloseTo(-ratio.at(0.8), 12)
    const half = lowerHalf(divergingScale([-4]))
    expect([half.low, half.high, half.at(-2)]).toEqual([-4, 0, -0.5])
  })
  it('answers zero where everything is zero or nothing is there', () => {
    expect(divergingScale([0, 0]).at(0)).toBe(0)
    expect(divergingScale([]).at(3)).toBe(0)
  })
})

describe('colours', () => {
  it('blue above zero, orange below, nothing at zero', () => {
    expect(scaleColor('diverging', 0.5)).toContain('--plus')
    expect(scaleColor('diverging', -0.5)).toContain('--minus')
    expect(scaleColor('diverging', 0)).toContain(' 0%')
    expect([1, -1, 0].map(signMark)).toEqual(['▲', '▼', ''])
  })
  it('is the same strength for equal sizes', () => {
    const strength = (css: string) => /(\d+)%/.exec(css)?.[1]
    expect(strength(scaleColor('diverging', 0.4))).toBe(strength(scaleColor('diverging', -0.4)))
  })
  it('clamps the sequential scale', () => {
    expect([-1, 0.5, 9].map(sequentialScale(0, 1).at)).toEqual([0, 0.5, 1])
  })
  it('rises from zero to the 98th percentile of what is never negative', () => {
    const scale = risingScale([...Array.from({ length: 101 }, (_, i) => i / 100), 50])
    expect(scale.high).toBeGreaterThan(0.98)
    expect(scale.high).toBeLessThan(1.01)
    expect([risingScale([]).high, risingScale([0]).at(0)]).toEqual([0, 0])
  })
  it('interpolates quantiles', () => {
    expect(quantile([0, 10], 0.25)).toBe(2.5)
  })
})
