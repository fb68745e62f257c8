// @vitest-environment happy-dom
/** The benchmark's dialog over a scripted worker: begins, tells, shows, copies, refuses, closes. */

import { act } from 'react'
import { describe, expect, it, vi } from 'vitest'
import type { BenchReport } from '../../core/bench-report'
import { StoresProvider } from '../../store/hooks'
import { engineMessages } from '../../store/testing/script'
import { mount } from '../testing/mount'
import { benchJson, benchMarkdown, benchTables } from './bench-table'
import { BenchDoor } from './BenchDoor'

const REPORT: BenchReport = {
  device: { backend: 'webgpu', adapter: 'Fast GPU', software: false, threads: 1, ortVersion: '1.30.0' },
  figures: [
    { name: 'training', model: 'random-30m', value: 2.5, range: [2.25, 3], repeats: 5 },
    { name: 'memory', model: 'tiny-qwen3', value: 9_876_000, range: null, repeats: 1 },
    { name: 'decode8', model: 'tiny-qwen3', value: 1234.5, range: [1200, 1300], repeats: 5 },
    { name: 'dispatchesToken', model: 'tiny-qwen3', value: 43, range: null, repeats: 1 },
  ],
}

async function openBench() {
  const page = await mount((stores) => <StoresProvider stores={stores}><BenchDoor /></StoresProvider>, '#v=1&bench=true')
  await page.say(...engineMessages())
  await page.until('bench-begin')
  return page
}

/** The last wish that the worker heard. */
const asked = (page: Awaited<ReturnType<typeof openBench>>) => page.port.sent.findLast(({ type }) => type === 'bench') as { requestId: number; backend: string } | undefined

describe('the benchmark', () => {
  it('opens by its link, measures the backend of the settings, and shows what came', async () => {
    const page = await openBench()
    await page.press('bench-begin')
    expect(asked(page)).toMatchObject({ backend: 'auto' })
    expect(page.find('bench-state')?.textContent).toBe('Preparing the engine')
    const requestId = asked(page)?.requestId ?? 0
    await page.say({ type: 'bench-progress', requestId, done: 0, total: 8, model: 'tiny-qwen3', report: { ...REPORT, figures: [] } })
    expect(page.find('bench-report')).toBeNull()
    await page.say({ type: 'bench-progress', requestId, done: 3, total: 8, model: 'tiny-qwen3', report: { ...REPORT, figures: REPORT.figures.slice(0, 2) } })
    expect(page.host.querySelectorAll('tbody tr').length).toBe(2)
    expect(page.find('bench-state')?.textContent).toBe('Measuring shipped model: 3 of 8 parts done')
    expect(page.host.querySelector('progress')?.value).toBe(3)
    await page.say({ type: 'bench-done', requestId, result: { ok: true, report: REPORT } })
    expect(page.find('bench-report')?.textContent).toContain('WebGPU on Fast GPU')
    const rows = [...page.host.querySelectorAll('tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))
    expect(rows).toEqual([
      ['Sampling, 8 slots together', '1235 tokens/s', '1200 to 1300', '5'],
      ['GPU dispatches, a token of 8 slots', '43', '', '1'],
      ['Memory of the engine', '9.88 MB', '', '1'],
      ['Training pass, 8 × 256 tokens', '2.50 s', '2.25 to 3.00', '5'],
    ])
    expect(page.find('bench-begin')?.textContent).toBe('Measure again')
  })

  it('says that the recorded run is held only where there is one', async () => {
    const page = await openBench()
    const why = () => page.host.querySelector('#bench-why')?.textContent
    expect(why()).toBe('')
    await act(async () => page.stores.replay.expect())
    expect(why()).toBe('The recorded run is held meanwhile.')
  })

  it('copies what it shows, and says when it may not', async () => {
    const page = await openBench()
    await page.press('bench-begin')
    await page.say({ type: 'bench-done', requestId: asked(page)?.requestId ?? 0, result: { ok: true, report: REPORT } })
    const texts: string[] = []
    vi.stubGlobal('navigator', { userAgent: 'Browser 1', clipboard: { writeText: async (text: string) => void texts.push(text) } })
    await page.press('bench-markdown')
    await page.press('bench-json')
    expect(texts).toEqual([benchMarkdown(REPORT, 'Browser 1'), benchJson(REPORT, 'Browser 1')])
    expect(page.find('bench-report')?.textContent).toContain('Copied')
    vi.stubGlobal('navigator', { userAgent: 'Browser 1' })
    await page.press('bench-markdown')
    expect(page.find('bench-report')?.textContent).toContain('The browser does not allow copying')
    vi.unstubAllGlobals()
  })

  it('says why it came to nothing, and keeps what was found before', async () => {
    const page = await openBench()
    await page.press('bench-begin')
    const first = asked(page)?.requestId ?? 0
    await page.say({ type: 'bench-done', requestId: first, result: { ok: true, report: REPORT } })
    await page.press('bench-begin')
    await page.press('bench-stop')
    expect(page.port.sent.at(-1)).toEqual({ type: 'bench-stop' })
    await page.say({ type: 'bench-done', requestId: first, result: { ok: false, error: 'an old answer' } })
    await page.say({ type: 'bench-done', requestId: asked(page)?.requestId ?? 0, result: { ok: false, error: 'The benchmark was stopped.' } })
    expect(page.host.querySelector('[role="alert"]')?.textContent).toBe('The benchmark was stopped.')
    expect(page.find('bench-report')).not.toBeNull()
  })

  it('waits for a run that trains, and tells of one that is paused', async () => {
    const page = await openBench()
    await page.say({ type: 'state', state: { state: 'running', until: 'limit' } })
    expect(page.find('bench-begin')?.disabled).toBe(true)
    expect(page.host.textContent).toContain('Pause it, or let it finish, then measure.')
    await page.say({ type: 'state', state: { state: 'paused', step: 2 } })
    expect(page.find('bench-begin')?.disabled).toBe(false)
    expect(page.host.textContent).toContain('it goes on afterwards where it stands')
  })

  it('stops when it is closed, and the link forgets it', async () => {
    const page = await openBench()
    await page.press('bench-begin')
    await page.press('close-bench')
    await act(async () => page.host.querySelector('dialog')?.dispatchEvent(new Event('close')))
    expect(page.port.sent.some(({ type }) => type === 'bench-stop')).toBe(true)
    expect(page.stores.display.getState().bench).toBe(false)
    expect(page.find('bench-begin')).toBeNull()
  })
})

describe('what is copied', () => {
  it('is a table of each model in Markdown', () => {
    const text = benchMarkdown(REPORT, 'Browser 1')
    expect(text).toContain('WebGPU on Fast GPU.')
    expect(text).toContain('| Shipped model: what | Median | Range | Repeats |\n| --- | ---: | ---: | ---: |\n| Sampling, 8 slots together | 1235 tokens/s | 1200 to 1300 | 5 |')
    expect(text).toContain('| 30 million parameters: what |')
  })

  it('is every figure in full, with its unit, as JSON', () => {
    const { figures, device, browser } = JSON.parse(benchJson(REPORT, 'Browser 1')) as { figures: unknown[]; device: unknown; browser: string }
    expect(browser).toBe('Browser 1')
    expect(device).toEqual(REPORT.device)
    expect(figures[0]).toEqual({ ...REPORT.figures[0], unit: 's' })
    expect(figures.length).toBe(4)
  })

  it('names WASM by its threads, and no model without figures', () => {
    const wasm: BenchReport = { device: { ...REPORT.device, backend: 'wasm', adapter: null, threads: 2 }, figures: REPORT.figures.slice(0, 1) }
    expect(benchMarkdown(wasm, 'B')).toContain('WASM, 2 threads.')
    expect(benchTables(wasm).map(({ model }) => model)).toEqual(['random-30m'])
  })
})
