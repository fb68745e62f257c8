/** Memory stays where it is: sixty GRPO steps on WASM in Node, ten small ones on WebGPU in Chromium. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from 'playwright-core'
import { builtinEnvironment } from '../../src/env/builtin'
import { GrpoTrainer } from '../../src/train/grpo'
import { launchChromium } from '../browser/chromium'
import { openHarness, runInPage } from '../browser/harness'
import { startDevServer, type RunningServer } from '../browser/server'
import { configOf, tinyChat, tinyEngine } from '../integration/grpo-run'
import { recordFigure } from '../tools/figures'
import type { MicroSteps } from './micro-steps'

const STEPS = 60
/** Caches, compiled code and pools fill up during these. */
const WARM_UP = 15
const MB = 2 ** 20

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

describe('WASM in Node', () => {
  it('holds the same memory after sixty GRPO steps as after fifteen', async () => {
    const config = configOf('echo', { num_generations: 8, prompts_per_step: 2, max_steps: STEPS, seed: 7 })
    const engine = await tinyEngine(config)
    const environment = builtinEnvironment('echo')
    await environment.connect()
    const trainer = new GrpoTrainer({ config, engine, environment, chat: await tinyChat(), onEvent: () => {} })
    const engineBytes: number[] = []
    const used: { rss: number; heap: number }[] = []
    for (let step = 0; step < STEPS; step++) {
      await trainer.step()
      engineBytes.push(engine.allocatedBytes)
      collect()
      const { rss, heapUsed } = process.memoryUsage()
      used.push({ rss, heap: heapUsed })
    }
    await engine.dispose()
    expect(engine.allocatedBytes).toBe(0)

    const growth = (key: 'rss' | 'heap') => ((used.at(-1)?.[key] ?? NaN) - (used[WARM_UP - 1]?.[key] ?? NaN)) / MB
    recordFigure({ test: 'leak', name: 'engine bytes, WASM', value: (engineBytes.at(-1) ?? 0) / MB, unit: 'MB' })
    recordFigure({ test: 'leak', name: 'engine growth over 60 steps, WASM', value: (engineBytes.at(-1) ?? 0) - (engineBytes[0] ?? 0), unit: 'bytes' })
    recordFigure({ test: 'leak', name: 'rss', value: (used.at(-1)?.rss ?? 0) / MB, unit: 'MB' })
    recordFigure({ test: 'leak', name: 'rss growth, steps 15 to 60', value: growth('rss'), unit: 'MB' })
    recordFigure({ test: 'leak', name: 'JS heap growth, steps 15 to 60', value: growth('heap'), unit: 'MB' })
    expect(new Set(engineBytes).size).toBe(1)
    // An episode's tokens kept by mistake would be some 100 kB a step, an activation far more.
    expect(growth('heap')).toBeLessThan(2)
    expect(growth('rss')).toBeLessThan(60)
  })
})

describe('WebGPU in Chromium', () => {
  let browser: Browser
  let server: RunningServer
  beforeAll(async () => {
    browser = await launchChromium({ webgpu: true })
    server = await startDevServer()
  })
  afterAll(async () => {
    await browser.close()
    await server.close()
  })

  it('holds the same GPU memory after ten small steps as after three', async () => {
    const { page, pageErrors } = await openHarness(browser, server.url)
    const { allocatedBytes, liveBytes } = await runInPage<MicroSteps>(page, 'e2e/soak/micro-steps.ts', 'microSteps', { steps: 10 }, { worker: true })
    expect(pageErrors).toEqual([])
    recordFigure({ test: 'leak', name: 'engine bytes, WebGPU', value: (allocatedBytes.at(-1) ?? 0) / MB, unit: 'MB' })
    recordFigure({ test: 'leak', name: 'engine growth over 10 steps, WebGPU', value: (allocatedBytes.at(-1) ?? 0) - (allocatedBytes[0] ?? 0), unit: 'bytes' })
    recordFigure({ test: 'leak', name: 'all GPU buffers', value: (liveBytes.at(-1) ?? 0) / MB, unit: 'MB' })
    recordFigure({ test: 'leak', name: 'growth of all GPU buffers, steps 3 to 10', value: (liveBytes.at(-1) ?? 0) - (liveBytes[2] ?? 0), unit: 'bytes' })
    expect(new Set(allocatedBytes).size).toBe(1)
    expect(liveBytes[0]).toBeGreaterThan(allocatedBytes[0] ?? Infinity)
    expect(liveBytes.at(-1)).toBe(liveBytes[2])
    await page.context().close()
  })
})
