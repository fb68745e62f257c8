/** "Move to TRL": a run as a folder that goes on with TRL's GRPOTrainer, on one machine or many. */

import { PlaygroundError } from '../../core/errors'
import type { ExportFile, RunRecord, StepSummary } from '../../core/run-record'
import { accelerateFiles } from './accelerate'
import { environmentFiles } from './environment-files'
import { rolloutFiles } from './javascript'
import { readme } from './readme'
import type { MadeRows } from './row-files'
import { comparesWithStart, trainScript } from './train-script'
import { requirements, vllmRequirements } from './versions'
import type { WrittenFacts } from './written-class'

export interface TrlFolderInput {
  run: RunRecord
  history: readonly StepSummary[]
  /** adapter_config.json and adapter_model.safetensors, of the run's last step; placed under adapter/. Empty in full-parameter training. */
  adapter: readonly ExportFile[]
  /** The base model's files where it is no repository on the Hub (the shipped model), or the trained model in full-parameter training; placed under base/. */
  base?: readonly ExportFile[]
  /** PEFT's two files of the adapter that the run began with; placed under start/ where the KL term compares with it (comparesWithStart). */
  start?: readonly ExportFile[]
  /** Address of the OpenEnv server as the page reached it, http(s)://host (ServerAddress.http); found out from the record where this is absent. */
  server?: string
  /** Of a dataset that the page makes itself. */
  rows?: MadeRows
  /** Of each environment of the run, in order: what is known of a class that was written in the page. */
  written?: readonly (WrittenFacts | null)[]
}

/**
 * The folder's files, paths relative to it: train.py, environment.py and their helpers, accelerate/*.yaml, requirements*.txt,
 * README.md, adapter/, base/ and start/. Throws PlaygroundError('config') when a run cannot be taken to TRL.
 */
export function trlFolder({ run, history, adapter, base = [], start = [], server, rows, written = [] }: TrlFolderInput): ExportFile[] {
  const { model, grpo } = run.config
  const has = { adapter: adapter.length > 0, base: base.length > 0, start: start.length > 0 && adapter.length > 0 && comparesWithStart(run) }
  if (!has.base && (model.startsWith('models/') || !has.adapter)) {
    throw new PlaygroundError('config', `The files of ${model} were not given, and TRL cannot load it from the Hub.`, 'Load the model again, then export once more.')
  }
  if (!has.adapter && run.lora !== null) {
    throw new PlaygroundError('config', `The LoRA of the run ${run.name} was not given.`, 'Load the run, then export once more.')
  }
  const environments = environmentFiles(run, { written, ...(server === undefined ? {} : { server }), ...(rows && { rows }) })
  return [
    { path: 'README.md', content: readme(run, { history, ...environments, ...has }) },
    { path: 'train.py', content: trainScript(run, { ...has, written }) },
    ...environments.files,
    ...rolloutFiles(run.config),
    { path: 'requirements.txt', content: `${requirements(run.config).join('\n')}\n` },
    { path: 'requirements-vllm.txt', content: `${vllmRequirements(run.config).join('\n')}\n` },
    ...accelerateFiles(grpo.prompts_per_step * grpo.num_generations),
    ...placed('adapter', adapter),
    ...placed('base', base),
    ...(has.start ? placed('start', start) : []),
  ]
}

/** Files by their own names, whatever folder they came from. */
function placed(folder: string, files: readonly ExportFile[]): ExportFile[] {
  return files.map(({ path, content }) => ({ path: `${folder}/${path.split('/').at(-1) ?? path}`, content }))
}
