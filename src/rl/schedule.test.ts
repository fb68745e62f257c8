/** Learning-rate factors against values worked out from transformers' formulas. */
import { describe, expect, it } from 'vitest'
import { learningRateFactor } from './schedule'

describe('learningRateFactor', () => {
  it('falls linearly to 0 at the end', () => {
    expect([0, 1, 5, 9, 10, 12].map((step) => learningRateFactor('linear', step, 0, 10))).toEqual([1, 0.9, 0.5, 0.1, 0, 0])
  })
  it('warms up from 0 and then falls over the rest', () => {
    expect([0, 1, 2, 6, 10].map((step) => learningRateFactor('linear', step, 2, 10))).toEqual([0, 0.5, 1, 0.5, 0])
  })
  it('follows half a cosine period', () => {
    const at = (step: number) => learningRateFactor('cosine', step, 0, 8)
    expect(at(0)).toBe(1)
    expect(at(2)).toBeCloseTo(0.8535533905932737, 15)
    expect(at(4)).toBeCloseTo(0.5, 15)
    expect(at(8)).toBe(0)
    expect(at(9)).toBe(0)
  })
  it('stays constant after the warm-up', () => {
    expect([0, 1, 3, 4, 99].map((step) => learningRateFactor('constant', step, 4, 10))).toEqual([0, 0.25, 0.75, 1, 1])
  })
})
