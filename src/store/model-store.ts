/** What the page knows of models: the answer to "what would it take", what is stored, whether a token is set. Never the token. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import type { LoraConfig, RunConfig } from '../core/config'
import type { EngineReport } from '../core/events'
import type { Message, StoredModel } from '../worker/protocol'

export type InspectionResult = Extract<Message, { type: 'inspection' }>['result']

/** The last question about a model and its answer, which stays while a changed setting is asked about again. */
export interface InspectionView {
  /** What it is about: see `subjectOf`. */
  subject: string
  requestId: number
  pending: boolean
  result: InspectionResult | null
}

export interface ModelView {
  inspection: InspectionView | null
  /** The worker holds a Hub token. */
  hasToken: boolean
  /** null until it was asked for. */
  stored: { models: readonly StoredModel[]; storage: { usage: number; quota: number } | null } | null
  /** The browser promised to keep the files; null = not asked, or it does not say. */
  persisted: boolean | null
  /** The failed self-test that a person trains in spite of: see `testKey`. */
  trusted: string | null
  /** Adapters given as files, by their names. */
  givenAdapters: Readonly<Record<string, { lora: LoraConfig; base: string | null }>>
  /** The last config that was loaded to the end; Cancel goes back to it. */
  lastLoaded: RunConfig | null
}

export type ModelStore = StoreApi<ModelView>

export function createModelStore(): ModelStore {
  return createStore<ModelView>(() => ({
    inspection: null,
    hasToken: false,
    stored: null,
    persisted: null,
    trusted: null,
    givenAdapters: {},
    lastLoaded: null,
  }))
}

/** Model, revision and adapter: what a person agreed to look up on the Hub. */
export function subjectOf({ model, model_revision, adapter }: RunConfig): string {
  return JSON.stringify([model, model_revision, adapter])
}

/** The inspection, if it is about the model of this config. */
export function inspectionOf(view: ModelView, config: RunConfig): InspectionView | null {
  return view.inspection?.subject === subjectOf(config) ? view.inspection : null
}

/** The view once a stored model was told to go: until the worker has looked again, all of it counts as still to download. */
export function withoutStored(view: ModelView, { model, revision }: Pick<StoredModel, 'model' | 'revision'>): Pick<ModelView, 'inspection'> {
  const { inspection } = view
  if (!inspection?.result?.ok) return { inspection }
  const known = inspection.result.inspection
  if (known.model !== model || known.revision !== revision) return { inspection }
  const gone = { ...known, downloadBytes: known.downloadBytes + known.storedBytes, storedBytes: 0 }
  return { inspection: { ...inspection, result: { ok: true, inspection: gone } } }
}

/** Names a failed self-test: the GPU adapter and the model it was seen with; null when there is none. */
export function testKey(engine: EngineReport | null): string | null {
  return engine?.selfTest && !engine.selfTest.ok ? `${engine.selfTest.adapter} ${engine.info.model}` : null
}

/** The self-test failed and nobody said to train anyway. */
export function isDistrusted(engine: EngineReport | null, { trusted }: Pick<ModelView, 'trusted'>): boolean {
  const key = testKey(engine)
  return key !== null && key !== trusted
}
