/** What quantised_cases.py writes of a repository, that repository on a local Hub, and an engine that loads it from there. */

import { join } from 'node:path'
import type { LoraConfig, Precision } from '../../src/core/config'
import type { Engine } from '../../src/core/engine'
import type { WeightSource } from '../../src/core/weights'
import { HubClient } from '../../src/hub/client'
import { ModelStore } from '../../src/hub/model-store'
import { openHubModel } from '../../src/hub/open-model'
import { createEngine } from '../../src/runtime/create'
import { folderFiles, startHub, type Hub } from '../hub/server'
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

/** All repositories on a local Hub, under 'reference/NAME'. */
export async function serveRepos(): Promise<Hub> {
  const owned = await Promise.all(
    repos.map(async (repo) => [`reference/${repo}`, { files: await folderFiles(join(REFERENCE, 'hub', repo)) }] as const),
  )
  return startHub({ repos: Object.fromEntries(owned) })
}

/** The weights of a served repository as the page gets them, downloaded anew at each call. */
export async function openRepo(hub: Hub, repo: string): Promise<WeightSource> {
  const client = new HubClient({ endpoint: hub.endpoint })
  const store = new ModelStore({ storage: null })
  return (await openHubModel({ client, repo: `reference/${repo}`, revision: 'main', store })).source
}

/** Two slots and room for the batch's long sequence. */
export function repoEngine(source: WeightSource, repo: string, lora: LoraConfig, precision: Precision): Promise<Engine> {
  return createEngine({ source, lora, precision, backend: 'wasm', threads: 1, slots: 2, contextLength: 320, modelName: repo })
}
