/** "Move to TRL": a run as a folder that goes on with TRL's GRPOTrainer, on one machine or many. */

import type { ExportFile, RunRecord, StepSummary } from '../../core/run-record'

export interface TrlFolderInput {
  run: RunRecord
  history: readonly StepSummary[]
  /** adapter_config.json and adapter_model.safetensors, of the run's last step; placed under adapter/. Empty in full-parameter training. */
  adapter: readonly ExportFile[]
  /** The base model's files where it is no repository on the Hub (the shipped model), or the trained model in full-parameter training; placed under base/. */
  base?: readonly ExportFile[]
}

/**
 * The folder's files, paths relative to it: train.py, environment.py and their helpers, accelerate/*.yaml, requirements*.txt,
 * README.md, adapter/ and base/. Throws PlaygroundError('config') when a run cannot be taken to TRL.
 */
export function trlFolder({ adapter, base = [] }: TrlFolderInput): ExportFile[] {
  return [...placed('adapter', adapter), ...placed('base', base)]
}

function placed(folder: string, files: readonly ExportFile[]): ExportFile[] {
  return files.map(({ path, content }) => ({ path: `${folder}/${path.split('/').at(-1) ?? path}`, content }))
}
