/** Makes the files that a person takes away of a kept run, out of the archive or of what the journal still holds of it: nothing of the engine, and nothing of the network but a base model. */

import type { LoraConfig } from '../core/config'
import type { NamedTensor } from '../core/engine'
import { datasetsOf, type EnvironmentSpec, singleSpecs } from '../core/environment-spec'
import { describeError, PlaygroundError } from '../core/errors'
import { type ExportFile, type KeptEpisode, type RunRecord, type StepSummary, withDiscarded } from '../core/run-record'
import { slug } from '../core/text'
import { arithmeticRows } from '../env/prompts/arithmetic'
import { isHubModel } from '../env/models'
import { FolderSource } from '../hub/folder-source'
import type { ModelCardInput } from '../hub/model-card'
import type { PeftAdapter } from '../hub/peft-adapter'
import { withoutEpisodeSecrets, withoutSecrets } from '../hub/secrets'
import type { WrittenFacts } from '../hub/trl/written-class'
import { parseModelConfig } from '../model/config'
import type { Checkpoint, RunArchive } from './archive'
import { curvePicture } from './curve-picture'
import type { Unkept } from './journal'
import { folderAddress } from './model'
import type { ExportKind } from './protocol'

/** The files of a model of this site beside its weights: a merged copy needs them unchanged. */
const MODEL_FILES = ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json']

/**
 * A kept run as it was after one step, the newest that has a checkpoint: what is made of it agrees with itself, whatever is trained
 * meanwhile. Without anything that must not leave the page.
 */
export interface Kept {
  run: RunRecord
  history: StepSummary[]
  /** Of every step whose episodes are kept; each call reads anew. */
  steps: () => AsyncIterable<KeptEpisode[]>
  /** The adapter's tensors; null before the first checkpoint. */
  checkpoint: Checkpoint | null
  /** The adapter that the run began with; null for a fresh one. */
  start: PeftAdapter | null
}

/** @throws PlaygroundError('config') when the run is gone */
export async function readKept(archive: RunArchive, id: string): Promise<Kept> {
  const found = await archive.get(id)
  if (!found) throw new PlaygroundError('config', 'This run is not kept here any more.', 'Open the list of runs again; it may have been deleted in another tab.')
  const checkpoint = await archive.checkpoint(id)
  const step = checkpoint?.step ?? found.step
  return keptAt(archive, { ...found, step, checkpoint: checkpoint?.step ?? null }, await archive.history(id, step), checkpoint, (await archive.start(id)) ?? null)
}

/** The loaded run at its last finished step, which the archive lacks; with what of it the archive has, null where it cannot be opened. */
export async function readUnkept(archive: RunArchive | null, { run, checkpoint, start, missed }: Unkept): Promise<Kept> {
  const archived = (await archive?.history(run.id, checkpoint.step).catch(() => null)) ?? []
  const known = new Set(archived.map(({ step }) => step))
  const history = [...archived, ...missed.filter(({ step }) => !known.has(step))].sort((a, b) => a.step - b.step)
  return keptAt(archive, run, history, checkpoint, start)
}

/** `record`: as of the step that it is taken away at. */
function keptAt(archive: RunArchive | null, record: RunRecord, history: StepSummary[], checkpoint: Checkpoint | null, start: PeftAdapter | null): Kept {
  const { id, step } = record
  const run = withoutSecrets({ ...record, evaluations: record.evaluations.filter((each) => each.step <= step) })
  const groups = new Map(history.map((summary) => [summary.step, summary.groups]))
  async function* steps(): AsyncGenerator<KeptEpisode[]> {
    if (archive) for await (const episodes of archive.episodes(id, step)) yield withDiscarded(episodes, groups.get(episodes[0]?.step ?? 0)).map(withoutEpisodeSecrets)
  }
  return { run, history, steps, checkpoint, start }
}

function trained({ run, checkpoint }: Kept): { lora: LoraConfig; tensors: NamedTensor[] } {
  if (!run.lora) throw new PlaygroundError('config', `"${run.name}" trained every weight (use_peft is off), so it has no adapter.`, 'Take the merged model: it is the whole model as it was trained.')
  if (!checkpoint) throw new PlaygroundError('config', `"${run.name}" has no adapter yet.`, 'Train at least one step first.')
  return { lora: run.lora, tensors: checkpoint.state.parameters }
}

async function adapterFiles({ run: { config, modelSha } }: Kept, adapter: { lora: LoraConfig; tensors: NamedTensor[] }): Promise<ExportFile[]> {
  const { peftAdapterFiles } = await import('../hub/peft-writer')
  return peftAdapterFiles({ ...adapter, baseModel: config.model, revision: modelSha })
}

/** Files of a model of this site, as they are. Throws PlaygroundError('model') for one that cannot be read. */
async function siteFiles(model: string, paths: readonly string[]): Promise<ExportFile[]> {
  const files: ExportFile[] = []
  for (const path of paths) {
    const response = await fetch(`${folderAddress(model)}${path}`).catch(() => null)
    if (!response?.ok) throw new PlaygroundError('model', `${path} of ${model} could not be read from this site.`, 'Check the connection and try again.')
    files.push({ path, content: await response.blob() })
  }
  return files
}

/** Throws PlaygroundError('model') for a model of the Hub, which is merged in Python. */
async function mergedFiles(kept: Kept): Promise<ExportFile[]> {
  const { model } = kept.run.config
  if (isHubModel(model)) {
    const advice = 'Take the adapter: its README has the two lines of Python that merge it.'
    throw new PlaygroundError('model', `${model} is not merged in the browser, which would need its whole weights in memory twice.`, advice)
  }
  const { mergedModelFiles } = await import('../hub/merged-model')
  const files = await siteFiles(model, MODEL_FILES)
  const source = new FolderSource(folderAddress(model))
  parseModelConfig(await source.config())
  const { lora, tensors } = kept.run.lora ? trained(kept) : { lora: null, tensors: kept.checkpoint?.state.parameters ?? [] }
  return mergedModelFiles({ source, lora, tensors, files, baseModel: model })
}

/** The base's own files, for a folder that must run where this site's model cannot be downloaded by name; none for a model of the Hub. */
async function baseFiles({ config: { model } }: RunRecord): Promise<ExportFile[]> {
  return isHubModel(model) ? [] : siteFiles(model, [...MODEL_FILES, 'model.safetensors'])
}

const inFolder = (folder: string, files: readonly ExportFile[]): ExportFile[] => files.map(({ path, content }) => ({ path: `${folder}/${path}`, content }))

async function trlFiles(kept: Kept): Promise<ExportFile[]> {
  const { trlFolder } = await import('../hub/trl/index')
  const start = kept.start && (await adapterFiles(kept, kept.start))
  const { environment } = kept.run.config
  const rows = datasetsOf(environment).some(({ kind }) => kind === 'builtin') ? { rows: { train: arithmeticRows('train'), heldout: arithmeticRows('heldout') } } : {}
  const written = await writtenFacts(environment)
  return trlFolder({ ...rows, written, run: kept.run, history: kept.history, adapter: await adapterFiles(kept, trained(kept)), base: await baseFiles(kept.run), ...(start ? { start } : {}) })
}

/** Of each environment, what is known of a class that was written in the page; null for others. */
async function writtenFacts(spec: EnvironmentSpec): Promise<(WrittenFacts | null)[]> {
  const specs = singleSpecs(spec)
  if (!specs.some(({ kind }) => kind === 'custom')) return specs.map(() => null)
  const { readClass } = await import('../env/custom/class-source')
  return specs.map((one) => {
    const facts = one.kind === 'custom' ? readClass(one.code, one.called).facts : null
    if (!facts) return null
    const { lines, tools, heldOut, successAt, hasReward, givesReward } = facts
    return { lines: { ...lines, ...Object.fromEntries(tools.map(({ tool, line }) => [tool.function.name, line])) }, heldOut, successAt, hasReward, judges: hasReward || givesReward }
  })
}

async function metricFiles({ run, history }: Kept): Promise<{ csv: ExportFile; trackio: ExportFile[]; state: ExportFile }> {
  const { metricsCsv, trackioFiles, trainerState } = await import('../hub/metrics-export')
  return {
    csv: { path: 'metrics.csv', content: metricsCsv(history, run.evaluations) },
    state: { path: 'trainer_state.json', content: trainerState(run, history) },
    trackio: trackioFiles(run, history),
  }
}

const CURVE = 'reward.png'
const BASE = 'base'

/** README.md and the picture in it, for a repository or (null) a folder. */
async function cardFiles({ run, history }: Kept, facts: Pick<ModelCardInput, 'kind' | 'repo' | 'baseFolder' | 'license' | 'log'>): Promise<ExportFile[]> {
  const { modelCard } = await import('../hub/model-card')
  const picture = await curvePicture(history)
  const card = modelCard({ run, history, curve: picture ? CURVE : null, ...facts })
  return [{ path: 'README.md', content: card }, ...(picture ? [{ path: CURVE, content: picture }] : [])]
}

/** The adapter as it goes to the Hub: PEFT's files, the card with its curve, the training record, and a base that is not on the Hub. */
export async function adapterFolder(kept: Kept, repo: string | null): Promise<ExportFile[]> {
  const { csv, state } = await metricFiles(kept)
  const adapter = await adapterFiles(kept, trained(kept))
  // The adapter must not be lost because its base cannot be read just now; the card says where that is.
  const base = await baseFiles(kept.run).catch(() => [])
  const card = await cardFiles(kept, { kind: 'adapter', repo, baseFolder: base.length > 0 ? BASE : null, log: csv.path })
  return [...card, ...adapter, state, csv, ...inFolder(BASE, base)]
}

export async function mergedFolder(kept: Kept, repo: string | null): Promise<ExportFile[]> {
  const model = await mergedFiles(kept)
  // What is merged here is the model of this site, whose licence is known.
  return [...(await cardFiles(kept, { kind: 'merged', repo, license: 'apache-2.0' })), ...model]
}

/** A dataset as `datasets` loads it. */
export async function datasetFolder({ run, steps }: Kept, repo: string | null): Promise<ExportFile[]> {
  const { datasetFiles } = await import('../hub/dataset-card')
  return datasetFiles(run, steps(), repo === null ? {} : { repo })
}

/** For UNIPO's viewer. */
async function unipoFiles({ run, history, steps }: Kept): Promise<ExportFile[]> {
  const { unipoJsonl } = await import('../hub/unipo-export')
  return [{ path: 'rollouts.jsonl', content: await unipoJsonl(run, history, steps()) }]
}

/**
 * The files of one kind, and the name under which they are saved (with .zip for several).
 * @throws PlaygroundError with what is missing
 */
export async function exportFiles(kept: Kept, kind: ExportKind): Promise<{ name: string; files: ExportFile[] }> {
  const { run, history } = kept
  const stem = slug(run.name)
  switch (kind) {
    case 'adapter':
      return { name: `${stem}-adapter`, files: await adapterFolder(kept, null) }
    case 'merged':
      return { name: `${stem}-merged`, files: await mergedFolder(kept, null) }
    case 'trajectories.jsonl': {
      const { trajectoriesJsonl } = await import('../hub/trajectories/index')
      return { name: stem, files: [{ path: `${stem}-trajectories.jsonl`, content: await trajectoriesJsonl(run, kept.steps()) }] }
    }
    case 'trajectories.parquet': {
      const { trajectoriesParquet } = await import('../hub/trajectories/index')
      return { name: stem, files: [{ path: `${stem}-trajectories.parquet`, content: await trajectoriesParquet(run, kept.steps()) }] }
    }
    case 'metrics.csv':
      return { name: stem, files: [{ path: `${stem}-metrics.csv`, content: (await metricFiles(kept)).csv.content }] }
    case 'trackio':
      return { name: `${stem}-trackio`, files: (await metricFiles(kept)).trackio }
    case 'trl':
      return { name: `${stem}-trl`, files: await trlFiles(kept) }
    case 'everything':
      return { name: stem, files: await everything(kept, history) }
  }
}

async function everything(kept: Kept, history: readonly StepSummary[]): Promise<ExportFile[]> {
  const { run } = kept
  const { csv, trackio } = await metricFiles(kept)
  return [
    { path: 'README.txt', content: contents(run) },
    { path: 'run.json', content: JSON.stringify({ run, history }, null, 1) },
    csv,
    ...inFolder('trackio', trackio),
    ...(await part('adapter', () => adapterFolder(kept, null))),
    ...(await part('trajectories', () => datasetFolder(kept, null))),
    ...(await part('unipo', () => unipoFiles(kept))),
    ...(await part('trl', () => trlFiles(kept))),
    ...(isHubModel(run.config.model) ? [] : await part('merged', () => mergedFolder(kept, null))),
  ]
}

/** What lies where in the archive. */
function contents({ name, step, config }: RunRecord): string {
  const lines = [
    `${name}, after step ${step}, taken away from GRPO Playground.`,
    '',
    'adapter/       the LoRA for PEFT, with its model card, every step’s numbers and, for the model that comes with the page, its base',
    'trajectories/  every kept episode as a dataset for Hugging Face datasets (Parquet); the page opens it again under Runs',
    'trl/           a folder to train on with TRL: read its README.md first',
    'trackio/       the metrics for trackio’s dashboard: read its README.md first',
    'unipo/         the rollouts for UNIPO',
    ...(isHubModel(config.model) ? [] : ['merged/        base and LoRA as one model for transformers']),
    'metrics.csv    every step’s numbers under TRL’s names',
    'run.json       settings, environment and evaluations of the run',
    '',
    'A folder that could not be made holds NOT-INCLUDED.txt instead, which says why.',
  ]
  return `${lines.join('\n')}\n`
}

/** A folder of the archive; what cannot be made is said in its place instead of costing the person all the rest. */
async function part(folder: string, make: () => Promise<ExportFile[]>): Promise<ExportFile[]> {
  try {
    return inFolder(folder, await make())
  } catch (error) {
    return [{ path: `${folder}/NOT-INCLUDED.txt`, content: `${describeError(error)}\n` }]
  }
}
