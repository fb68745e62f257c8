/** The memory plan against every buffer that a real engine, onnxruntime included, makes on WebGPU. */

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_LORA } from '../../src/core/config'
import { parseModelConfig } from '../../src/model/config'
import { planMemory } from '../../src/runtime/plan'
import type { ShapePhase, ShapeRequest } from '../models/shape-run'
import { SHAPES } from '../models/shapes'
import { plannedPeaks } from '../bench/_shape-rows'
import { launchChromium } from './chromium'
import { openHarness, runInPage } from './harness'
import { startDevServer, type RunningServer } from './server'

const request: ShapeRequest = { shape: 'test-30m', precision: 'int4', slots: 2, contextLength: 256, microBatchTokens: 64, prompt: 4, decode: 1, sequences: 1, tokens: 64 }
const plan = planMemory({ config: parseModelConfig(SHAPES[request.shape]), lora: DEFAULT_LORA, ...request, rowTokens: request.tokens })
// A cache of this size is not worth freeing: it stays while the model is trained.
const planned = plannedPeaks(plan)

let browser: Browser
let server: RunningServer
let phases: Map<string, ShapePhase>

beforeAll(async () => {
  browser = await launchChromium({ webgpu: true })
  server = await startDevServer()
  const { page, pageErrors } = await openHarness(browser, server.url)
  const run = await runInPage<ShapePhase[]>(page, 'e2e/models/shape-run.ts', 'runShape', request, { worker: true })
  expect(pageErrors).toEqual([])
  phases = new Map(run.map((phase) => [phase.name, phase]))
}, 5 * 60_000)
afterAll(async () => {
  await browser.close()
  await server.close()
})

const phase = (name: string): ShapePhase => phases.get(name) as ShapePhase
/** Within 10 % of what was planned. */
function expectPlanned(counted: number, expected: number): void {
  expect(counted / expected).toBeGreaterThan(0.9)
  expect(counted / expected).toBeLessThan(1.1)
}

describe('the memory plan of a model of 30 million parameters at 4 bits', () => {
  it('is not about noise', () => {
    for (const part of [plan.weights, plan.adapter, plan.kvCache, plan.sampling, plan.training]) expect(part).toBeGreaterThan(1e6)
  })

  it('is what the engine holds after loading, and with the KV cache', () => {
    expectPlanned(phase('load').allocated, plan.weights + plan.adapter)
    expectPlanned(phase('prefill').allocated, plan.weights + plan.adapter + plan.kvCache)
  })

  it('is the most that exists while sampling', () => {
    expectPlanned(Math.max(...['load', 'prefill', 'first token'].map((name) => phase(name).gpu.peak)), planned.sampling)
  })

  it('is the most that exists during a training step', () => {
    expectPlanned(phase('training step').gpu.peak, planned.trainingWithCache)
  })

  it('names the largest buffer', () => {
    expectPlanned(Math.max(...[...phases.values()].map(({ gpu }) => gpu.largest)), plan.largestBuffer)
  })
})
