// @vitest-environment happy-dom
/** What a chart draws of a view: lines that break, bands, stacked shares, marked points, labels. */

import { act } from 'react'
import { createRoot } from 'react-dom/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import Chart from './Chart'
import { areaPath, linePath, projection, stackOf } from './lines'
import { PLOT } from './plot'
import type { CurveLine, CurveView, Row } from './series'

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })

const row = (x: number, y: (number | null)[], change: Partial<Row> = {}): Row => ({ x, y, raw: [], band: null, lone: [], whiskers: [], ...change })

describe('paths', () => {
  it('break where a value is missing; a point alone is no line', () => {
    expect(linePath([[0, 1], [2, 3], null, [4, 5], null, [6, 7], [8, 9]])).toBe('M0,1L2,3M4,5M6,7L8,9')
    expect(areaPath([[0, 1], [2, 1], null], [[0, 5], [2, 6], [3, 7]])).toBe('M0,1L2,1L2,6L0,5Z')
  })

  it('stand where the scale says', () => {
    const at = projection({ x: [1, 3], y: [-1, 1] }, 200, 100)
    expect([at(1, -1), at(2, 0), at(3, 1), at(4, 2)]).toEqual([[0, 100], [100, 50], [200, 0], [300, -50]])
  })

  it('stack what is there', () => {
    expect(stackOf([row(1, [0.25, 0.75]), row(2, [null, null]), row(3, [null, 1])], 2)).toEqual([
      [[0, 0.25], null, [0, 0]],
      [[0.25, 1], null, [0, 1]],
    ])
  })
})

const line = (metric: string, change: Partial<CurveLine> = {}): CurveLine => ({ run: 0, metric, label: metric, color: 'red', dash: '', places: [], steps: [], values: [], drawn: [], ...change })

describe('a chart', () => {
  let host: HTMLElement
  beforeEach(() => {
    host = document.body.appendChild(document.createElement('div'))
    vi.stubGlobal('ResizeObserver', class {
      constructor(private readonly tell: (entries: unknown[]) => void) {}
      observe() {
        this.tell([{ contentRect: { width: 100 + PLOT.left + PLOT.right, height: 50 + PLOT.top + PLOT.bottom } }])
      }
      disconnect() {}
    })
  })
  afterEach(() => {
    host.remove()
    vi.unstubAllGlobals()
  })

  async function draw(view: Partial<CurveView>) {
    const scale = { x: [0, 10], xTicks: [{ at: 5, label: 'five' }], y: [0, 1], yTicks: [{ at: 0.5, label: 'half' }], log: false } as const
    const root = createRoot(host)
    await act(async () => root.render(<Chart view={{ rows: [], lines: [line('a'), line('b', { dash: '4 2' })], scale, stacked: false, smoothed: false, leftOut: 0, ...view }} right={PLOT.right} />))
    const all = (what: string) => [...host.querySelectorAll(what)]
    return { all, attribute: (what: string, name: string) => all(what).map((each) => each.getAttribute(name)), end: () => act(async () => root.unmount()) }
  }

  it('has its lines, dashes, gridlines and labels', async () => {
    const { all, attribute, end } = await draw({ rows: [row(0, [0, 1]), row(5, [0.5, null]), row(10, [1, 0], { lone: [1] })] })
    expect(attribute('.chart-line', 'd')).toEqual(['M0,50L50,25L100,0', 'M0,0M100,50'])
    expect(attribute('.chart-line', 'stroke-dasharray')).toEqual([null, '4 2'])
    expect(attribute('line', 'y1')).toEqual(['25'])
    expect(all('text').map((label) => label.textContent)).toEqual(['half', 'five'])
    // Only the point that no line reaches is marked.
    expect(all('circle').map((dot) => [dot.getAttribute('cx'), dot.getAttribute('cy')])).toEqual([['100', '50']])
    await end()
  })

  it('draws the band, and under a smoothed line what was measured', async () => {
    const measured = { raw: [0.25], band: [0, 1] as [number, number] }
    const { attribute, end } = await draw({ rows: [row(0, [0.5], measured), row(10, [0.5], measured), row(20, [0.5])], smoothed: true })
    expect(attribute('path', 'd')).toContain('M0,0L100,0L100,50L0,50Z')
    expect(attribute('.chart-line', 'd').slice(0, 3)).toEqual(['M0,37.5L100,37.5', '', 'M0,25L100,25L200,25'])
    await end()
  })

  it('marks an evaluation with its interval, and no point outside the plot', async () => {
    const { all, attribute, end } = await draw({ lines: [line('a', { intervals: [] })], rows: [row(5, [0.5], { whiskers: [[0.25, 0.75]] }), row(12, [0.5], { whiskers: [[0, 1]] })] })
    expect(all('circle')).toHaveLength(1)
    expect(attribute('g g g path', 'd')).toEqual(['M50,37.5V12.5M47,37.5h6M47,12.5h6'])
    await end()
  })

  it('stacks shares', async () => {
    const { attribute, end } = await draw({ stacked: true, rows: [row(0, [0.5, 0.5]), row(10, [0, 1])] })
    expect(attribute('path', 'd')).toEqual(['M0,25L100,50L100,50L0,50Z', 'M0,0L100,0L100,50L0,25Z'])
    await end()
  })
})
