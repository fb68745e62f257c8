/** The engine in a real Chromium: WebGPU against WASM number by number, every artifact on the GPU alone, a lost GPU, threads. */

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { artifactNames } from '../../src/artifacts/spec'
import type { LoraConfig, Precision } from '../../src/core/config'
import { parseModelConfig } from '../../src/model/config'
import { CONFIG, LORA } from '../../src/runtime/testing/random-model'
import { launchChromium } from './chromium'
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

/** Calls one function of the page module in a worker of a fresh page; the page must not have complained. */
async function inWorker<Result>(server: RunningServer, name: string, arg: unknown = null): Promise<Result> {
  const { page, pageErrors, failedRequests } = await openHarness(browser, server.url)
  const result = await runInPage<Result>(page, module, name, arg, { worker: true })
  expect(pageErrors).toEqual([])
  expect(failedRequests).toEqual([])
  await page.context().close()
  return result
}

const runOn = (server: RunningServer, request: RunRequest): Promise<RunResult> => inWorker(server, 'run', request)

/** |a − b| / |b| over whole vectors. */
function relative(a: readonly number[], b: readonly number[]): number {
  const norm = (values: readonly number[]): number => Math.sqrt(values.reduce((sum, x) => sum + x * x, 0))
  expect(a.length).toBe(b.length)
  return norm(a.map((x, i) => x - (b[i] as number))) / Math.max(norm(b), 1e-12)
}

function largest(a: readonly (readonly number[])[], b: readonly (readonly number[])[]): number {
  expect(a.map((row) => row.length)).toEqual(b.map((row) => row.length))
  return Math.max(...a.flatMap((row, i) => row.map((x, k) => Math.abs(x - (b[i]?.[k] as number)))))
}

function expectSame(ours: RunResult, theirs: RunResult): void {
  expect(largest(ours.logprobs, theirs.logprobs)).toBeLessThan(1e-4)
  expect(largest(ours.entropies, theirs.entropies)).toBeLessThan(1e-4)
  expect(ours.argmax).toEqual(theirs.argmax)
  expect(Object.keys(ours.gradients)).toEqual(Object.keys(theirs.gradients))
  for (const [name, gradient] of Object.entries(theirs.gradients)) {
    expect(gradient.some((x) => Math.abs(x) > 1e-6), `${name} has a gradient`).toBe(true)
    expect(relative(ours.gradients[name] as number[], gradient), name).toBeLessThan(1e-3)
    expect(relative(ours.stepped[name] as number[], theirs.stepped[name] as number[]), `${name} after AdamW`).toBeLessThan(1e-4)
  }
  expect(ours.grad_norm / theirs.grad_norm).toBeCloseTo(1, 4)
  expect(ours.sampled.map((draws) => draws.map(({ id, top }) => [id, ...top.map((t) => t.id)]))).toEqual(
    theirs.sampled.map((draws) => draws.map(({ id, top }) => [id, ...top.map((t) => t.id)])),
  )
  const numbers = ({ sampled }: RunResult): number[][] => sampled.flat().map(({ logprob, entropy, top }) => [logprob, entropy, ...top.map((t) => t.prob)])
  expect(largest(numbers(ours), numbers(theirs))).toBeLessThan(1e-4)
  expect(ours.sampled.flat().every(({ logprob }) => logprob < 0)).toBe(true)
}

describe.each([
  ['a LoRA on all seven targets', {}],
  ['all parameters', { lora: null }],
  ['a LoRA over 4-bit codes', { precision: 'int4' }],
  ['a LoRA over 8-bit codes', { precision: 'int8' }],
] as const)('%s', (_, request) => {
  it('WebGPU computes what WASM computes, and keeps no memory from step to step', async () => {
    const wasm = await runOn(isolated, { backend: 'wasm', threads: 2, ...request })
    expect(wasm.isolated).toBe(true)
    expect(wasm.info).toMatchObject({ backend: 'wasm', threads: 2, device: '2 threads' })
    const gpu = await runOn(isolated, { backend: 'webgpu', ...request })
    expect(gpu.info).toMatchObject({ backend: 'webgpu', threads: 1, device: 'test', parameters: wasm.info.parameters, trainable: wasm.info.trainable })
    expectSame(gpu, wasm)
    for (const { bytes } of [wasm, gpu]) {
      expect(bytes).toEqual([bytes[0], bytes[0], bytes[0]])
      expect(bytes[0]).toBeGreaterThan(0)
    }
  })
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
  const { errors, works } = await inWorker<LostResult>(isolated, 'loseDevice')
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
