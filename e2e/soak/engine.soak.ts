/** WebGPU against WASM for what `npm test` leaves out: all parameters trained, a LoRA over 8-bit codes, our kernels that decode and train over codes. */

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchChromium } from '../browser/chromium'
import { expectParity, expectTrainingTwins, expectTwins } from '../browser/engine-parity'
import { openHarness, runInPage } from '../browser/harness'
import type { RunResult, TwinResult } from '../browser/modules/engine-run'
import type { TrainingTwinResult } from '../browser/modules/training-twins'
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
  expectParity((asked) => inWorker<RunResult>('run', asked), request),
)

it.each([
  ['a float32 Qwen2', { qwen2: true, precision: 'float32' }],
  ['a Qwen3 of 4-bit codes', { qwen2: false, precision: 'int4' }],
  ['a Qwen3 of 8-bit codes', { qwen2: false, precision: 'int8' }],
] as const)('our kernels decode %s as onnxruntime’s graph does', (_, request) => expectTwins((asked) => inWorker<TwinResult>('kernelTwins', asked), request))

it.each([
  ['a float32 Qwen3', { qwen2: false, precision: 'float32' }],
  ['a Qwen3 of 4-bit codes whose LoRA has two targets', { qwen2: false, precision: 'int4', targets: ['q_proj', 'v_proj'] }],
  ['a Qwen2 of 4-bit codes', { qwen2: true, precision: 'int4' }],
  ['a Qwen2 of 8-bit codes', { qwen2: true, precision: 'int8' }],
] as const)('our kernels train %s as onnxruntime’s graphs do', (_, request) =>
  expectTrainingTwins((asked) => inWorker<TrainingTwinResult>('trainingTwins', asked, 'training-twins'), request),
)

async function inWorker<Result>(name: string, asked: unknown, module = 'engine-run'): Promise<Result> {
  const { page, pageErrors } = await openHarness(browser, server.url)
  const result = await runInPage<Result>(page, `e2e/browser/modules/${module}.ts`, name, asked, { worker: true })
  expect(pageErrors).toEqual([])
  await page.context().close()
  return result
}
