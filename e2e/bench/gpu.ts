/**
 * The engine on this machine's GPU, in Chromium: does it compute what WASM computes, how fast is it, how much memory does it take. Where
 * only a software adapter is, it says so and runs a reduced set, which proves this script; models that are named run all the same, and
 * GRPO_BENCH_FULL=1 runs everything at full size. (Dawn in Node was tried: npm webgpu 0.6.2 cannot read onnxruntime-web's shared heap in
 * writeBuffer, and with copies in its place a run never ended.)
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { DEFAULT_LORA, type Precision } from '../../src/core/config'
import { parseModelConfig } from '../../src/model/config'
import { WORTH_FREEING } from '../../src/runtime/device-cache'
import { ROW_MULTIPLE } from '../../src/runtime/packing'
import { planMemory } from '../../src/runtime/plan'
import { launchChromium } from '../browser/chromium'
import { openHarness, runInPage } from '../browser/harness'
import type { RunRequest, RunResult } from '../browser/modules/engine-run'
import { projectRoot, startDevServer } from '../browser/server'
import type { AdapterReport, BenchModel, GpuFigures, GpuRequest } from '../models/gpu-run'
import { SHAPES } from '../models/shapes'
import type { BenchLog, BenchRow } from '../tools/bench-rows'
import { adapterRows, agrees, compareEngines, modelRows, selfCheckRows } from './_gpu-rows'
import { plannedPeaks } from './_shape-rows'

const MODELS = ['tiny-qwen3', 'qwen2.5-0.5b', 'qwen3-0.6b'] as const satisfies readonly BenchModel[]
const SELF_CHECK = 'self-check'

type Sizes = Omit<GpuRequest, 'model' | 'precision'>
/** The settings of the memory promise: 8 slots × 768 tokens, training on 8 × 512. */
const FULL: Sizes = {
  slots: 8, contextLength: 768, microBatchTokens: 512, prompt: 256, decode: 64, repeats: 3, train: { sequences: 8, tokens: 512 }, longestContext: 65_536,
}
/** For a software adapter: minutes. */
const REDUCED: Sizes = { ...FULL, contextLength: 256, prompt: 16, decode: 1, repeats: 1, train: { sequences: 1, tokens: 16 }, longestContext: 1024 }

interface Setting {
  browser: Browser
  url: string
  log: BenchLog
}

/** `words`: models, or 'self-check'; none means all, or on a software adapter the self-check and the shipped model. */
export async function run(words: string[], log: BenchLog): Promise<BenchRow[]> {
  const known = [SELF_CHECK, ...MODELS]
  const unknown = words.find((word) => !known.some((name) => name === word))
  if (unknown !== undefined) throw new Error(`gpu has no row ${unknown}. Rows: ${known.join(', ')}.`)
  const server = await startDevServer()
  try {
    const { browser, adapter } = await findAdapter(server.url, log)
    try {
      const full = !adapter.software || process.env.GRPO_BENCH_FULL === '1'
      const wanted = words.length > 0 ? words : full ? known : [SELF_CHECK, 'tiny-qwen3']
      return [...adapterRows(adapter), ...(await measureAll({ browser, url: server.url, log }, wanted, full ? FULL : REDUCED))]
    } finally {
      await browser.close()
    }
  } finally {
    await server.close()
  }
}

/** The machine's own GPU, or else the software adapter. Throws when the browser has no WebGPU at all. */
async function findAdapter(url: string, log: BenchLog): Promise<{ browser: Browser; adapter: AdapterReport }> {
  for (const hardware of [true, false]) {
    const browser = await launchChromium({ webgpu: true, hardware })
    const adapter = await inWorker<AdapterReport | null>({ browser, url, log }, 'e2e/models/gpu-run.ts', 'adapterReport', null).catch(() => null)
    // A software adapter that the flags for hardware gave is not the one that everything else is tested on.
    if (adapter && adapter.software !== hardware) {
      log(hardware ? `adapter: ${adapter.name}` : `Only a software adapter is here (${adapter.name}): these figures say nothing about a GPU.`)
      log(`features: ${adapter.features.join(', ')}`)
      return { browser, adapter }
    }
    await browser.close()
  }
  throw new Error('This Chromium has no WebGPU adapter, not even one in software. Install a Chromium with WebGPU, or set CHROMIUM to its path.')
}

/** One failure does not keep the other figures back: it is logged. Throws when nothing could be measured. */
async function measureAll(setting: Setting, wanted: readonly string[], sizes: Sizes): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  const attempt = async (what: string, work: () => Promise<BenchRow[]>): Promise<void> => {
    try {
      rows.push(...(await work()))
    } catch (error) {
      setting.log(`${what} FAILED: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  if (wanted.includes(SELF_CHECK)) for (const precision of ['float32', 'int4'] as const) await attempt(`${SELF_CHECK} ${precision}`, () => selfCheck(setting, precision))
  for (const model of MODELS) if (wanted.includes(model)) await attempt(model, () => measure(setting, model, sizes))
  if (rows.length === 0) throw new Error('Nothing could be measured; the reasons stand above.')
  return rows
}

async function selfCheck(setting: Setting, precision: Precision): Promise<BenchRow[]> {
  const runOn = (request: RunRequest): Promise<RunResult> => inWorker<RunResult>(setting, 'e2e/browser/modules/engine-run.ts', 'run', request)
  const check = compareEngines(await runOn({ backend: 'webgpu', precision }), await runOn({ backend: 'wasm', threads: 1, precision }))
  setting.log(`${precision}: WebGPU ${agrees(check) ? 'computes what WASM computes' : 'DOES NOT COMPUTE WHAT WASM COMPUTES'} (log-probs ${check.logprob.toExponential(1)}, gradients ${check.gradient.toExponential(1)})`)
  return selfCheckRows(precision, check)
}

async function measure(setting: Setting, model: BenchModel, sizes: Sizes): Promise<BenchRow[]> {
  // The shipped model as the page loads it; the others as an 8 GB GPU takes them.
  const several: GpuRequest = { ...sizes, model, precision: model === 'tiny-qwen3' ? 'float32' : 'int4' }
  const one: GpuRequest = { ...several, slots: 1, train: null, longestContext: 0 }
  const figuresOf = (request: GpuRequest): Promise<GpuFigures> => inWorker(setting, 'e2e/models/gpu-run.ts', 'measureModel', request)
  return modelRows({ request: one, figures: await figuresOf(one) }, { request: several, figures: await figuresOf(several) }, await plannedPeak(several))
}

/** The most that the plan expects of what is measured. */
async function plannedPeak({ model, precision, slots, contextLength, microBatchTokens, train }: GpuRequest): Promise<number> {
  const json: unknown = model === 'tiny-qwen3' ? JSON.parse(await readFile(join(projectRoot, 'public/models', model, 'config.json'), 'utf8')) : SHAPES[model]
  const rowTokens = Math.min(microBatchTokens, Math.ceil((train?.tokens ?? 1) / ROW_MULTIPLE.webgpu) * ROW_MULTIPLE.webgpu)
  const rows = Math.min(train?.sequences ?? 1, Math.floor(microBatchTokens / rowTokens))
  const plan = planMemory({ config: parseModelConfig(json), lora: DEFAULT_LORA, precision, slots, contextLength, microBatchTokens: rows * rowTokens, rowTokens })
  const { sampling, training, trainingWithCache } = plannedPeaks(plan)
  return Math.max(sampling, plan.kvCache < WORTH_FREEING ? trainingWithCache : training)
}

/** Calls a function in a worker of a fresh page, whose progress is told. */
async function inWorker<Result>({ browser, url, log }: Setting, module: string, name: string, arg: unknown): Promise<Result> {
  const { page } = await openHarness(browser, url)
  page.on('console', (message) => {
    if (!message.text().startsWith('[vite]')) log(message.text())
  })
  try {
    return await runInPage<Result>(page, module, name, arg, { worker: true })
  } finally {
    await page.context().close()
  }
}
