import { describe, expect, it } from 'vitest'
import { wilson } from './interval'

describe('the interval of a share', () => {
  // scipy.stats.binomtest(k, n).proportion_ci(method='wilson')
  it.each([
    [0, 10, 0, 0.27753279986288926],
    [5, 10, 0.236593090512564, 0.7634069094874361],
    [10, 10, 0.7224672001371109, 1],
    [41, 64, 0.518208506097791, 0.7471159770854825],
  ])('of %i in %i', (successes, of, low, high) => {
    const found = wilson(successes, of)
    expect(found[0]).toBeCloseTo(low, 12)
    expect(found[1]).toBeCloseTo(high, 12)
  })
  it('says nothing where nothing was measured', () => {
    expect(wilson(0, 0)).toEqual([0, 1])
  })
})
