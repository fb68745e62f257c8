/** Adapters and merged models that our writers wrote, in PEFT and transformers: no warning, our scores, and mistakes that show. */

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LORA_TARGETS, loraScale, type LoraConfig, type Precision } from '../../src/core/config'
import type { Engine, NamedTensor, SequenceScores } from '../../src/core/engine'
import { RandomStream } from '../../src/core/random'
import type { ExportFile } from '../../src/core/run-record'
import type { WeightSource } from '../../src/core/weights'
import { mergedModelFiles } from '../../src/hub/merged-model'
import { readPeftAdapter } from '../../src/hub/peft-adapter'
import { peftAdapterFiles, type PeftAdapterExport } from '../../src/hub/peft-writer'
import { parseModelConfig } from '../../src/model/config'
import type { Hub } from '../hub/server'
import { fileSource } from '../tools/file-source'
import { compareScores, expectScores } from './compare'
import { type CaseSequence, modelCases, referenceEngine } from './engine-case'
import { openRepo, repoCases, repoEngine, serveRepos } from './hub-case'
import { MISTAKES, withMistake } from './peft-mistakes'
import { type PeftAnswer, type PeftJob, peftScores, smallFiles, writeExport } from './peft-case'
import { REFERENCE } from './reference'

const TOLERANCE = 1e-4
const PLACE = 'exported'
const TINY = 'tiny-qwen3'
const COMMIT = '0123456789abcdef0123456789abcdef01234567'

interface Example {
  name: string
  /** The shipped model, or a repository of hub_models.py. */
  model: string
  precision: Precision
  lora: LoraConfig
  dtype?: PeftAdapterExport['dtype']
  /** The whole model is written too. */
  merged?: true
}

const lora = (r: number, lora_alpha: number, use_rslora = false, target_modules = [...LORA_TARGETS]): LoraConfig => ({ r, lora_alpha, use_rslora, target_modules })

const EXAMPLES: Example[] = [
  { name: 'tiny', model: TINY, precision: 'float32', lora: lora(16, 32), merged: true },
  { name: 'qwen3-all', model: 'qwen3-bf16-tied', precision: 'float32', lora: lora(8, 16), merged: true },
  { name: 'qwen3-rank-1', model: 'qwen3-f32-untied-sharded', precision: 'float32', lora: lora(1, 32, false, ['q_proj', 'v_proj']) },
  { name: 'qwen3-head-twice', model: 'qwen3-bf16-wide-vocab-twice', precision: 'float32', lora: lora(2, 3, true, ['k_proj', 'down_proj']), merged: true },
  { name: 'qwen3-int4', model: 'qwen3-bf16-tied', precision: 'int4', lora: lora(8, 8) },
  { name: 'qwen2-rslora', model: 'qwen2.5-f32-tied', precision: 'float32', lora: lora(16, 8, true) },
  { name: 'qwen2-float16', model: 'qwen2.5-f32-tied', precision: 'float32', lora: lora(4, 8), dtype: 'float16' },
  { name: 'qwen2-part', model: 'qwen2.5-bf16-untied-sharded', precision: 'float32', lora: lora(5, 12.5, false, ['o_proj', 'gate_proj', 'up_proj']), merged: true },
  { name: 'qwen2-int4', model: 'qwen2.5-bf16-untied-sharded', precision: 'int4', lora: lora(32, 16) },
]

interface Written {
  ours: SequenceScores[]
  /** Without the adapter. */
  base: SequenceScores[]
  files: ExportFile[]
  adapter: PeftAdapterExport
}

let hub: Hub
const written = new Map<string, Written>()
let answers: Record<string, PeftAnswer>

const folderOf = (model: string): string => (model === TINY ? `models/${TINY}` : `hub/${model}`)
const batchOf = (model: string): CaseSequence[] => (model === TINY ? modelCases(TINY) : repoCases(model)).batch
const masksOf = (model: string): readonly (readonly number[])[] => batchOf(model).map(({ mask }) => mask)
const sourceOf = async (model: string): Promise<WeightSource> =>
  model === TINY ? fileSource(join(REFERENCE, folderOf(model))) : openRepo(hub, model)

/** A LoRA of the size that training gives one, B included. */
function trainedLike(tensors: readonly NamedTensor[], seed: number): NamedTensor[] {
  return tensors.map(({ name, dims, data }, i) => {
    const random = new RandomStream(seed, i)
    const size = name.includes('lora_A') ? 1 / Math.sqrt(dims[1] as number) : 0.1
    return { name, dims, data: data.map(() => size * random.normal()) }
  })
}

/** The files of an example, what our engine computes with what they hold, and without it. */
async function write({ model, precision, lora: settings, dtype }: Example, seed: number): Promise<Written> {
  const source = await sourceOf(model)
  const engine: Engine = model === TINY ? await referenceEngine(TINY, settings) : await repoEngine(source, model, settings, precision)
  try {
    await engine.importParameters(trainedLike(await engine.exportParameters(), seed))
    const base = parseModelConfig(await source.config())
    const baseModel = model === TINY ? `models/${TINY}` : `reference/${model}`
    const adapter: PeftAdapterExport = { lora: settings, tensors: await engine.exportParameters(), base, baseModel, revision: model === TINY ? null : COMMIT, dtype }
    const files = peftAdapterFiles(adapter)
    const [config, weights] = files.map(({ content }) => content) as [string, Uint8Array]
    await engine.importParameters(readPeftAdapter(JSON.parse(config), weights, base).tensors)
    const score = (which: 'current' | 'off') => engine.score(batchOf(model), { temperature: 1, adapter: which })
    return { ours: await score('current'), base: await score('off'), files, adapter }
  } finally {
    await engine.dispose()
  }
}

const CONTROLS = ['qwen3-all']

function writeMistakes(example: Example): PeftJob[] {
  const [config, weights] = (written.get(example.name) as Written).files.map(({ content }) => content) as [string, Uint8Array]
  return MISTAKES.map((mistake) => {
    const folder = `${PLACE}/wrong/${example.name}/${mistake.name.replaceAll(' ', '-')}`
    return { ...jobOf(example), name: `${example.name}: ${mistake.name}`, adapter: writeExport(folder, withMistake(mistake, config, weights)) }
  })
}

const jobOf = ({ name, model, precision }: Example): PeftJob => ({
  name,
  base: folderOf(model),
  precision,
  adapter: `${PLACE}/${name}/adapter`,
  sequences: batchOf(model).map(({ ids }) => ({ ids })),
})

beforeAll(async () => {
  hub = await serveRepos()
  const jobs: PeftJob[] = []
  for (const [seed, example] of EXAMPLES.entries()) {
    const { name, model } = example
    const made = await write(example, seed)
    written.set(name, made)
    writeExport(`${PLACE}/${name}/adapter`, made.files)
    jobs.push(jobOf(example))
    if (example.merged) {
      const files = smallFiles(join(REFERENCE, model === TINY ? '../../public/models/tiny-qwen3' : folderOf(model)))
      const whole = await mergedModelFiles({ source: await sourceOf(model), ...made.adapter, files })
      jobs.push({ name: `${name} merged`, base: writeExport(`${PLACE}/${name}/merged`, whole), precision: 'float32', sequences: jobs.at(-1)?.sequences ?? [] })
    }
    if (CONTROLS.includes(name)) jobs.push(...writeMistakes(example))
    if (model === TINY) jobs.push({ ...jobOf(example), name: 'tiny by name', by_name: true })
  }
  answers = peftScores(jobs, PLACE)
})
afterAll(() => hub?.stop())

function answered(name: string): PeftAnswer {
  const answer = answers[name]
  if (!answer) throw new Error(`peft_scores.py answered nothing about ${name}.`)
  return answer
}

describe.each(EXAMPLES)('$name', ({ name, model, lora: settings }) => {
  it('loads in PEFT without a warning and scores as ours', () => {
    const { error, facts, scores } = answered(name)
    expect(error).toBe(null)
    const { ours, base, adapter } = written.get(name) as Written
    expectScores(ours, scores, masksOf(model), TOLERANCE)
    // The adapter says something: without it the scores are others.
    expect(compareScores(base, scores, masksOf(model)).logprob).toBeGreaterThan(100 * TOLERANCE)
    expect(facts.scalings).toHaveLength(1)
    expect(facts.scalings[0]).toBeCloseTo(loraScale(settings), 12)
    const { base: baseModel, revision, layers, trainable } = facts
    expect({ baseModel, revision, tensors: 2 * layers, trainable }).toEqual({
      baseModel: adapter.baseModel,
      revision: adapter.revision,
      tensors: adapter.tensors.length,
      trainable: 0,
    })
  })
})

it.each(EXAMPLES.filter(({ merged }) => merged))('$name merged loads in transformers, nothing missing and nothing left over, and scores as ours', ({ name, model }) => {
  const { error, facts, scores } = answered(`${name} merged`)
  expect(error).toBe(null)
  expectScores((written.get(name) as Written).ours, scores, masksOf(model), TOLERANCE)
  expect(facts.loading).toEqual({})
  expect(facts.dtypes).toEqual(['torch.float32'])
  expect(facts.names.includes('lm_head.weight')).toBe(model.includes('untied'))
  expect(facts.words).toBeGreaterThan(1000)
})

describe.each(CONTROLS)('mistakes in %s', (name) => {
  it.each(MISTAKES)('$name is noticed', ({ name: mistake, complaint }) => {
    const { error, scores } = answered(`${name}: ${mistake}`)
    if (complaint) return expect(error).toMatch(complaint)
    expect(error).toBe(null)
    const { model } = EXAMPLES.find((example) => example.name === name) as Example
    const { ours } = written.get(name) as Written
    expect(compareScores(ours, scores, masksOf(model)).logprob).toBeGreaterThan(100 * TOLERANCE)
    expect(() => expectScores(ours, scores, masksOf(model), TOLERANCE)).toThrow()
  })
})

it('the shipped model’s adapter loads by the name of its base, where that folder lies', () => {
  const { error, facts, scores } = answered('tiny by name')
  expect(error).toBe(null)
  expect(facts.base).toBe('models/tiny-qwen3')
  expectScores((written.get('tiny') as Written).ours, scores, masksOf(TINY), TOLERANCE)
})
