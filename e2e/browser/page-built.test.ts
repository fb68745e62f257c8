/** The built page, from a folder below a static host's root: everything is found, and a step is trained. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DURATIONS } from '../../src/ui/durations'
import { firstLoad } from '../bench/_first-load'
import { launchChromium } from './chromium'
import { linkOf, openPlayground } from './playground'
import { buildSite, serveDist, type RunningServer } from './server'

let browser: Browser
let root: string
let server: RunningServer
beforeAll(async () => {
  browser = await launchChromium()
  root = await mkdtemp(join(tmpdir(), 'grpo-site-'))
  await buildSite(join(root, 'some/folder'))
  server = await serveDist({ outDir: root })
})
afterAll(async () => {
  await browser.close()
  await server.close()
  await rm(root, { recursive: true, force: true })
})

/** Bytes, gzipped. */
const MOST_SCRIPT = 300_000

/** On a busy machine the page would stop waiting for its first draw, and fetch what is wanted later before it. */
const patient = async (context: BrowserContext): Promise<void> => {
  await context.addInitScript((most) => {
    const wait = window.setTimeout.bind(window)
    window.setTimeout = ((act: () => void, ms?: number) => wait(act, ms === most ? 2 ** 30 : ms)) as typeof window.setTimeout
  }, DURATIONS.firstDraw)
}

it('paints, and moves the recorded run, from little JavaScript', async () => {
  const { script, files } = await firstLoad(browser, `${server.url}some/folder/`, 0, undefined, patient)
  expect(files.length).toBeGreaterThan(0)
  expect(script, JSON.stringify(files.slice(0, 8))).toBeLessThan(MOST_SCRIPT)
})

it('trains on onnxruntime and its threads, where our own kernels do not fit', async () => {
  const settings = { env: 'echo', seed: 7, prompts_per_step: 1, num_generations: 4, max_steps: 1, precision: 'int8' }
  const page = await openPlayground(browser, `${server.url}some/folder/`, linkOf(settings))
  await page.press('train')
  expect((await page.until('finished')).history).toHaveLength(1)
  page.expectQuiet()
  await page.close()
})

it('trains from a subfolder', async () => {
  const settings = { env: 'echo', seed: 7, prompts_per_step: 1, num_generations: 4, max_steps: 1 }
  const page = await openPlayground(browser, `${server.url}some/folder/`, linkOf(settings))
  await page.until('ready')
  await page.press('train')
  const { history, engine } = await page.until('finished')
  const cores = await page.page.evaluate(() => navigator.hardwareConcurrency)
  expect(engine?.info).toMatchObject({ backend: 'wasm', threads: Math.min(cores, 4) })
  expect(history).toHaveLength(1)
  await page.page.getByTestId('reward-curve').scrollIntoViewIfNeeded()
  await expect.poll(() => page.page.getByTestId('reward-curve').locator('svg.recharts-surface').count()).toBeGreaterThan(0)
  page.expectQuiet()
  await page.close()
})
