/** The engine in a real Chromium: WebGPU against WASM number by number, every artifact on the GPU alone, a lost GPU, threads. */

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { artifactNames } from '../../src/artifacts/spec'
import type { LoraConfig, Precision } from '../../src/core/config'
import { parseModelConfig } from '../../src/model/config'
import { CONFIG, LORA } from '../../src/runtime/testing/random-model'
import { launchChromium, type WatchedPage } from './chromium'
import { expectParity, expectSame } from './engine-parity'
import { openHarness, runInPage } from './harness'
import type { LostResult, RunRequest, RunResult } from './modules/engine-run'
import { startDevServer, type RunningServer } from './server'

const module = 'e2e/browser/modules/engine-run.ts'

let browser: Browser
let isolated: RunningServer
let plain: RunningServer
beforeAll(async () => {
  browser = await launchChromium({ webgpu: true })
  isolated = await startDevServer()
  plain = await startDevServer({ isolated: false })
})
afterAll(async () => {
  await browser.close()
  await isolated.close()
  await plain.close()
})

/** A page to each server: what is compiled for a GPU stays with its page, and on SwiftShader that takes most of the time. */
const pages = new Map<RunningServer, Promise<WatchedPage>>()

/** Calls one function of the page module in the worker of the server's page, which must not have complained; `afresh` in a new one. */
async function inWorker<Result>(server: RunningServer, name: string, arg: unknown = null, afresh = false): Promise<Result> {
  const opened = (afresh ? undefined : pages.get(server)) ?? openHarness(browser, server.url)
  pages.set(server, opened)
  const { page, pageErrors, failedRequests } = await opened
  const result = await runInPage<Result>(page, module, name, arg, { worker: true })
  expect(pageErrors).toEqual([])
  expect(failedRequests).toEqual([])
  return result
}

const runOn = (server: RunningServer, request: RunRequest): Promise<RunResult> => inWorker(server, 'run', request)

describe.each([
  ['a LoRA on all seven targets', {}],
  ['a LoRA over 4-bit codes', { precision: 'int4' }],
] as const)('%s', (_, request) => {
  it('WebGPU computes what WASM computes, and keeps no memory from step to step', () => expectParity((asked) => runOn(isolated, asked), request))
})

it('every artifact of a LoRA spec, over each kind of base, and of a full-parameter spec runs on the GPU alone', async () => {
  const { made, refused } = await inWorker<{ made: number; refused: string[] }>(isolated, 'refusedArtifacts')
  expect(refused).toEqual([])
  const config = parseModelConfig(CONFIG)
  const count = (lora: LoraConfig | null, precision: Precision): number => artifactNames({ config, lora, precision }).length
  expect(made).toBe(count(LORA, 'float32') + count(null, 'float32') + count(LORA, 'int4') + count(LORA, 'int8'))
})

it('draws the same tokens from a large vocabulary', async () => {
  const [wasm, gpu] = [await inWorker<number[][]>(isolated, 'drawLarge', { backend: 'wasm' }), await inWorker<number[][]>(isolated, 'drawLarge', { backend: 'webgpu' })]
  expect(new Set(wasm[0]).size).toBeGreaterThan(5)
  expect(gpu).toEqual(wasm)
})

it('a lost GPU is said in words, ends waiting calls, and a new engine works', async () => {
  const { errors, works } = await inWorker<LostResult>(isolated, 'loseDevice', null, true)
  expect(errors).toHaveLength(4)
  for (const error of errors) {
    expect(error).toMatchObject({ kind: 'device-lost', message: expect.stringContaining('GPU was taken away') })
    expect(error.advice).toMatch(/^[A-Z].*\.$/)
  }
  expect(works).toBe(true)
})

describe('without isolation', () => {
  it('WASM has one thread and the same numbers', async () => {
    const one = await runOn(plain, { backend: 'wasm', threads: 1 })
    expect(one.isolated).toBe(false)
    expect(one.info).toMatchObject({ backend: 'wasm', threads: 1, device: '1 thread' })
    expectSame(one, await runOn(isolated, { backend: 'wasm', threads: 2 }))
  })
})
