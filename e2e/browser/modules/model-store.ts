/** Loads, lists, damages and deletes stored models inside a worker of the harness page, on the browser's own file system. */

import { PlaygroundError } from '../../../src/core/errors'
import { HubClient } from '../../../src/hub/client'
import { browserModelStore, type ModelStore, type StoredModel } from '../../../src/hub/model-store'
import { openHubModel, type HubModel } from '../../../src/hub/open-model'
import { opfsStorage } from '../../../src/hub/opfs-storage'

export interface LoadRequest {
  endpoint: string
  repo: string
  wanted: string[]
  /** Keep the model in use after the load. */
  keep?: boolean
  /** Failures in a row that end it; 1. */
  maxTries?: number
}

export interface LoadResult {
  /** What a person would read; '' when all went well. */
  error: string
  offline: boolean
  /** checksum of each wanted tensor. */
  tensors: Record<string, number>
  config: unknown
  notices: string[]
  /** The last progress: bytes in all, and whether the last of them came from the disk. */
  done: number
  total: number
  fromDisk: boolean
  seconds: number
}

/** FNV-1a over the bits of float32 values, to go on from `hash`. */
export function checksum(values: Float32Array, hash = 0x811c9dc5): number {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length)
  for (const word of bits) hash = Math.imul(hash ^ word, 0x01000193) >>> 0
  return hash
}

let store: Promise<ModelStore> | null = null
let kept: HubModel | null = null
const models = (): Promise<ModelStore> => (store ??= browserModelStore())

export async function load({ endpoint, repo, wanted, keep, maxTries = 1 }: LoadRequest): Promise<LoadResult> {
  const result: LoadResult = { error: '', offline: false, tensors: {}, config: null, notices: [], done: 0, total: 0, fromDisk: false, seconds: 0 }
  const start = performance.now()
  try {
    const model = await openHubModel({
      client: new HubClient({ endpoint, maxTries }),
      repo,
      revision: 'main',
      store: await models(),
      onNotice: (sentence) => result.notices.push(sentence),
      onProgress: ({ overall }) => {
        if (overall) Object.assign(result, { done: overall.done, total: overall.total, fromDisk: overall.fromDisk })
      },
    })
    try {
      result.offline = model.offline
      result.config = await model.source.config()
      for await (const { name, data } of model.source.pieces(wanted)) result.tensors[name] = checksum(data, result.tensors[name])
    } finally {
      if (keep) kept = model
      else await model.close()
    }
  } catch (error) {
    result.error = error instanceof PlaygroundError ? `${error.message} ${error.advice}` : String(error)
  }
  result.seconds = (performance.now() - start) / 1000
  return result
}

export async function list(): Promise<{ models: StoredModel[]; estimate: { usage: number; quota: number } | null }> {
  const all = await models()
  return { models: await all.list(), estimate: await all.estimate() }
}

/** The stored ranges of a model: name → bytes. */
export async function parts(key: string): Promise<Record<string, number>> {
  const found = (await (await opfsStorage())?.list(`models/${encodeURIComponent(key)}`)) ?? []
  return Object.fromEntries(found.map(({ name, bytes }) => [name, bytes]))
}

/** Deletes a model; gives back what a person would read, '' when it is gone. */
export async function remove(key: string): Promise<string> {
  return (await models()).delete(key).then(
    () => '',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
}

/** Ends the use that a load with `keep` began. */
export async function release(): Promise<void> {
  await kept?.close()
  kept = null
}

/** Turns a bit of a stored range over. */
export async function damage({ key, part, at }: { key: string; part: string; at: number }): Promise<void> {
  const handle = await (await opfsStorage())!.open(`models/${encodeURIComponent(key)}/${part}`)
  const byte = new Uint8Array(1)
  handle.read(byte, at)
  handle.write(Uint8Array.of((byte[0] as number) ^ 0x10), at)
  handle.close()
}
