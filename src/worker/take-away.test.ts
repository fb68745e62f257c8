/** What is taken away of a kept run: the files of each kind, read back. */
import 'fake-indexeddb/auto'
import { readFile } from 'node:fs/promises'
import { unzipSync } from 'fflate'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type LoraConfig } from '../core/config'
import type { NamedTensor } from '../core/engine'
import { linearDims, modulePath, peftTensor } from '../core/linear-layers'
import type { StepRecord } from '../core/events'
import { RandomStream } from '../core/random'
import { readPeftAdapter } from '../hub/peft-adapter'
import { readSafetensors } from '../hub/safetensors'
import { parseModelConfig } from '../model/config'
import { RunArchive, type Checkpoint } from './archive'
import { HubAccess } from './hub-access'
import { RunJournal } from './journal'
import type { ExportKind, Message } from './protocol'
import { exportFiles, readKept } from './take-away'
import { TakeAwayDesk } from './take-away-desk'
import { keptStep, runRecord, summary } from './testing/kept'
import { zipFiles } from './zip'

const FOLDER = 'public/models/tiny-qwen3'
const lora: LoraConfig = { r: 2, lora_alpha: 4, use_rslora: false, target_modules: ['q_proj', 'down_proj'] }

/** An adapter of the shipped model, far from zero. */
async function tensors(): Promise<NamedTensor[]> {
  const base = parseModelConfig(JSON.parse(await readFile(`${FOLDER}/config.json`, 'utf8')))
  const random = new RandomStream(5)
  return Array.from({ length: base.num_hidden_layers }, (_, layer) =>
    lora.target_modules.flatMap((target) => {
      const [out, input] = linearDims(base, target)
      return (['A', 'B'] as const).map((side) => {
        const dims = side === 'A' ? [lora.r, input] : [out, lora.r]
        return { name: peftTensor(layer, `${modulePath(target)}.lora_${side}`), dims, data: Float32Array.from({ length: dims[0]! * dims[1]! }, () => random.normal()) }
      })
    }),
  ).flat()
}

let archive: RunArchive
let count = 0
let adapter: NamedTensor[]
beforeEach(async () => {
  archive = await RunArchive.open(`take-away-${++count}`)
  adapter = await tensors()
  const moments = adapter.map(({ data }) => new Float32Array(data.length))
  const checkpoint: Checkpoint = { step: 2, num_tokens: 20, state: { parameters: adapter, m: moments, v: moments, optimizerSteps: 2, version: 2 } }
  const { config } = runRecord('x')
  const record = runRecord('run', { name: 'Lane: été & co', lora, config: { ...config, model: 'models/tiny-qwen3', lora } })
  await archive.addStep(record, summary(1), keptStep(1), null)
  await archive.addStep(record, summary(2), keptStep(2), checkpoint)
  vi.stubGlobal('self', { location: new URL('http://site/app/assets/worker.js') })
  vi.stubGlobal('fetch', async (url: string | URL) => {
    const name = String(url).split('/models/tiny-qwen3/')[1] ?? ''
    const bytes = await readFile(`${FOLDER}/${name}`).catch(() => null)
    return bytes ? new Response(bytes) : new Response('', { status: 404 })
  })
})
afterEach(() => vi.unstubAllGlobals())

function desk(openArchive = async () => archive, journal = new RunJournal(openArchive, () => undefined, () => undefined)) {
  const messages: Message[] = []
  const made = new TakeAwayDesk(openArchive, journal, new HubAccess(undefined), (message) => messages.push(message))
  let requestId = 0
  return async (kind: ExportKind, id = 'run') => {
    const wanted = ++requestId
    made.handle({ type: 'export', requestId: wanted, id, kind })
    return vi.waitFor(() => {
      const found = messages.find((m) => m.type === 'exported' && m.requestId === wanted)
      if (found?.type !== 'exported') throw new Error('not yet')
      return found.result
    }, 50_000)
  }
}

async function opened(kind: ExportKind): Promise<Map<string, Uint8Array>> {
  const result = await desk()(kind)
  if (!result.ok) throw new Error(result.error)
  return new Map(Object.entries(unzipSync(new Uint8Array(await result.file.arrayBuffer()))))
}

describe('an export', () => {
  it('of the adapter is what PEFT reads, bit for bit, with its card, its record and its base', async () => {
    const files = await opened('adapter')
    const paths = [...files.keys()].map((path) => path.replace('lane-ete-co-adapter/', ''))
    expect(paths).toEqual(expect.arrayContaining(['README.md', 'adapter_config.json', 'metrics.csv', 'trainer_state.json', 'base/config.json', 'base/model.safetensors']))
    expect(new TextDecoder().decode(files.get('lane-ete-co-adapter/README.md'))).toContain('folder + "/base"')
    const at = (path: string) => files.get(`lane-ete-co-adapter/${path}`) as Uint8Array
    const read = readPeftAdapter(JSON.parse(new TextDecoder().decode(at('adapter_config.json'))), at('adapter_model.safetensors'))
    expect(read.lora).toEqual({ ...lora, target_modules: ['q_proj', 'down_proj'] })
    expect(read.tensors.map(({ name, data }) => [name, [...data]])).toEqual(
      [...adapter].sort((a, b) => read.tensors.findIndex((t) => t.name === a.name) - read.tensors.findIndex((t) => t.name === b.name)).map(({ name, data }) => [name, [...data]]),
    )
  })

  it('of a merged model has the base’s files and other weights', async () => {
    const files = await opened('merged')
    const path = [...files.keys()].find((name) => name.endsWith('model.safetensors')) as string
    const merged = readSafetensors(files.get(path) as Uint8Array).tensors
    const base = readSafetensors(await readFile(`${FOLDER}/model.safetensors`)).tensors
    expect([...merged.keys()].sort()).toEqual([...base.keys()].sort())
    const changed = [...base].filter(([name, { data }]) => merged.get(name)?.data.some((x, i) => x !== data[i])).map(([name]) => name)
    expect(changed.every((name) => /q_proj|down_proj/.test(name))).toBe(true)
    expect(changed.length).toBeGreaterThan(1)
    expect([...files.keys()].some((name) => name.endsWith('/tokenizer.json'))).toBe(true)
  })

  it('of everything holds one folder a kind', async () => {
    const folders = new Set([...(await opened('everything')).keys()].map((path) => path.split('/').slice(0, 2).join('/')))
    for (const part of ['adapter', 'merged', 'trajectories', 'trackio', 'trl', 'unipo', 'README.txt', 'run.json', 'metrics.csv']) expect(folders).toContain(`lane-ete-co/${part}`)
  })

  it('holds no Hub token that a person wrote somewhere', async () => {
    await archive.edit('run', { notes: 'my token is hf_abcdefghijklmnopqrstuvwxyz0123456789' })
    for (const [path, bytes] of await opened('everything')) expect(new TextDecoder().decode(bytes), path).not.toContain('hf_abcdefghij')
  })

  it('is of the step that has the checkpoint, whatever is kept beyond it or trained meanwhile', async () => {
    const record = (await archive.get('run'))!
    await archive.edit('run', { evaluations: [3, 2].map((step) => ({ step, split: 'train', solved: 1, scorable: 4, reward: 0.25, precision: 'float32' })) })
    await archive.addStep(record, summary(3), keptStep(3), null)
    const kept = await readKept(archive, 'run')
    const moved = adapter.map((tensor) => ({ ...tensor, data: tensor.data.map((x) => x + 1) }))
    const newer = { ...(await archive.checkpoint('run'))!, step: 4 }
    await archive.addStep((await archive.get('run'))!, summary(4), keptStep(4), { ...newer, state: { ...newer.state, parameters: moved } })
    expect(kept.run).toMatchObject({ step: 2, checkpoint: 2, evaluations: [{ step: 2 }] })
    expect(kept.history.map(({ step }) => step)).toEqual([1, 2])
    const { files } = await exportFiles(kept, 'everything')
    const text = (path: string) => files.find((file) => file.path === path)?.content
    expect(JSON.parse(text('adapter/trainer_state.json') as string)).toMatchObject({ global_step: 2 })
    expect(text('adapter/README.md')).toContain('2 steps')
    const weights = readSafetensors(text('adapter/adapter_model.safetensors') as Uint8Array).tensors
    for (const { name, data } of adapter) expect(weights.get(name)?.data).toEqual(data)
  })

  it('of one file is that file', async () => {
    const result = await desk()('trajectories.jsonl')
    if (!result.ok) throw new Error(result.error)
    expect(result.name).toBe('lane-ete-co-trajectories.jsonl')
    expect((await result.file.text()).trim().split('\n')).toHaveLength(4)
  })

  it('that is impossible is a sentence', async () => {
    expect(await desk()('adapter', 'gone')).toMatchObject({ ok: false, error: 'This run is not kept here any more.' })
    const empty = runRecord('empty', { lora })
    await archive.addStep(empty, summary(1), keptStep(1), null)
    expect(await desk()('adapter', 'empty')).toMatchObject({ ok: false, error: expect.stringContaining('has no adapter yet') as string })
    // Every weight of it was trained.
    await archive.addStep(runRecord('full', { lora: null }), summary(1), keptStep(1), (await archive.checkpoint('run')) ?? null)
    const { files } = await exportFiles(await readKept(archive, 'full'), 'everything')
    for (const folder of ['adapter', 'trl']) {
      const why = files.find(({ path }) => path === `${folder}/NOT-INCLUDED.txt`)?.content
      expect(why).toContain('trained every weight (use_peft is off), so it has no adapter.')
      expect(why).not.toContain('Train at least one step')
    }
    const hub = runRecord('hub', { lora, config: { ...runRecord('x').config, model: 'Qwen/Qwen3-0.6B' } })
    await archive.addStep(hub, summary(1), keptStep(1), null)
    expect(await desk()('merged', 'hub')).toMatchObject({ ok: false, error: expect.stringContaining('not merged in the browser') as string })
  })
})

describe('the run that is loaded', () => {
  /** A journal whose archive refuses, after step 3 of a run. */
  async function unkept(openArchive: () => Promise<RunArchive>) {
    const journal = new RunJournal(openArchive, () => undefined, () => undefined)
    const { config, engine: info, environment: { name, tools, prompts } } = (await archive.get('run'))!
    const chat = { tokenText: String, plainText: (ids: readonly number[]) => ids.join(' ') }
    journal.open({ config, sha: null, engine: { info, lora }, environment: { name, tools, prompts }, chat, start: null })
    const { rewardMin: _, rewardMax: __, episodes: ___, unscorable: ____, ...numbers } = summary(3)
    const parameters = adapter.map((tensor) => ({ ...tensor, data: tensor.data.map((x) => x + 1) }))
    const { state } = (await archive.checkpoint('run'))!
    await journal.step({ ...numbers, episodes: [] } as unknown as StepRecord, { step: 3, num_tokens: 30, state: { ...state, parameters } })
    return { journal, parameters, id: journal.unkept?.run.id ?? '' }
  }

  it('is taken away at its last step out of memory where the browser refuses to keep it', async () => {
    const refused = () => Promise.reject(new Error('refused'))
    const { journal, parameters, id } = await unkept(refused)
    const make = desk(refused, journal)
    const result = await make('adapter', id)
    if (!result.ok) throw new Error(result.error)
    const files = Object.entries(unzipSync(new Uint8Array(await result.file.arrayBuffer())))
    const at = (name: string) => files.find(([path]) => path.endsWith(name))?.[1] as Uint8Array
    const weights = readSafetensors(at('/adapter_model.safetensors')).tensors
    for (const { name, data } of parameters) expect(weights.get(name)?.data).toEqual(data)
    expect(new TextDecoder().decode(at('/README.md'))).toContain('3 steps')
    expect(JSON.parse(new TextDecoder().decode(at('/trainer_state.json')))).toMatchObject({ global_step: 3 })
    expect(await make('everything', id)).toMatchObject({ ok: true })
    expect(await make('adapter', 'run')).toMatchObject({ ok: false, error: 'refused' })
  })
})

it('two files of one path are refused instead of one being lost', async () => {
  await expect(zipFiles('x', [{ path: 'a', content: '1' }, { path: 'a', content: '2' }])).rejects.toThrow('x/a')
})
