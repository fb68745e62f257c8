/** The whole page on WebGPU (SwiftShader, about 2 ms a dispatch): one step of eight episodes, and it agrees with WASM. */

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchChromium } from './chromium'
import { linkOf, openPlayground } from './playground'
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

/** The numbers of one step of eight echo episodes. */
async function oneStep(backend: 'webgpu' | 'wasm') {
  const settings = { env: 'echo', seed: 7, prompts_per_step: 1, num_generations: 8, max_steps: 1, max_completion_length: 32, backend }
  const playground = await openPlayground(browser, server.url, linkOf(settings))
  await playground.until('ready')
  const badge = await playground.text('badge')
  await playground.press('train')
  const { history, steps, engine } = await playground.until('finished', 240_000)
  playground.expectQuiet()
  await playground.close()
  const [step] = history
  if (!step) throw new Error('no step')
  return { badge, engine, metrics: step.metrics, episodes: steps.at(-1)?.episodes ?? [] }
}

it('plays and trains a step on WebGPU, with the numbers that WASM gives', async () => {
  const gpu = await oneStep('webgpu')
  expect(gpu.engine?.info).toMatchObject({ backend: 'webgpu', device: expect.stringMatching(/swiftshader/i) as string })
  expect(gpu.badge).toContain('WebGPU')
  expect(gpu.episodes.every((e) => e.finished && e.reward !== null && e.advantage !== null)).toBe(true)
  // Sampled over the cache and computed again by the training graph: the same distribution.
  expect(gpu.metrics['sampling/sampling_logp_difference/max']).toBeLessThan(1e-3)
  expect(gpu.metrics['sampling/sampling_logp_difference/mean']).toBeGreaterThan(0)

  const wasm = await oneStep('wasm')
  expect(gpu.episodes.map((e) => [e.length, e.reward, e.advantage])).toEqual(wasm.episodes.map((e) => [e.length, e.reward, e.advantage]))
  for (const name of ['grad_norm', 'entropy', 'reward'] as const) {
    expect(gpu.metrics[name], name).toBeCloseTo(wasm.metrics[name] as number, 4)
  }
})

it('goes on with WASM when the GPU is lost in the middle of a step', async () => {
  const settings = { env: 'echo', seed: 7, prompts_per_step: 1, num_generations: 4, max_steps: 1, backend: 'webgpu' }
  const { page, until, press, text, state, close } = await openPlayground(browser, server.url, linkOf(settings))
  await until('ready')
  await press('train')
  await page.waitForFunction(() => window.playground.getState().steps.at(-1)?.episodes.some((e) => e.length > e.promptLength + 2))
  // Ends Chromium's GPU process, and with it every device.
  const session = await browser.newBrowserCDPSession()
  await session.send('Browser.crashGpuProcess')
  expect((await until('failed')).run).toMatchObject({
    error: expect.stringMatching(/GPU/) as string,
    advice: expect.stringContaining('WASM') as string,
    recoverable: true,
  })
  expect(await text('failure')).toContain('WASM')
  expect(await text('badge')).toMatch(/WASM × \d/)
  await press('train')
  await page.waitForFunction(() => window.playground.getState().run.state !== 'failed')
  expect((await until('finished')).history.map((h) => h.step)).toEqual([1])
  expect((await state()).engine?.info.backend).toBe('wasm')
  await close()
})
