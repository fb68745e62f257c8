/**
 * GPU dispatches of the engine: per layer of a decoded token and of a training block, for the head, for whole models. They follow from
 * the graphs and the kernels that onnxruntime chooses, so narrow models with the real heads, vocabulary and LoRA show them, on the
 * software adapter. Another adapter may get other kernels (attention with subgroups, for one).
 */

import type { Browser } from 'playwright-core'
import { DEFAULT_LORA, type Precision } from '../../src/core/config'
import { parseModelConfig } from '../../src/model/config'
import { HEAD_LIMITS, planHead } from '../../src/runtime/head'
import { launchChromium } from '../browser/chromium'
import { openHarness, runInPage } from '../browser/harness'
import { startDevServer } from '../browser/server'
import type { DispatchCounts, DispatchRequest } from '../models/dispatch-run'
import { SHAPES } from '../models/shapes'
import type { BenchLog, BenchRow } from '../tools/bench-rows'
import { blockRows, type HeadSummary, headRows, modelRows, summarize, summarizeHead } from './_dispatch-rows'

const FAMILIES = { qwen3: 'qwen3-0.6b', 'qwen2.5': 'qwen2.5-0.5b' } as const
type Family = keyof typeof FAMILIES
const PRECISIONS = ['int4', 'float32'] as const satisfies readonly Precision[]
/** What one layer more costs is what two more cost, halved. */
const [FEW, MANY] = [1, 3]
/** A training micro-batch of a full step: its head takes so many parts. */
const TRAINED_ROWS = 512

/** The real structure, narrow. Only the head depends on the vocabulary, and it is the same in both families: one has the real one. */
function narrow(family: Family, layers: number): Readonly<Record<string, unknown>> {
  const real = SHAPES[FAMILIES[family]]
  const headDim = 'head_dim' in real ? real.head_dim : real.hidden_size / real.num_attention_heads
  const vocabulary = family === 'qwen3' && layers === FEW ? real.vocab_size : 1024
  return { ...real, head_dim: headDim, hidden_size: 128, intermediate_size: 256, num_hidden_layers: layers, vocab_size: vocabulary }
}

/** Parts of the vocabulary that a full micro-batch's head takes. */
function partsOf(family: Family, precision: Precision): number {
  const config = parseModelConfig(SHAPES[FAMILIES[family]])
  return Math.ceil(config.vocab_size / planHead({ spec: { config, lora: DEFAULT_LORA, precision }, headLimits: HEAD_LIMITS }, TRAINED_ROWS).part)
}

/** `words`: precisions ('int4', 'float32'); none means both. */
export async function run(words: string[], log: BenchLog): Promise<BenchRow[]> {
  const unknown = words.find((word) => !PRECISIONS.some((precision) => precision === word))
  if (unknown !== undefined) throw new Error(`dispatches has no row ${unknown}. Rows: ${PRECISIONS.join(', ')}.`)
  const server = await startDevServer()
  const browser = await launchChromium({ webgpu: true })
  try {
    const rows: BenchRow[] = []
    for (const precision of PRECISIONS.filter((name) => words.length === 0 || words.includes(name))) {
      rows.push(...(await countPrecision(precision, (family, layers) => count(browser, server.url, { family, layers, precision }, log))))
    }
    return rows
  } finally {
    await browser.close()
    await server.close()
  }
}

async function countPrecision(precision: Precision, counted: (family: Family, layers: number) => Promise<DispatchCounts>): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  let head: HeadSummary | null = null
  for (const family of ['qwen3', 'qwen2.5'] as const) {
    const few = await counted(family, FEW)
    head ??= summarizeHead(few)
    const summary = summarize({ layers: FEW, counts: few }, { layers: MANY, counts: await counted(family, MANY) })
    const [model, parts] = [FAMILIES[family], partsOf(family, precision)]
    if (family === 'qwen3') rows.push(...headRows(precision, head, parts))
    rows.push(...blockRows(`${family}/${precision}`, summary), ...modelRows(`${model}/${precision}`, SHAPES[model].num_hidden_layers, summary, head, parts))
  }
  return rows
}

/** Counts in a fresh page each time. */
async function count(browser: Browser, url: string, { family, layers, precision }: { family: Family; layers: number; precision: Precision }, log: BenchLog): Promise<DispatchCounts> {
  const from = performance.now()
  const { page } = await openHarness(browser, url)
  const request: DispatchRequest = { config: narrow(family, layers), precision, slots: 4, contextLength: 64, tokens: 8, decodingOnly: layers !== FEW }
  const counts = await runInPage<DispatchCounts>(page, 'e2e/models/dispatch-run.ts', 'countDispatches', request, { worker: true })
  await page.context().close()
  log(`${family}/${precision}, ${layers} layer${layers > 1 ? 's' : ''}: ${((performance.now() - from) / 1000).toFixed(1)} s`)
  return counts
}
