/** Folders that we wrote, and what PEFT and transformers say of them: peft_scores.py in a process whose warnings are errors. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Precision } from '../../src/core/config'
import type { ExportFile } from '../../src/core/run-record'
import { venvPython } from '../tools/venv'
import type { ListedScores } from './compare'
import { REFERENCE, ROOT, referenceJson } from './reference'

export interface PeftJob {
  name: string
  /** Folders under .cache/reference. */
  base: string
  precision: Precision
  adapter?: string
  /** Finds the base by the adapter's own base_model_name_or_path, from the folder that the site is served from. */
  by_name?: true
  sequences: readonly { ids: readonly number[] }[]
}

/** Of a job without an adapter: what transformers missed or did not use, and what the file holds. */
interface ModelFacts {
  loading: Record<string, string[]>
  names: string[]
  dtypes: string[]
  words?: number
}

interface AdapterFacts {
  /** PEFT's scale of every LoRA layer, each once. */
  scalings: number[]
  layers: number
  base: string | null
  revision: string | null
  /** Trainable parameters: none in an adapter that was loaded for use. */
  trainable: number
}

export interface PeftAnswer {
  /** A raised error, a warning among them, or what was logged as a warning. */
  error: string | null
  facts: ModelFacts & AdapterFacts
  /** At temperature 1. */
  scores: ListedScores[]
}

/** Writes an export's files to a fresh folder under .cache/reference, and returns `folder`. */
export function writeExport(folder: string, files: readonly ExportFile[]): string {
  rmSync(join(REFERENCE, folder), { recursive: true, force: true })
  for (const { path, content } of files) {
    if (content instanceof Blob) throw new Error(`${path} is a Blob: read it first.`)
    const place = join(REFERENCE, folder, path)
    mkdirSync(dirname(place), { recursive: true })
    writeFileSync(place, content)
  }
  return folder
}

/** The small files of a model's folder, as a merged model takes them over. */
export function smallFiles(folder: string): ExportFile[] {
  const names = ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json']
  return names.map((path) => ({ path, content: readFileSync(join(folder, path), 'utf8') }))
}

/** Answers by the jobs' names. */
export function peftScores(jobs: readonly PeftJob[], place: string): Record<string, PeftAnswer> {
  const [asked, answered] = ['jobs', 'answers'].map((name) => join(REFERENCE, place, `${name}.json`)) as [string, string]
  mkdirSync(dirname(asked), { recursive: true })
  writeFileSync(asked, JSON.stringify(jobs))
  const command = ['-W', 'error', 'e2e/reference/peft_scores.py', asked, answered]
  execFileSync(venvPython('reference'), command, { cwd: ROOT, env: { ...process.env, OMP_WAIT_POLICY: 'PASSIVE' }, stdio: 'inherit' })
  return referenceJson(join(place, 'answers.json'))
}
