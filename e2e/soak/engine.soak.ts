/** WebGPU against WASM for what `npm test` leaves out: all parameters trained, and a LoRA over 8-bit codes. */

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchChromium } from '../browser/chromium'
import { expectParity } from '../browser/engine-parity'
import { openHarness, runInPage } from '../browser/harness'
import type { RunResult } from '../browser/modules/engine-run'
import { startDevServer, type RunningServer } from '../browser/server'

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

it.each([
  ['all parameters', { lora: null }],
  ['a LoRA over 8-bit codes', { precision: 'int8' }],
] as const)('%s: WebGPU computes what WASM computes', (_, request) =>
  expectParity(async (asked) => {
    const { page, pageErrors } = await openHarness(browser, server.url)
    const result = await runInPage<RunResult>(page, 'e2e/browser/modules/engine-run.ts', 'run', asked, { worker: true })
    expect(pageErrors).toEqual([])
    await page.context().close()
    return result
  }, request),
)
