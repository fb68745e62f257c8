/**
 * A model of Qwen3-0.6B's exact shape with random weights, through the real path: a local Hub's safetensors (1.5 GB, made as it is
 * read), 4-bit in a worker of Chromium, WebGPU on the software adapter. 8 slots × 768 tokens: counted GPU memory against the plan, the
 * renderer's growth while loading, one decode step of all slots, one training step of a short sequence. Takes five to fifteen minutes.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { DEFAULT_LORA } from '../../src/core/config'
import { parseModelConfig } from '../../src/model/config'
import { ROW_MULTIPLE } from '../../src/runtime/packing'
import { planMemory, weightBytes } from '../../src/runtime/plan'
import { launchProfile } from '../browser/chromium'
import { runInPage } from '../browser/harness'
import { startDevServer } from '../browser/server'
import { startHub } from '../hub/server'
import type { HubLoadRequest, HubPhase, LoadPhase, TrainPhase } from '../models/hub-shape-run'
import { shapeRepository } from '../models/shape-repo'
import { SHAPES, type ShapeName } from '../models/shapes'
import type { BenchLog, BenchRow } from '../tools/bench-rows'
import { memoryOf, processIds, resetPeak } from './_processes'
import { countFrom } from './_rows'
import { memoryRow, plannedPeaks, secondsRow } from './_shape-rows'

const NAME = 'shape06b'
const REPO = 'shape/qwen3-0.6b'
const MODULE = 'e2e/models/hub-shape-run.ts'
const SETTINGS = { lora: DEFAULT_LORA, precision: 'int4', slots: 8, contextLength: 768, microBatchTokens: 512 } as const

const planOf = (shape: ShapeName, rowTokens: number) => planMemory({ ...SETTINGS, config: parseModelConfig(SHAPES[shape]), microBatchTokens: rowTokens, rowTokens })

/** `rows`: 'plan' gives the planned memory alone, at once. GRPO_BENCH_TOKENS: length of the training sequence, 16 unless given. */
export async function run(words: string[], log: BenchLog): Promise<BenchRow[]> {
  const unknown = words.find((word) => word !== 'plan' && word !== 'run')
  if (unknown !== undefined) throw new Error(`${NAME} has no row ${unknown}. Rows: plan, run.`)
  const rows = (['qwen3-0.6b', 'qwen2.5-0.5b'] as const).flatMap((shape) => {
    const plan = planOf(shape, 512)
    const peaks = plannedPeaks(plan)
    return [
      memoryRow(NAME, `${shape}/memory`, plan.peak),
      memoryRow(NAME, `${shape}/memory planned, sampling 8 x 768`, peaks.sampling),
      memoryRow(NAME, `${shape}/memory planned, training 8 x 512`, peaks.training),
    ]
  })
  if (words.length > 0 && !words.includes('run')) return rows
  const folder = await mkdtemp(join(tmpdir(), 'grpo-shape-'))
  try {
    return [...rows, ...(await runShape(folder, countFrom(process.env, 'GRPO_BENCH_TOKENS', 16), log))]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function runShape(folder: string, tokens: number, log: BenchLog): Promise<BenchRow[]> {
  log('making the checksum of the generated safetensors file')
  const hub = await startHub({ repos: { [REPO]: { files: shapeRepository(SHAPES['qwen3-0.6b']) } } })
  const server = await startDevServer()
  const context = await launchProfile(folder, { webgpu: true })
  try {
    const page = await context.newPage()
    page.on('console', (message) => log(message.text()))
    page.on('pageerror', (error) => log(`the page failed: ${error.message}`))
    await page.goto(`${server.url}e2e/browser/harness.html`)
    await page.waitForFunction(() => 'harness' in globalThis, undefined, { timeout: 60_000 })
    const browser = context.browser()
    if (!browser) throw new Error('The browser does not tell its processes.')
    await runInPage(page, MODULE, 'ready', null, { worker: true })
    const load = await measuredLoad(page, await processIds(browser, 'renderer'), hub.endpoint, log)
    return [...load, ...(await steps(page, tokens, log))]
  } finally {
    await context.close()
    await server.close()
    await hub.stop()
  }
}

/** Seconds of the load, and by how much the renderer grew at most meanwhile, against what went to the GPU. */
async function measuredLoad(page: Page, renderers: readonly number[], endpoint: string, log: BenchLog): Promise<BenchRow[]> {
  const { lora: _, ...settings } = SETTINGS
  const before = await memoryOf(renderers)
  await resetPeak(renderers)
  const watch = setInterval(() => {
    void memoryOf(renderers).then(({ now, peak }) => log(`renderer +${mb(now - before.now)} MB now, +${mb(peak - before.now)} MB at most`), () => undefined)
  }, 5000)
  const load = await call<LoadPhase>(page, 'load', { ...settings, endpoint, repo: REPO } satisfies HubLoadRequest).finally(() => clearInterval(watch))
  for (const notice of load.notices) log(notice)
  const { peak } = await memoryOf(renderers)
  const uploaded = weightBytes(parseModelConfig(SHAPES['qwen3-0.6b']), 'int4')
  log(`loaded ${mb(load.downloaded)} MB in ${load.seconds.toFixed(0)} s; ${mb(uploaded)} MB of weights on the GPU; the engine says ${mb(load.allocated)} MB, counted ${mb(load.gpu.live)} MB`)
  return [
    secondsRow(NAME, 'qwen3-0.6b/load', load.seconds),
    memoryRow(NAME, 'qwen3-0.6b/load downloaded', load.downloaded),
    memoryRow(NAME, 'qwen3-0.6b/load uploaded to the GPU', uploaded),
    memoryRow(NAME, 'qwen3-0.6b/load renderer growth', peak - before.now),
  ]
}

async function steps(page: Page, tokens: number, log: BenchLog): Promise<BenchRow[]> {
  const told = <T extends HubPhase>(name: string, phase: T): T => {
    const { peak, live, dispatches, largest } = phase.gpu
    log(`${name}: ${phase.seconds.toFixed(1)} s, ${dispatches} dispatches, GPU ${mb(live)} MB, at most ${mb(peak)} MB, largest buffer ${mb(largest)} MB; the engine says ${mb(phase.allocated)} MB`)
    return phase
  }
  const planned = plannedPeaks(planOf('qwen3-0.6b', Math.ceil(tokens / ROW_MULTIPLE.webgpu) * ROW_MULTIPLE.webgpu))
  const prefill = told('prefill of 2 tokens, copied to all slots', await call<HubPhase>(page, 'prefill', { tokens: 2 }))
  const drawn = told('sampling of 8 slots', await call<HubPhase & { ids: number[]; logprobs: number[] }>(page, 'sample', { top_k: 0 }))
  if (drawn.ids.length !== 8 || drawn.logprobs.some((x) => !(x < 0))) throw new Error(`Sampling gave log-probs ${drawn.logprobs.join(', ')}.`)
  const decode = told('decoding of 8 slots', await call<HubPhase>(page, 'decode', { ids: drawn.ids }))
  const filtered = told('sampling of 8 slots with top_k', await call<HubPhase>(page, 'sample', { top_k: 50 }))
  const train = told(`training on ${tokens} tokens`, await call<TrainPhase>(page, 'train', { sequences: 1, tokens }))
  log(`mean log-prob ${train.logprob.toFixed(3)}, gradient norm ${train.gradNorm.toPrecision(4)}; buffers by size: ${JSON.stringify(train.gpu.sizes)}`)
  if (!(train.gradNorm > 0) || train.version !== 1) throw new Error(`The training step did nothing: gradient norm ${train.gradNorm}, version ${train.version}.`)
  await call(page, 'close', null)
  const sampling = Math.max(...[prefill, drawn, decode, filtered].map(({ gpu }) => gpu.peak))
  return [
    memoryRow(NAME, 'qwen3-0.6b/memory counted, sampling 8 x 768', sampling, planned.sampling),
    memoryRow(NAME, `qwen3-0.6b/memory counted, training 1 x ${tokens}`, train.gpu.peak, planned.training),
    secondsRow(NAME, 'qwen3-0.6b/decode step of 8 slots', drawn.seconds + decode.seconds),
    secondsRow(NAME, `qwen3-0.6b/training step of 1 x ${tokens}`, train.seconds),
  ]
}

const call = <T>(page: Page, name: string, arg: unknown): Promise<T> => runInPage<T>(page, MODULE, name, arg, { worker: true })
const mb = (bytes: number): string => (bytes / 1e6).toFixed(0)
