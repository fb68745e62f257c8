/** Makes the files that a person takes away of a kept run, out of the archive: nothing of the engine, and nothing of the network but a base model. */

import { PlaygroundError } from '../core/errors'
import type { ExportFile, KeptEpisode, RunRecord, StepSummary } from '../core/run-record'
import { isHubModel } from '../env/models'
import { FolderSource } from '../hub/folder-source'
import { parseModelConfig } from '../model/config'
import type { RunArchive } from './archive'
import { folderAddress } from './model'
import type { ExportKind } from './protocol'

/** The model's files beside its weights that a merged copy needs, unchanged; those that end in ? may be missing. */
const MODEL_FILES = ['config.json', 'generation_config.json?', 'tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja?', 'special_tokens_map.json?']

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
  for (const name of MODEL_FILES) {
    const path = name.replace('?', '')
    const response = await fetch(`${base}${path}`).catch(() => null)
    if (response?.ok) files.push({ path, content: await response.blob() })
    else if (!name.endsWith('?')) throw new PlaygroundError('model', `${path} of ${model} could not be read from this site.`, 'Check the connection and try again.')
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

/** The adapter as it goes to the Hub. */
export async function adapterFolder(kept: Kept, _repo: string | null): Promise<ExportFile[]> {
  return kept.adapter()
}

export async function mergedFolder(archive: RunArchive, kept: Kept, _repo: string | null): Promise<ExportFile[]> {
  return mergedFiles(archive, kept.run)
}

/** A dataset as `datasets` loads it. */
export async function datasetFolder({ run }: Kept, _repo: string | null): Promise<ExportFile[]> {
  throw new PlaygroundError('config', `The trajectories of "${run.name}" cannot be taken away yet.`, 'Take the adapter.')
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
    case 'trajectories.jsonl':
    case 'trajectories.parquet':
    case 'metrics.csv':
    case 'trackio':
      throw new PlaygroundError('config', `${kind} of "${run.name}" cannot be taken away yet.`, 'Take the adapter.')
    case 'trl':
      return { name: `${stem}-trl`, files: await trlFiles(kept) }
    case 'everything':
      return { name: stem, files: await everything(archive, kept, history) }
  }
}

async function everything(archive: RunArchive, kept: Kept, history: readonly StepSummary[]): Promise<ExportFile[]> {
  const { run } = kept
  const record: ExportFile = { path: 'run.json', content: JSON.stringify({ run, history }, null, 1) }
  return [
    record,
    ...inFolder('adapter', await adapterFolder(kept, null)),
    ...inFolder('trl', await trlFiles(kept)),
    ...(isHubModel(run.config.model) ? [] : inFolder('merged', await mergedFolder(archive, kept, null))),
  ]
}

/** A file name of what a person wrote. */
export function slug(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '')
  return plain.slice(0, 60).replace(/-+$/, '') || 'run'
}
