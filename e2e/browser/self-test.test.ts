/** The self-test in a real Chromium beside a real engine: right on SwiftShader, and it notices a GPU that computes something else. */

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchChromium } from './chromium'
import { openHarness, runInPage } from './harness'
import type { SelfTestRequest, SelfTestRun } from './modules/self-test'
import { startDevServer, type RunningServer } from './server'

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

/** In a worker of a fresh page, which must not have complained. */
async function test(request: SelfTestRequest): Promise<SelfTestRun[]> {
  const { page, pageErrors, failedRequests } = await openHarness(browser, server.url)
  const runs = await runInPage<SelfTestRun[]>(page, 'e2e/browser/modules/self-test.ts', 'testBesideEngine', request, { worker: true })
  expect(runs.map((run) => run.disposed)).toEqual(request.faults.map(() => 1))
  expect(pageErrors).toEqual([])
  expect(failedRequests).toEqual([])
  await page.context().close()
  if (process.env.GRPO_BROWSER_LOG === '1') for (const { report, seconds } of runs) process.stderr.write(`${JSON.stringify(request)} ${JSON.stringify(report)} ${seconds.toFixed(1)} s\n`)
  return runs
}

/** The engine that was there before is as it was. */
function expectUnharmed({ before, after }: SelfTestRun): void {
  expect(before.token?.logprob).toBeLessThan(0)
  expect(before.logprobs.filter((x) => x < 0).length).toBeGreaterThan(5)
  expect(after).toEqual(before)
}

// On one engine, at 4 bits: what SwiftShader compiles takes most of the time. At float32 it stands before every run in page-webgpu.test.ts.
it('a GPU that is right passes, one that is wrong is noticed, one that cannot run too, and one that is taken away is no report', async () => {
  const runs = await test({ model: 'random-qwen3', precision: 'int4', faults: ['none', 'weight', 'gradient', 'not-finite', 'throws', 'none', 'lost'] })
  const [right, weight, gradient, notFinite, throws, none, lost] = runs as [SelfTestRun, SelfTestRun, SelfTestRun, SelfTestRun, SelfTestRun, SelfTestRun, SelfTestRun]
  expect(right.report).toMatchObject({ ok: true, adapter: 'Acme GPU 9', problem: '' })
  // Two engines that are not the same one differ by their rounding, and by no more.
  expect(right.report?.logprobError).toBeGreaterThan(0)
  expect(right.report?.logprobError).toBeLessThan(1e-4)
  expect(right.report?.gradientError).toBeGreaterThan(0)
  expect(right.report?.gradientError).toBeLessThan(1e-3)
  expectUnharmed(right)
  const words: [SelfTestRun, RegExp][] = [
    [weight, /: log-probs in training off by up to .* nats, log-probs in sampling off by up to/],
    [gradient, /: the LoRA gradient \(layers\.\d\.mlp\.up_proj\.lora_A\.weight\) off by up to .* of its norm;/],
    [notFinite, /: WebGPU gave numbers that are not finite;/],
    [throws, /: WebGPU could not run it \(The engine stopped: no kernel for Gemm\);/],
  ]
  for (const [run, sentence] of words) {
    expect(run.report).toMatchObject({ ok: false, adapter: 'Acme GPU 9' })
    expect(run.report?.problem).toMatch(/^On Acme GPU 9 .*; choose WASM or another browser\.$/)
    expect(run.report?.problem).toMatch(sentence)
    expectUnharmed(run)
  }
  expect(weight.report?.logprobError).toBeGreaterThan(1e-3)
  expect(gradient.report?.logprobError).toBeLessThan(1e-4)
  expect(gradient.report?.gradientError).toBeGreaterThan(1e-2)
  expect(none.report?.ok).toBe(true)
  expect(lost).toMatchObject({ report: null, rejected: 'device-lost' })
})
