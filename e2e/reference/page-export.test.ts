/** The page in Chromium trains and exports; PEFT and transformers load the files and find the log-probs that the page trained on next. */

import type { Browser } from 'playwright-core'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LORA_TARGETS, type LoraConfig, type Precision } from '../../src/core/config'
import type { SequenceScores, TrainSequence } from '../../src/core/engine'
import type { ExportFile } from '../../src/core/run-record'
import { readPeftAdapter } from '../../src/hub/peft-adapter'
import { parseModelConfig } from '../../src/model/config'
import { createEngine } from '../../src/runtime/create'
import { launchChromium } from '../browser/chromium'
import { startDevServer, type RunningServer } from '../browser/server'
import { folderFiles, startHub, type Hub } from '../hub/server'
import { fileSource } from '../tools/file-source'
import { openRunningPage, type RunningPage, type TakenAway } from './page-run'
import { MISTAKES, withMistake } from './peft-mistakes'
import { type PeftAnswer, type PeftJob, peftScores, writeExport } from './peft-case'
import { largestDifference, REFERENCE } from './reference'

const TOLERANCE = 1e-4
const PLACE = 'page'

interface Example {
  name: string
  /** The shipped model, or one of speaking_models.py. */
  model: 'tiny-qwen3' | 'qwen2' | 'qwen3'
  precision: Precision
  lora: LoraConfig
}

const lora = (r: number, lora_alpha: number, use_rslora = false, target_modules = [...LORA_TARGETS]): LoraConfig => ({ r, lora_alpha, use_rslora, target_modules })

const EXAMPLES: Example[] = [
  { name: 'tiny', model: 'tiny-qwen3', precision: 'float32', lora: lora(16, 32) },
  { name: 'tiny-int4', model: 'tiny-qwen3', precision: 'int4', lora: lora(4, 8) },
  { name: 'qwen2', model: 'qwen2', precision: 'float32', lora: lora(8, 8, true) },
  { name: 'qwen2-int4', model: 'qwen2', precision: 'int4', lora: lora(8, 32) },
  { name: 'qwen3', model: 'qwen3', precision: 'float32', lora: lora(1, 4, false, ['q_proj', 'k_proj', 'o_proj', 'down_proj']) },
  { name: 'qwen3-int4', model: 'qwen3', precision: 'int4', lora: lora(16, 16) },
]
const MERGED = 'tiny'
const RETURNS = 'qwen2-int4'
const CONTROLS = ['tiny', 'qwen2']
const STEPS = 2

interface Trained {
  config: string
  weights: Uint8Array
  /** Episodes of the step after the export. */
  sequences: TrainSequence[]
  /** Log-probs by which the page trained on them: of the weights that it had exported. [sequence][token] */
  page: number[][]
  /** Our engine in Node, with the exported adapter and without one. */
  ours: SequenceScores[]
  base: SequenceScores[]
}

let hub: Hub
let server: RunningServer
let browser: Browser
const trained = new Map<string, Trained>()
let returned: Trained
let answers: Record<string, PeftAnswer>

/** RunConfig.model, and also the folder under .cache/reference. */
const idOf = (model: Example['model']): string => (model === 'tiny-qwen3' ? 'models/tiny-qwen3' : `speaking/${model}`)
const toExport = (files: TakenAway): ExportFile[] => Object.entries(files).map(([path, bytes]) => ({ path, content: new Uint8Array(bytes) }))

/** Trains until the adapter is far from zero, exports, and trains once more to see what the exported weights say. */
async function train(page: RunningPage, example: Example): Promise<Trained> {
  const { name, model, precision, lora: settings } = example
  await page.configure((before) => ({ ...before, model: idOf(model), precision, lora: settings }))
  for (let step = 1; step <= STEPS; step++) expect(await page.step()).toMatchObject({ step, version: step })
  const taken = await page.takeAway('adapter')
  writeExport(`${PLACE}/${name}/adapter`, toExport(taken))
  if (name === MERGED) writeExport(`${PLACE}/${name}/merged`, toExport(await page.takeAway('merged')))
  const scored = await scoredByNextStep(page)
  const [config, weights] = [taken['adapter_config.json'], taken['adapter_model.safetensors']]
  if (!config || !weights) throw new Error(`The page exported ${Object.keys(taken).join(', ')}.`)
  const text = new TextDecoder().decode(config)
  const files = { config: text, weights }
  return { ...files, ...scored, ...(await score({ ...example, ...files, ...scored })) }
}

/** Starts anew from the exported files of a run, under other settings for a fresh LoRA. */
async function comeBack(page: RunningPage, example: Example): Promise<Trained> {
  const { config, weights } = trained.get(example.name) as Trained
  await page.give('what was exported', config, weights)
  const { model, precision } = example
  await page.configure((before) => ({ ...before, model: idOf(model), precision, lora: lora(2, 2), adapter: { kind: 'file', name: 'what was exported' } }))
  const scored = await scoredByNextStep(page)
  return { config, weights, ...scored, ...(await score({ ...example, config, weights, ...scored })) }
}

/** Episodes of the next step, and the log-probs by which the page trains on them: of the weights that it has now. */
async function scoredByNextStep(page: RunningPage): Promise<Pick<Trained, 'sequences' | 'page'>> {
  const { episodes } = await page.step()
  const scored = episodes.flatMap(({ ids, mask, trainLogprobs }) => (trainLogprobs ? [{ ids, mask, trainLogprobs }] : []))
  return { sequences: scored.map(({ ids, mask }) => ({ ids, mask })), page: scored.map(({ trainLogprobs }) => trainLogprobs) }
}

type Given = Pick<Trained, 'config' | 'weights' | 'sequences'> & Pick<Example, 'model' | 'precision' | 'lora'>

/** What our engine in Node says of the exported files. */
async function score({ model, precision, lora: settings, config, weights, sequences }: Given): Promise<Pick<Trained, 'ours' | 'base'>> {
  const source = fileSource(join(REFERENCE, idOf(model)))
  const engine = await createEngine({ source, lora: settings, precision, backend: 'wasm', threads: 1, slots: 2, contextLength: 384, modelName: 'exported' })
  try {
    const adapter = readPeftAdapter(JSON.parse(config), weights, parseModelConfig(await source.config()))
    expect(adapter.lora).toEqual(settings)
    await engine.importParameters(adapter.tensors)
    return { ours: await engine.score(sequences, { temperature: 1 }), base: await engine.score(sequences, { temperature: 1, adapter: 'off' }) }
  } finally {
    await engine.dispose()
  }
}

beforeAll(async () => {
  const repo = async (name: string) => [`speaking/${name}`, { files: await folderFiles(join(REFERENCE, 'speaking', name)) }] as const
  hub = await startHub({ repos: Object.fromEntries(await Promise.all(['qwen2', 'qwen3'].map(repo))) })
  ;[browser, server] = await Promise.all([launchChromium(), startDevServer({ hub: hub.endpoint })])
  const page = await openRunningPage(browser, server.url, {
    env: 'echo',
    seed: 5,
    prompts_per_step: 2,
    num_generations: 4,
    max_steps: 9,
    learning_rate: 0.02,
    max_completion_length: 64,
    backend: 'wasm',
  })
  const jobs: PeftJob[] = []
  for (const example of EXAMPLES) {
    const { name, model, precision } = example
    const made = await train(page, example)
    trained.set(name, made)
    if (name === RETURNS) returned = await comeBack(page, example)
    const job: PeftJob = { name, base: idOf(model), precision, adapter: `${PLACE}/${name}/adapter`, sequences: made.sequences }
    jobs.push(job)
    if (name === MERGED) jobs.push({ name: 'merged', base: `${PLACE}/${name}/merged`, precision: 'float32', sequences: made.sequences })
    if (!CONTROLS.includes(name)) continue
    for (const mistake of MISTAKES) {
      const folder = `${PLACE}/${name}/wrong/${mistake.name.replaceAll(' ', '-')}`
      jobs.push({ ...job, name: `${name}: ${mistake.name}`, adapter: writeExport(folder, withMistake(mistake, made.config, made.weights)) })
    }
  }
  expect([...page.pageErrors, ...page.consoleErrors]).toEqual([])
  await page.close()
  answers = peftScores(jobs, PLACE)
}, 10 * 60_000)
afterAll(async () => {
  await browser?.close()
  await server?.close()
  await hub?.stop()
})

function answered(name: string): PeftAnswer {
  const answer = answers[name]
  if (!answer) throw new Error(`peft_scores.py answered nothing about ${name}.`)
  return answer
}

/** Largest difference over the tokens that the model wrote, nats. */
function apart({ sequences }: Trained, a: readonly { logprobs: ArrayLike<number> }[], b: readonly { logprobs: ArrayLike<number> }[]): number {
  expect([a.length, b.length]).toEqual([sequences.length, sequences.length])
  return sequences.reduce((most, { mask }, s) => {
    const written = (values: ArrayLike<number> = []) => mask.map((m, t) => (m ? (values[t] as number) : 0))
    return Math.max(most, largestDifference(written(a[s]?.logprobs), written(b[s]?.logprobs)))
  }, 0)
}
const pageScores = ({ page }: Trained) => page.map((logprobs) => ({ logprobs }))

describe.each(EXAMPLES)('$name', ({ name, model }) => {
  it('the exported adapter is what the page trains: PEFT, our engine and the page agree', () => {
    const run = trained.get(name) as Trained
    expect(run.sequences.length).toBe(8)
    const { error, facts, scores } = answered(name)
    expect(error).toBe(null)
    expect(apart(run, scores, run.ours)).toBeLessThan(TOLERANCE)
    expect(apart(run, scores, pageScores(run))).toBeLessThan(TOLERANCE)
    expect(apart(run, run.ours, pageScores(run))).toBeLessThan(TOLERANCE)
    // The base alone is far off: it is the training that is compared.
    expect(apart(run, scores, run.base)).toBeGreaterThan(100 * TOLERANCE)
    expect(facts.base).toBe(idOf(model))
    expect(facts.revision).toBe(model === 'tiny-qwen3' ? null : hub.sha(idOf(model)))
  })
})

it('an exported adapter that is given to the page is what the page goes on from', () => {
  expect(returned.sequences.length).toBe(8)
  expect(apart(returned, returned.ours, pageScores(returned))).toBeLessThan(TOLERANCE)
  expect(apart(returned, returned.base, pageScores(returned))).toBeGreaterThan(100 * TOLERANCE)
})

it('the merged model is what the page trains', () => {
  const run = trained.get(MERGED) as Trained
  const { error, facts, scores } = answered('merged')
  expect(error).toBe(null)
  expect(apart(run, scores, pageScores(run))).toBeLessThan(TOLERANCE)
  expect(facts.loading).toEqual({})
  expect(facts.names).not.toContain('lm_head.weight')
  expect(facts.words).toBeGreaterThan(1000)
})

describe.each(CONTROLS)('mistakes in what the page exported of %s', (name) => {
  it.each(MISTAKES)('$name: noticed', ({ name: mistake, complaint }) => {
    const { error, scores } = answered(`${name}: ${mistake}`)
    if (complaint) return expect(error).toMatch(complaint)
    expect(error).toBe(null)
    const run = trained.get(name) as Trained
    expect(apart(run, scores, pageScores(run))).toBeGreaterThan(100 * TOLERANCE)
  })
})
