import { describe, expect, it } from 'vitest'
import { PLAN } from '../../store/testing/models'
import { memoryBars } from './memory-parts'

const sum = (parts: readonly { bytes: number }[]) => parts.reduce((total, part) => total + part.bytes, 0)

describe('the memory bars', () => {
  it('add up, the larger to the most at once: the KV cache counts while sampling only, what sampling worked in stays', () => {
    const { phases, parts } = memoryBars(PLAN, null)
    const rest = PLAN.peak - PLAN.weights - PLAN.adapter - PLAN.sampling - PLAN.training
    expect(rest).toBeGreaterThan(0)
    expect(phases.map(({ id, total }) => [id, total])).toEqual([
      ['sampling', PLAN.weights + PLAN.adapter + PLAN.kvCache + PLAN.sampling + rest],
      ['training', PLAN.peak],
    ])
    for (const phase of phases) {
      expect(sum(phase.parts)).toBe(phase.total)
      expect(sum(parts.filter((part) => part.in.includes(phase.id)))).toBe(phase.total)
    }
  })

  it('are as wide as the budget, or as the plan where it goes beyond', () => {
    expect(memoryBars(PLAN, 4e9).scale).toBe(4e9)
    expect(memoryBars(PLAN, 1e9).scale).toBe(PLAN.peak)
    expect(memoryBars({ ...PLAN, peak: 1 }, 1e9).scale).toBe(PLAN.weights + PLAN.adapter + PLAN.sampling + PLAN.training)
  })

  it('leave out what takes nothing, and an empty plan divides by nothing', () => {
    expect(memoryBars({ ...PLAN, kvCache: 0, peak: 0 }, null).parts.map((p) => p.id)).toEqual(['weights', 'adapter', 'sampling', 'training'])
    expect(memoryBars({ weights: 0, adapter: 0, kvCache: 0, sampling: 0, training: 0, peak: 0, largestBuffer: 0 }, null)).toMatchObject({ parts: [], scale: 1 })
  })
})
