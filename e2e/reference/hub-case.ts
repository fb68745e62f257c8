/** What quantised_cases.py writes of a repository, and an engine on that repository. */

import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { LoraConfig, Precision } from '../../src/core/config'
import type { Engine } from '../../src/core/engine'
import type { WeightSource } from '../../src/core/weights'
import type { ByteSource } from '../../src/hub/bytes'
import { readSafetensorsIndex } from '../../src/hub/safetensors-index'
import { SafetensorsSource } from '../../src/hub/safetensors-source'
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
  precision: Precision
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

export function precisionCase(repo: string, precision: Precision): PrecisionCase {
  const found = repoCases(repo).cases.find((example) => example.precision === precision)
  if (!found) throw new Error(`${repo} has no case for ${precision}: run \`npm run test:reference\`.`)
  return found
}

/** The folder that save_pretrained wrote, through the same reader as a repository on the Hub, without the network. */
export function savedRepo(repo: string): WeightSource {
  const folder = join(REFERENCE, 'hub', repo)
  const text = (file: string): string => readFileSync(join(folder, file), 'utf8')
  const bytes = (file: string): ByteSource => fileBytes(join(folder, file))
  const index = 'model.safetensors.index.json'
  return new SafetensorsSource({
    name: repo,
    config: () => Promise.resolve(JSON.parse(text('config.json')) as unknown),
    files: () =>
      Promise.resolve(
        existsSync(join(folder, index)) ? { index: readSafetensorsIndex(text(index)), open: bytes } : [bytes('model.safetensors')],
      ),
  })
}

function fileBytes(path: string): ByteSource {
  return {
    name: path,
    size: statSync(path).size,
    async *read(begin, end) {
      // createReadStream's end is inclusive.
      if (end > begin) yield* createReadStream(path, { start: begin, end: end - 1 }) as AsyncIterable<Uint8Array>
    },
  }
}

/** Two slots and room for the batch's long sequence. */
export function repoEngine(source: WeightSource, repo: string, lora: LoraConfig, precision: Precision): Promise<Engine> {
  return createEngine({ source, lora, precision, backend: 'wasm', threads: 1, slots: 2, contextLength: 320, modelName: repo })
}
