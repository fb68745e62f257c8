/** The packaging, on the smallest site of the same shape: the same worker runs from the dev server and from a static build. */

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchChromium, openPage } from './chromium'
import { buildSite, serveDist, startDevServer } from './server'

const page = 'e2e/browser/fixture/index.html'
const sum = [1.5, 2.5, 3.5]

let browser: Browser
let outDir: string
beforeAll(async () => {
  browser = await launchChromium({ webgpu: true })
  outDir = await mkdtemp(join(tmpdir(), 'fixture-dist-'))
  await buildSite(outDir, page)
})
afterAll(async () => {
  await browser.close()
  await rm(outDir, { recursive: true, force: true })
})

async function expectFixtureToRun(url: string, isolated: boolean): Promise<void> {
  const watched = await openPage(browser)
  await watched.page.goto(url)
  await watched.page.waitForFunction(() => 'fixture' in globalThis)
  const reply = await watched.page.evaluate(() => globalThis.fixture)
  const shared = { sum, isolated, threads: isolated ? 2 : 1, inWorker: true }
  expect(reply).toEqual({ results: [{ ...shared, location: 'cpu' }, { ...shared, location: 'gpu-buffer' }], tokenizer: 'function' })
  expect(watched.pageErrors).toEqual([])
  expect(watched.consoleErrors).toEqual([])
  expect(watched.failedRequests).toEqual([])
  await watched.page.context().close()
}

it.each([true, false])('runs from the dev server (isolated: %s)', async isolated => {
  const server = await startDevServer({ isolated })
  await expectFixtureToRun(`${server.url}${page}`, isolated)
  await server.close()
})

it.each([true, false])('runs from a build on a static server (isolated: %s)', async isolated => {
  const server = await serveDist({ isolated, outDir })
  await expectFixtureToRun(`${server.url}${page}`, isolated)
  await server.close()
})

it('ships one onnxruntime: one wasm file', async () => {
  const files = await readdir(outDir, { recursive: true })
  expect(files.filter(file => file.endsWith('.wasm'))).toEqual([expect.stringContaining('asyncify')])
})

it('answers a missing file with 404, from the sources and from a build', async () => {
  for (const server of [await startDevServer(), await serveDist({ outDir })]) {
    for (const path of ['models/no-such-model/config.json', 'no-such-page']) {
      const response = await fetch(`${server.url}${path}`, { headers: { accept: 'text/html,*/*' } })
      expect([path, response.status]).toEqual([path, 404])
    }
    await server.close()
  }
})
