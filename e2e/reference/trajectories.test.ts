/** A real run's trajectories and curves, exported: pyarrow, datasets, huggingface_hub, transformers and trackio read what the page wrote. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { RunConfig } from '../../src/core/config'
import type { Environment } from '../../src/core/environment'
import { PlaygroundError } from '../../src/core/errors'
import type { StepRecord } from '../../src/core/events'
import { summarise, type ExportFile, type KeptEpisode, type RunRecord } from '../../src/core/run-record'
import { builtinEnvironment } from '../../src/env/builtin'
import { datasetFiles } from '../../src/hub/dataset-card'
import { metricsCsv, trackioFiles, trainerState } from '../../src/hub/metrics-export'
import { oneByOne, sampleRun } from '../../src/hub/testing/episodes'
import { columnsOf, readTrajectories, trajectoriesJsonl } from '../../src/hub/trajectories'
import { rowOf } from '../../src/hub/trajectories/row'
import { trainingMask } from '../../src/rl'
import { keptEpisode } from '../../src/worker/kept-episode'
import { configOf, tinyChat, trainSteps } from '../integration/grpo-run'
import { REFERENCE } from './reference'
import { checkTrajectories, type TrajectoriesAnswer } from './trajectories-case'

const FOLDER = join(REFERENCE, 'trajectories')
/** A name that YAML, Markdown, CSV and Python would all read as something else. */
const NAME = '- "Catch": #1\n---\ntags: [evil]\u2028 😀 `|` <b>'

/** Words that make an answer longer. */
const MORE = 7

let run: RunRecord
let records: StepRecord[]
let steps: KeptEpisode[][]
let answer: TrajectoriesAnswer

/** Every third episode loses its server at the first step; every third gets longer answers, so that its tokens may run out in mid-turn. */
function withOutages(environment: Environment): Environment {
  let opened = 0
  const { name, tools, maxSessions, prompts } = environment
  return {
    name,
    tools,
    maxSessions,
    prompts,
    connect: () => environment.connect(),
    close: () => environment.close(),
    episodeReward: (rewards) => environment.episodeReward(rewards),
    isSuccess: (reward) => environment.isSuccess(reward),
    open: async () => {
      const session = await environment.open()
      const kind = opened++ % 3
      const step: typeof session.step = async (call) => {
        if (kind === 1) throw new PlaygroundError('environment', 'The server went away.', '', { recurrence: 'lasting' })
        const said = await session.step(call)
        return kind === 2 ? { ...said, text: `${said.text}${' left'.repeat(MORE)}` } : said
      }
      return { reset: (options) => session.reset(options), step, close: () => session.close() }
    },
  }
}

async function write(folder: string, files: ExportFile[]): Promise<void> {
  for (const { path, content } of files) {
    const place = join(FOLDER, folder, path)
    mkdirSync(dirname(place), { recursive: true })
    writeFileSync(place, content instanceof Blob ? new Uint8Array(await content.arrayBuffer()) : content)
  }
}

async function runOf(config: RunConfig): Promise<void> {
  const environment = withOutages(builtinEnvironment('catch'))
  await environment.connect()
  ;({ records } = await trainSteps(config, { steps: 2, environment }))
  const chat = await tinyChat()
  steps = records.map(({ episodes }) => episodes.map((episode) => keptEpisode(episode, chat)))
  const { name, prompts } = environment
  run = sampleRun({ name: NAME, config, modelSha: null, environment: { name, tools: [...environment.tools], prompts }, step: records.length })
}

beforeAll(async () => {
  rmSync(FOLDER, { recursive: true, force: true })
  await runOf(configOf('catch', { num_generations: 4, prompts_per_step: 2, max_steps: 2, max_completion_length: 320, mask_truncated_completions: true, learning_rate: 0.01 }))
  const history = records.map(summarise)
  await write('.', [
    { path: 'trajectories.jsonl', content: await trajectoriesJsonl(run, oneByOne(steps)) },
    { path: 'metrics.csv', content: metricsCsv(history) },
    { path: 'trainer_state.json', content: trainerState(run, history) },
  ])
  await write('dataset', await datasetFiles(run, oneByOne(steps), { repo: 'me/runs' }))
  await write('trackio', trackioFiles(run, history))
  answer = checkTrajectories(FOLDER)
})

const rows = () => steps.flat().map((episode, i) => ({ ...rowOf(episode, run, i === 0) }))
const metricsOf = (step: number) => records.find((record) => record.step === step)?.metrics ?? {}

it('the run has what the columns are for', () => {
  const all = steps.flat()
  expect(all).toHaveLength(16)
  expect(all.some(({ turns }) => turns.some(({ calls }) => calls.length > 0))).toBe(true)
  expect(all.some(({ reward, exit, lasting }) => reward === null && exit === 'env_error' && lasting)).toBe(true)
  expect(all.some(({ advantage }) => advantage !== 0)).toBe(true)
  expect(new Set(all.filter(({ reward }) => reward !== null).map(({ terminated }) => terminated)).size).toBe(2)
  expect(all.some(({ alternatives }) => alternatives.some((each) => each?.every(({ text }) => typeof text === 'string')))).toBe(true)
})

describe('Parquet', () => {
  it('has the types that pyarrow expects of each column', () => {
    const alike = (type: string, ...names: string[]) => names.map((name) => [name, type])
    const list = (type: string) => `list<element: ${type}>`
    expect(answer.parquet?.types).toEqual(
      Object.fromEntries([
        ...alike('int64', 'step', 'seed'),
        ...alike('int32', 'episode', 'group', 'prompt_length'),
        ...alike('double', 'catch', 'advantage', 'reward'),
        ...alike('bool', 'discarded', 'stale', 'success', 'lasting', 'terminated'),
        ...alike('string', 'prompt', 'completion', 'environment', 'run_id', 'exit_reason', 'verdict', 'error', 'scene', 'run'),
        ...alike(list('int32'), 'ids'),
        ...alike(list('int8'), 'mask', 'train_mask'),
        ...alike(list('string'), 'authors', 'texts'),
        ...alike(list('double'), 'sampler_logprobs', 'train_logprobs', 'entropies'),
        ...alike(list(list('int32')), 'alternative_ids'),
        ...alike(list(list('double')), 'alternative_probs'),
        ...alike(list(list('string')), 'alternative_texts'),
        ...alike(list('struct<role: string, content: string, name: string, tool_calls: string>'), 'messages'),
        ...alike(
          list('struct<start: int32, end: int32, result_end: int32, reward: double, calls: string, parse_error: string, parse_errors: int32, scene: string>'),
          'turns',
        ),
      ]),
    )
    expect(Object.keys(answer.parquet?.types ?? {})).toEqual(columnsOf(run).map(({ name }) => name))
    expect([answer.parquet?.groups, answer.parquet?.codecs]).toEqual([[16], ['SNAPPY']])
  })

  it('holds the episodes to the last bit', () => {
    expect(answer.parquet?.rows).toEqual(rows())
  })

  it('tells which tokens the loss saw: the rule of the update, episode by episode', () => {
    const expected = steps.flat().map((episode) => (episode.reward === null ? episode.mask.map(() => 0) : trainingMask(episode, true)))
    expect(answer.parquet?.rows.map((row) => row['train_mask'])).toEqual(expected)
  })

  it('gives Python the metrics that the run had', () => {
    for (const { step } of records) {
      const { 'largest difference of an advantage': advantage = NaN, ...computed } = answer.parquet?.metrics[step] ?? {}
      expect(advantage).toBeLessThan(1e-9)
      expect(Object.keys(computed)).toHaveLength(5)
      for (const [name, value] of Object.entries(computed)) expect(value, name).toBeCloseTo(metricsOf(step)[name] as number, 9)
    }
  })

  it('has prompt and completion as transformers decodes the ids', () => {
    expect(answer.decoded).toEqual(steps.flat().map(({ prompt, completion }) => [prompt, completion]))
  })
})

it('`datasets` loads the folder as written', () => {
  expect(answer.dataset?.rows).toEqual(rows())
  expect(answer.dataset?.features).toMatchObject({ step: "Value('int64')", catch: "Value('float64')", ids: "List(Value('int32'))", mask: "List(Value('int8'))", train_mask: "List(Value('int8'))" })
})

it('Python reads the JSONL to the last bit, and `datasets` to the 15 decimals that its reader of JSON keeps', () => {
  expect(answer.lines).toEqual(rows())
  expect(apart(answer.jsonl?.rows, rows())).toBeLessThan(1e-14)
  // JSON has integers of one size only, and a field that no row fills has no type there.
  expect(answer.jsonl?.features?.['environment']).toBe("Value('null')")
  const known = ({ environment: _, ...features }: Record<string, string> = {}) => Object.entries(features).map(([name, type]) => [name, type.replace(/'int(8|32)'/g, "'int64'").replace(/, 'parse_error.*/, '')])
  expect(known(answer.jsonl?.features)).toEqual(known(answer.dataset?.features))
})

/** Largest difference of two numbers in the same place; Infinity where anything else differs. undefined fields count as absent. */
function apart(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return Math.abs(a - b)
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b ? 0 : Infinity
  const [left, right] = [a, b].map((value) => Object.entries(value).filter(([, each]) => each !== undefined))
  const names = new Set([...(left ?? []), ...(right ?? [])].map(([name]) => name))
  return Math.max(0, ...[...names].map((name) => apart((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name])))
}

it('huggingface_hub reads the card’s metadata, and `datasets` its configs', () => {
  expect(answer.card?.data).toMatchObject({ pretty_name: NAME, size_categories: ['n<1K'] })
  expect(answer.card?.data.tags).toEqual(expect.arrayContaining(['trl', 'trl-logs', 'completions', 'grpo']))
  expect(answer.card?.configs).toEqual({ default: { data_files: [{ split: 'train', path: 'data/train-*.parquet' }] } })
  expect(answer.card?.text).toContain('16 rows')
})

it.each(['jsonl', 'parquet'])('the page reads its %s back', async (format) => {
  const blobs = { jsonl: () => trajectoriesJsonl(run, oneByOne(steps)), parquet: async () => (await datasetFiles(run, oneByOne(steps)))[1]?.content as Blob }
  const { episodes, run: read } = await readTrajectories(await blobs[format as 'jsonl'](), 'x')
  expect(episodes).toEqual(steps)
  expect(read).toMatchObject({ name: NAME, config: run.config, environment: run.environment })
})

const made = (file: string) => readTrajectories(new Blob([readFileSync(join(FOLDER, 'made', file))]), file)

it('the page reads what `datasets` made of its dataset', async () => {
  expect((await made('rewritten.parquet')).episodes).toEqual(steps)
  const { episodes } = await made('rewritten.jsonl')
  // Its JSON has ten decimals.
  expect(apart(episodes, steps)).toBeLessThan(1e-9)
})

it.each([
  ['texts', [['A?', 'one'], ['A?', 'two'], ['B?', 'three']]],
  ['messages', [['A?', '{"name":"move","arguments":{"to":"left"}}', 'moved', 'one'], ['A?', 'two\n{"name":"say","arguments":{"word":"a"}}'], ['B?', 'three']]],
])('the page reads TRL’s completions, %s', async (kind, texts) => {
  const { episodes, tokens, run: read } = await made(`completions_${kind}.parquet`)
  expect(tokens).toBe(false)
  expect(read.environment.name).toBe('format + length')
  expect(episodes).toHaveLength(1)
  expect(episodes[0]?.map(({ step, group, reward, advantage }) => ({ step, group, reward, advantage }))).toEqual([
    { step: 5, group: 0, reward: 1.5, advantage: 0.7 },
    { step: 5, group: 0, reward: 0, advantage: -0.7 },
    { step: 5, group: 1, reward: null, advantage: 0 },
  ])
  expect(episodes[0]?.map((episode) => episode.texts)).toEqual(texts)
})

it('trackio has the run under the names of TRL’s', () => {
  const { runs, logs, configs } = answer.trackio ?? {}
  expect(runs).toEqual([NAME])
  const withValues = (record: StepRecord) => Object.entries(record.metrics).filter(([, value]) => value !== null)
  const expected = records.map((record) => ({ step: record.step, ...Object.fromEntries(withValues(record).map(([name, value]) => [`train/${name}`, value])) }))
  expect(logs).toEqual([[expected[0], { ...expected[1], 'eval/heldout_success': 7 / 8, 'eval/heldout_reward': 0.9 }]])
  expect(configs?.[0]).toMatchObject({ learning_rate: 0.01, model: run.config.model, peft_config: { r: run.lora?.r } })
})

it('transformers reads trainer_state.json, and a CSV reader the table', () => {
  const state = answer['trainer_state.json']
  expect(state).toMatchObject({ global_step: 2, max_steps: 2 })
  expect(state?.log_history.map(({ epoch: _, ...entry }) => entry).slice(0, 2)).toEqual(records.map(({ step, metrics }) => ({ ...metrics, step })))
  expect(answer['metrics.csv']).toEqual(records.map(({ step, metrics }) => ({ step, ...metrics })))
})
