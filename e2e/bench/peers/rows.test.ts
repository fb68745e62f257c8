/** Rows that are counted or planned: what they compare, and what they refuse. */

import { describe, expect, it } from 'vitest'
import { compareDispatches } from './dispatches'
import { growthRow as exponentRow } from './growth'
import { growthPlot } from './growth-plot'
import { growthRow, peakAgainstPlan } from './memory'

describe('dispatches', () => {
  const row = (name: string, value: number) => ({ bench: 'dispatches', row: name, value, unit: 'dispatches' })
  const counted = ['float32', 'int4'].flatMap((p) => [row(`qwen3/${p}/decode per layer`, 8), row(`qwen3/${p}/training per layer`, 91), row(`qwen2.5/${p}/decode per layer`, 3)])

  it('are those of Qwen3, beside the prototype’s', () => {
    expect(compareDispatches(counted).map(({ row, value, peerValue, ratio, met }) => [row, value, peerValue, ratio, met])).toEqual([
      ['dispatches/float32/decode per layer', 8, 31, 0.258, true],
      ['dispatches/float32/training per layer', 91, 187, 0.487, false],
      ['dispatches/int4/decode per layer', 8, 31, 0.258, true],
      ['dispatches/int4/training per layer', 91, 187, 0.487, false],
    ])
  })

  it('must have been counted', () => {
    expect(() => compareDispatches(counted.slice(0, 4))).toThrow('qwen3/int4/training per layer were not counted')
  })
})

describe('memory', () => {
  it('is flat only where not a byte was added since the third group', () => {
    expect(growthRow([1e6, 2e6, 3e6, 3e6])).toMatchObject({ row: 'memory/after 4 groups', value: 3, peerValue: 3, ratio: 1, met: true })
    expect(growthRow([1e6, 2e6, 3e6, 3e6, 3_000_001])).toMatchObject({ ratio: 1, met: false })
    expect(() => growthRow([1, 2, 3])).toThrow('3 groups')
  })

  it('may be a tenth off the plan, either way', () => {
    expect([0.89, 0.91, 1.09, 1.11].map((share) => peakAgainstPlan(share * 5e6, 5e6).met)).toEqual([false, true, true, false])
  })
})

describe('growth', () => {
  const points = [1, 2, 4].map((x) => ({ x, y: 0.1 * x, least: 0.09 * x, most: 0.12 * x }))

  it('is no worse than linear up to what a clock may be off', () => {
    const facts = { name: 'slots', unit: 'slots' }
    expect(exponentRow(facts, points, 1.04)).toMatchObject({ row: 'growth/slots', value: 1.04, met: true, note: '1: 0.100 s, 2: 0.200 s, 4: 0.400 s' })
    expect(exponentRow(facts, points, 1.06).met).toBe(false)
  })

  it('is drawn with every place, a range each, and nothing that is no number', () => {
    const svg = growthPlot([
      { name: 'slots', unit: 'slots', exponent: 1, points },
      { name: 'a < b', unit: 'LoRA rank', exponent: 0.25, points: points.map((point) => ({ ...point, y: 0.5, least: 0.5, most: 0.5 })) },
    ])
    expect(svg.match(/<circle/g)?.length).toBe(6)
    expect(svg.match(/class="range"/g)?.length).toBe(6)
    expect(svg).not.toMatch(/NaN|Infinity/)
    expect(svg).toContain('a &lt; b: x^0.25')
    expect(svg).toContain('prefers-color-scheme: dark')
    expect(() => growthPlot([{ name: 'none', unit: '', exponent: 1, points: [] }])).toThrow('no points')
  })
})
