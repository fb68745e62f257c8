/** Makes the files that a person takes away of a kept run, out of the archive: nothing of the engine, and nothing of the network but a base model. */

import { describeError, PlaygroundError } from '../core/errors'
import type { ExportFile, KeptEpisode, RunRecord, StepSummary } from '../core/run-record'
import { isHubModel } from '../env/models'
import { FolderSource } from '../hub/folder-source'
import type { ModelCardInput } from '../hub/model-card'
import { withoutTokens } from '../hub/secrets'
import { parseModelConfig } from '../model/config'
import type { RunArchive } from './archive'
import { curvePicture } from './curve-picture'
import { folderAddress } from './model'
import type { ExportKind } from './protocol'

/** The files of a model of this site beside its weights: a merged copy needs them unchanged. */
const MODEL_FILES = ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json']

/** A kept run, read for taking away. */
export interface Kept {
  run: RunRecord
  history: StepSummary[]
  /** Of every step whose episodes are kept; each call reads anew. */
  steps: () => AsyncIterable<KeptEpisode[]>
  /** PEFT's two files at the newest checkpoint. */
  adapter: () => Promise<ExportFile[]>
}

/** @throws PlaygroundError('config') when the run is gone */
export async function readKept(archive: RunArchive, id: string): Promise<Kept> {
  const run = await archive.get(id)
  if (!run) throw new PlaygroundError('config', 'This run is not kept here any more.', 'Open the list of runs again; it may have been deleted in another tab.')
  return { run, history: await archive.history(id), steps: () => archive.episodes(id), adapter: () => adapterFiles(archive, run) }
}

/** The adapter alone needs a step that was kept. */
async function checkpointOf(archive: RunArchive, run: RunRecord) {
  const checkpoint = await archive.checkpoint(run.id)
  if (!checkpoint || !run.lora) throw new PlaygroundError('config', `"${run.name}" has no adapter yet.`, 'Train at least one step first.')
  return { lora: run.lora, tensors: checkpoint.state.parameters, step: checkpoint.step }
}

async function adapterFiles(archive: RunArchive, run: RunRecord): Promise<ExportFile[]> {
  const { peftAdapterFiles } = await import('../hub/peft-writer')
  const { lora, tensors } = await checkpointOf(archive, run)
  return peftAdapterFiles({ lora, tensors, baseModel: run.config.model, revision: run.modelSha })
}

/** Where a model of this site lies; throws PlaygroundError('model') for one of the Hub, which is merged in Python. */
async function siteModel({ config: { model } }: RunRecord): Promise<{ source: FolderSource; files: ExportFile[] }> {
  if (isHubModel(model)) {
    const advice = 'Take the adapter: its README has the two lines of Python that merge it.'
    throw new PlaygroundError('model', `${model} is not merged in the browser, which would need its whole weights in memory twice.`, advice)
  }
  const base = folderAddress(model)
  const files: ExportFile[] = []
  for (const path of MODEL_FILES) {
    const response = await fetch(`${base}${path}`).catch(() => null)
    if (!response?.ok) throw new PlaygroundError('model', `${path} of ${model} could not be read from this site.`, 'Check the connection and try again.')
    files.push({ path, content: await response.blob() })
  }
  return { source: new FolderSource(base), files }
}

async function mergedFiles(archive: RunArchive, run: RunRecord): Promise<ExportFile[]> {
  const { mergedModelFiles } = await import('../hub/merged-model')
  const { source, files } = await siteModel(run)
  parseModelConfig(await source.config())
  const { lora, tensors } = await checkpointOf(archive, run)
  return mergedModelFiles({ source, lora, tensors, files, baseModel: run.config.model })
}

/** The base's own files, for a folder that must run where this site's model cannot be downloaded by name. */
async function baseFiles(run: RunRecord): Promise<ExportFile[]> {
  if (isHubModel(run.config.model)) return []
  const { files } = await siteModel(run)
  const response = await fetch(`${folderAddress(run.config.model)}model.safetensors`)
  if (!response.ok) throw new PlaygroundError('model', `model.safetensors of ${run.config.model} could not be read from this site.`, 'Check the connection and try again.')
  return [...files, { path: 'model.safetensors', content: await response.blob() }]
}

const inFolder = (folder: string, files: readonly ExportFile[]): ExportFile[] => files.map(({ path, content }) => ({ path: `${folder}/${path}`, content }))

async function trlFiles(kept: Kept): Promise<ExportFile[]> {
  const { trlFolder } = await import('../hub/trl/index')
  return trlFolder({ run: kept.run, history: kept.history, adapter: await kept.adapter(), base: await baseFiles(kept.run) })
}

async function metricFiles({ run, history }: Kept): Promise<{ csv: ExportFile; trackio: ExportFile[]; state: ExportFile }> {
  const { metricsCsv, trackioFiles, trainerState } = await import('../hub/metrics-export')
  return {
    csv: { path: 'metrics.csv', content: metricsCsv(history) },
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
  const adapter = await kept.adapter()
  // The adapter must not be lost because its base cannot be read just now; the card says where that is.
  const base = await baseFiles(kept.run).catch(() => [])
  const card = await cardFiles(kept, { kind: 'adapter', repo, baseFolder: base.length > 0 ? BASE : null, log: csv.path })
  return [...card, ...adapter, state, csv, ...inFolder(BASE, base)]
}

export async function mergedFolder(archive: RunArchive, kept: Kept, repo: string | null): Promise<ExportFile[]> {
  const model = await mergedFiles(archive, kept.run)
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
export async function exportFiles(archive: RunArchive, kept: Kept, kind: ExportKind): Promise<{ name: string; files: ExportFile[] }> {
  const { run, history } = kept
  const stem = slug(run.name)
  switch (kind) {
    case 'adapter':
      return { name: `${stem}-adapter`, files: await adapterFolder(kept, null) }
    case 'merged':
      return { name: `${stem}-merged`, files: await mergedFolder(archive, kept, null) }
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
      return { name: stem, files: await everything(archive, kept, history) }
  }
}

async function everything(archive: RunArchive, kept: Kept, history: readonly StepSummary[]): Promise<ExportFile[]> {
  const { run } = kept
  const { csv, trackio } = await metricFiles(kept)
  return [
    { path: 'run.json', content: withoutTokens(JSON.stringify({ run, history }, null, 1)) },
    csv,
    ...inFolder('trackio', trackio),
    ...(await part('adapter', () => adapterFolder(kept, null))),
    ...(await part('trajectories', () => datasetFolder(kept, null))),
    ...(await part('unipo', () => unipoFiles(kept))),
    ...(await part('trl', () => trlFiles(kept))),
    ...(isHubModel(run.config.model) ? [] : await part('merged', () => mergedFolder(archive, kept, null))),
  ]
}

/** A folder of the archive; what cannot be made is said in its place instead of costing the person all the rest. */
async function part(folder: string, make: () => Promise<ExportFile[]>): Promise<ExportFile[]> {
  try {
    return inFolder(folder, await make())
  } catch (error) {
    return [{ path: `${folder}/NOT-INCLUDED.txt`, content: `${describeError(error)}\n` }]
  }
}

/** A file name of what a person wrote. */
export function slug(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '')
  return plain.slice(0, 60).replace(/-+$/, '') || 'run'
}
