/** The KL estimate against checked values and finite differences. */
import { describe, expect, it } from 'vitest'
import { k3, k3Derivative } from './kl'

describe('k3', () => {
  it('has the checked values', () => {
    expect(k3(-1, -0.8)).toBeCloseTo(0.021403, 6)
    expect(k3(-1, -1.2)).toBeCloseTo(0.018731, 6)
    expect(k3(-1, -1)).toBe(0)
  })

  it('has the derivative that finite differences give', () => {
    for (const d of [-2, -0.3, 0, 0.1, 1.5]) {
      const numeric = (k3(-1 + 1e-6, -1 + d) - k3(-1 - 1e-6, -1 + d)) / 2e-6
      expect(k3Derivative(-1, -1 + d)).toBeCloseTo(numeric, 8)
    }
  })

  it('keeps its digits, and stays non-negative, for policies that hardly differ', () => {
    for (const d of [1e-5, -1e-5, 1e-7, -1e-7]) {
      expect(k3(0, d)).toBeGreaterThanOrEqual(0)
      expect(k3(0, d)).toBeLessThan(1e-9)
    }
  })
})
