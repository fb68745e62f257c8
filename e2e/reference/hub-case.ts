/** What quantised_cases.py writes of a repository, and an engine on that repository. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LoraConfig } from '../../src/core/config'
import type { Engine } from '../../src/core/engine'
import type { WeightSource } from '../../src/core/weights'
import { tensorPieces } from '../../src/hub/memory-source'
import { readSafetensors } from '../../src/hub/safetensors'
import { createEngine } from '../../src/runtime/create'
import type { ListedScores } from './compare'
import type { CaseSequence } from './engine-case'
import { REFERENCE, referenceJson } from './reference'

export interface GreedyStep {
  id: number
  logprob: number
  entropy: number
  top: { id: number; prob: number }[]
}

export interface PrecisionCase {
  precision: 'float32' | 'int8' | 'int4'
  /** Holds adapter.safetensors and, of a quantised case, weights.safetensors: all quantised tensors there and back. */
  folder: string
  /** By temperature ('1.0'): without the adapter, and with it. */
  base: Record<string, ListedScores[]>
  scores: Record<string, ListedScores[]>
  /** Of the batch's loss by the adapter's tensors, by temperature; norm is that of all tensors together. */
  gradients: Record<string, { loss: number; norm: number; file: string }>
  /** Continuations of prompts of different lengths, with the adapter. */
  greedy: { prompt: number[]; steps: GreedyStep[] }[]
}

export interface RepoCases {
  repo: string
  vocab: number
  lora: LoraConfig
  scale: number
  /** The last sequence is a long one. */
  batch: CaseSequence[]
  cases: PrecisionCase[]
}

/** Repositories that make.py made, in the order of hub_models.py. */
export const repos = referenceJson<{ repos: string[] }>('manifest.json').repos

export function repoCases(repo: string): RepoCases {
  return referenceJson<RepoCases>(`hub-cases/${repo}.json`)
}

export function precisionCase(repo: string, precision: PrecisionCase['precision']): PrecisionCase {
  const found = repoCases(repo).cases.find((example) => example.precision === precision)
  if (!found) throw new Error(`${repo} has no case for ${precision}: run \`npm run test:reference\`.`)
  return found
}

/** The folder that save_pretrained wrote, read file by file without any hub. */
export function savedRepo(repo: string): WeightSource {
  const folder = join(REFERENCE, 'hub', repo)
  const files = readdirSync(folder).filter((name) => name.endsWith('.safetensors'))
  const tensors = files.flatMap((name) => [...readSafetensors(readFileSync(join(folder, name))).tensors])
  return {
    config: () => Promise.resolve(JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as unknown),
    ...tensorPieces(tensors.map(([name, { dims, data }]) => ({ name, dims, data })), folder),
  }
}

/** Two slots and room for the batch's long sequence. */
export function repoEngine(source: WeightSource, repo: string, lora: LoraConfig): Promise<Engine> {
  return createEngine({ source, lora, backend: 'wasm', threads: 1, slots: 2, contextLength: 320, modelName: repo })
}
