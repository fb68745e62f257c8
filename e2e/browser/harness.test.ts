/** Proves the harness: isolation on and off, module workers, both execution providers of onnxruntime-web, real 404s. */

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium } from './chromium'
import { openHarness, runInPage } from './harness'
import type { AddResult } from './modules/ort-add'
import { startDevServer, type RunningServer } from './server'

const a = [1, 2.5, -3, 0.125]
const b = [10, 20, 30, 40]
const sum = [11, 22.5, 27, 40.125]
const module = 'e2e/browser/modules/ort-add.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium({ webgpu: true })
})
afterAll(async () => {
  await browser.close()
})

describe('with isolation', () => {
  let server: RunningServer
  beforeAll(async () => {
    server = await startDevServer()
  })
  afterAll(async () => {
    await server.close()
  })

  it.each([
    ['wasm', false],
    ['wasm', true],
    ['webgpu', false],
    ['webgpu', true],
  ] as const)('onnxruntime adds on %s (in a worker: %s)', async (ep, worker) => {
    const { page, pageErrors, failedRequests } = await openHarness(browser, server.url)
    const result = await runInPage<AddResult>(page, module, 'add', { ep, a, b }, { worker })
    expect(result).toEqual({ sum, isolated: true, threads: 2, location: ep === 'webgpu' ? 'gpu-buffer' : 'cpu', inWorker: worker })
    expect(pageErrors).toEqual([])
    expect(failedRequests).toEqual([])
    await page.context().close()
  })

  it.each([false, true])('passes on what the function throws (in a worker: %s)', async worker => {
    const { page } = await openHarness(browser, server.url)
    await expect(runInPage(page, module, 'subtract', null, { worker })).rejects.toThrow('exports no function subtract')
    const uneven = { ep: 'wasm', a: [1, 2], b: [1, 2, 3] }
    await expect(runInPage(page, module, 'add', uneven, { worker })).rejects.toThrow(/dimension/i)
    await page.context().close()
  })

  it('answers a missing model file with 404', async () => {
    expect((await fetch(`${server.url}models/no-such-model/config.json`)).status).toBe(404)
  })
})

describe('without isolation', () => {
  let server: RunningServer
  beforeAll(async () => {
    server = await startDevServer({ isolated: false })
  })
  afterAll(async () => {
    await server.close()
  })

  it('onnxruntime adds on one WASM thread, in a worker', async () => {
    const { page, pageErrors } = await openHarness(browser, server.url)
    const result = await runInPage<AddResult>(page, module, 'add', { ep: 'wasm', a, b }, { worker: true })
    expect(result).toEqual({ sum, isolated: false, threads: 1, location: 'cpu', inWorker: true })
    expect(pageErrors).toEqual([])
    await page.context().close()
  })
})
