/** The whole page on WebGPU (SwiftShader): a step of eight episodes agrees with WASM, and a GPU lost in the next is no end. One page, as its shaders take most of the time. */

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchChromium } from './chromium'
import { linkOf, openPlayground, type Playground } from './playground'
import { startSite, type RunningServer } from './server'

let browser: Browser
let server: RunningServer
beforeAll(async () => {
  browser = await launchChromium({ webgpu: true })
  server = await startSite()
})
afterAll(async () => {
  await browser.close()
  await server.close()
})

const SETTINGS = { env: 'echo', seed: 7, prompts_per_step: 1, num_generations: 8, max_completion_length: 32 }

/** The numbers of a page's first step. */
function numbersOf({ history: [step], steps }: Awaited<ReturnType<Playground['state']>>) {
  if (!step) throw new Error('no step')
  return { metrics: step.metrics, episodes: steps.find((each) => each.step === 1)?.episodes ?? [] }
}

async function firstStepOnWasm() {
  const page = await openPlayground(browser, server.url, linkOf({ ...SETTINGS, max_steps: 1, backend: 'wasm' }))
  await page.until('ready')
  await page.press('train')
  const numbers = numbersOf(await page.until('finished'))
  page.expectQuiet()
  await page.close()
  return numbers
}

it('plays and trains a step on WebGPU, with the numbers that WASM gives; a GPU that is lost in mid-step lets it go on with WASM', async () => {
  const playground = await openPlayground(browser, server.url, linkOf({ ...SETTINGS, max_steps: 2, backend: 'webgpu' }))
  const { page, state, until, press, pace, text } = playground
  await until('ready', 240_000)
  expect(await text('badge')).toContain('WebGPU')
  expect((await state()).engine?.info).toMatchObject({ backend: 'webgpu', device: expect.stringMatching(/swiftshader/i) as string })
  await press('step')
  const gpu = numbersOf(await until('paused', 240_000))
  playground.expectQuiet()
  // At full speed a fast machine would end the second step before the GPU is gone.
  await pace(0.5)
  await press('train')
  await page.waitForFunction(() => window.playground.getState().steps.some((each) => each.step === 2 && each.episodes.some((e) => e.length > e.promptLength)), null, { timeout: 240_000 })
  // Ends Chromium's GPU process, and with it every device.
  const session = await browser.newBrowserCDPSession()
  await session.send('Browser.crashGpuProcess')
  expect((await until('failed', 240_000)).run).toMatchObject({
    error: expect.stringMatching(/GPU/) as string,
    advice: expect.stringContaining('WASM') as string,
    recoverable: true,
  })
  expect(await text('failure')).toContain('WASM')
  expect(await text('badge')).toMatch(/WASM × \d/)
  await pace(null)
  await press('train')
  await page.waitForFunction(() => window.playground.getState().run.state !== 'failed')
  const after = await until('finished')
  expect(after.history.map((h) => h.step)).toEqual([1, 2])
  expect(after.engine?.info.backend).toBe('wasm')
  await playground.close()

  expect(gpu.episodes).toHaveLength(8)
  expect(gpu.episodes.every((e) => e.finished && e.reward !== null && e.advantage !== null)).toBe(true)
  // Sampled over the cache and computed again by the training graph: the same distribution.
  expect(gpu.metrics['sampling/sampling_logp_difference/max']).toBeLessThan(1e-3)
  expect(gpu.metrics['sampling/sampling_logp_difference/mean']).toBeGreaterThan(0)
  const wasm = await firstStepOnWasm()
  expect(gpu.episodes.map((e) => [e.length, e.reward, e.advantage])).toEqual(wasm.episodes.map((e) => [e.length, e.reward, e.advantage]))
  for (const name of ['grad_norm', 'entropy', 'reward'] as const) {
    expect(gpu.metrics[name], name).toBeCloseTo(wasm.metrics[name] as number, 4)
  }
})
