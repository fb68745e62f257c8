/**
 * The models that this browser keeps: raw ranges of their files and a manifest each, in one folder a model. For the worker, which
 * alone has synchronous file handles; asking the browser to keep them (navigator.storage.persist()) is the page's to do.
 */

import { describeError, PlaygroundError } from '../core/errors'
import type { HubRepo } from './client'
import { troubleOf, type FileStorage, type StorageTrouble } from './file-storage'
import { isComplete, readModelFolder, type ModelFolder } from './manifest'
import { OpenedModel, type ModelId } from './opened-model'
import { opfsStorage } from './opfs-storage'

/** A model in this browser's storage. */
export interface StoredModel {
  /** For `delete`. */
  key: string
  model: string
  /** Commit. */
  revision: string
  bytes: number
  /** All that loading it reads is here. */
  complete: boolean
}

export interface ModelStoreOptions {
  /** Null: nothing can be stored. */
  storage: FileStorage | null
  /** Null where the browser has none: then only the file handles keep two tabs apart. */
  locks?: Pick<LockManager, 'request'> | null
  /** How long to wait for another tab's lock, ms: a page that is being reloaded lets go of it soon. */
  patience?: number
  /** Bytes used and allowed; null where the browser does not say. */
  estimate?: () => Promise<{ usage: number; quota: number } | null>
  now?: () => number
}

/** A model that is in use: give it back with `release`. */
export interface Lease {
  model: OpenedModel
  release(): Promise<void>
}

const ROOT = 'models'
const folderOf = (key: string): string => `${ROOT}/${encodeURIComponent(key)}`
const keyOf = ({ repo, sha }: ModelId): string => `${repo}@${sha}`

export class ModelStore {
  private readonly open_ = new Map<string, { users: number; ready: Promise<{ model: OpenedModel; unlock: () => void }> }>()
  private readonly locks: Pick<LockManager, 'request'> | null
  private readonly now: () => number

  constructor(private readonly options: ModelStoreOptions) {
    this.locks = options.locks ?? null
    this.now = options.now ?? Date.now
  }

  /**
   * Takes a model into use; one tab at a time has its files. Never fails: where storing is impossible the model is not stored.
   * @param onNotice hears a sentence when the model cannot be stored, once
   */
  async lease(id: ModelId, onNotice: (sentence: string) => void): Promise<Lease> {
    const key = keyOf(id)
    const entry = this.open_.get(key) ?? { users: 0, ready: this.start(id, key) }
    this.open_.set(key, entry)
    entry.users++
    const { model, unlock } = await entry.ready
    const forget = model.addListener(onNotice)
    let released = false
    const release = async () => {
      if (released) return
      released = true
      forget()
      if (--entry.users > 0) return
      if (this.open_.get(key) === entry) this.open_.delete(key)
      await model.close()
      unlock()
    }
    return { model, release }
  }

  /** A model that can be loaded without a network, as the Hub would describe it; `revision` is a commit or a name such as 'main'. */
  async find(repo: string, revision: string): Promise<HubRepo | null> {
    const found = (await this.manifests()).flatMap(({ manifest, entries }) => {
      if (!manifest || manifest.repo !== repo) return []
      const named = manifest.sha === revision ? Infinity : Object.hasOwn(manifest.names, revision) ? manifest.names[revision] : undefined
      return named !== undefined && isComplete(manifest, entries) ? [{ manifest, named }] : []
    })
    const newest = found.sort((a, b) => b.named - a.named)[0]?.manifest
    if (!newest) return null
    const files = newest.files.map(({ path, size, sha256 }) => ({ path, size, sha256 }))
    // Whoever may read it was asked when it was downloaded.
    return { repo, revision, sha: newest.sha, private: false, gated: false, files }
  }

  /** All models here, the last used first. [] where there is no storage. */
  async list(): Promise<StoredModel[]> {
    const models = await this.manifests()
    models.sort((a, b) => (b.manifest?.lastUsed ?? 0) - (a.manifest?.lastUsed ?? 0))
    return models.map(({ key, manifest, entries }) => {
      const at = key.lastIndexOf('@')
      const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
      return { key, model: key.slice(0, at), revision: key.slice(at + 1), bytes, complete: manifest !== null && isComplete(manifest, entries) }
    })
  }

  /**
   * Deletes a model, in use or not: what uses it goes on from the network.
   * @throws PlaygroundError('model') while another tab uses it, or when the browser refuses
   */
  async delete(key: string): Promise<void> {
    const { storage } = this.options
    if (storage === null) return
    const name = key.slice(0, key.lastIndexOf('@'))
    const refuse = (cause?: unknown): never => {
      if (cause === undefined || troubleOf(cause) === 'locked') {
        throw new PlaygroundError('model', `${name} cannot be deleted: another tab uses it.`, 'Close the other tab and delete it again.', { cause })
      }
      throw new PlaygroundError('model', `The browser did not delete ${name} (${describeError(cause)}).`, "Delete this site's data in the browser's settings.", { cause })
    }
    const here = await this.open_.get(key)?.ready
    const unlock = here?.unlock ?? (await this.lock(key)) ?? refuse()
    try {
      this.open_.delete(key)
      await here?.model.abandon()
      await storage.remove(folderOf(key))
    } catch (cause) {
      refuse(cause)
    } finally {
      unlock()
    }
  }

  /** Bytes used and allowed by the browser; null where it does not say. */
  async estimate(): Promise<{ usage: number; quota: number } | null> {
    return (await this.options.estimate?.().catch(() => null)) ?? null
  }

  private async start(id: ModelId, key: string): Promise<{ model: OpenedModel; unlock: () => void }> {
    const { storage } = this.options
    const unlock = storage === null ? () => {} : await this.lock(key)
    const trouble: StorageTrouble = unlock === null ? 'locked' : 'failed'
    const model = new OpenedModel(id, folderOf(key), unlock === null ? null : storage, this.now, trouble)
    await model.load()
    return { model, unlock: unlock ?? (() => {}) }
  }

  /** Gives back how to unlock; null when another tab has the lock for longer than our patience. */
  private lock(key: string): Promise<(() => void) | null> {
    const { locks } = this
    if (locks === null) return Promise.resolve(() => {})
    return new Promise((resolve) => {
      const held = (): Promise<void> => new Promise((release) => resolve(release))
      locks.request(`grpo-playground model ${key}`, { signal: AbortSignal.timeout(this.options.patience ?? 2000) }, held).catch(() => resolve(null))
    })
  }

  private async manifests(): Promise<(ModelFolder & { key: string })[]> {
    const { storage } = this.options
    if (storage === null) return []
    try {
      const folders = (await storage.list(ROOT)).filter(({ folder }) => folder)
      return await Promise.all(
        folders.map(async ({ name }) => {
          return { key: decodeURIComponent(name), ...(await readModelFolder(storage, `${ROOT}/${name}`)) }
        }),
      )
    } catch {
      // A storage that cannot be listed holds nothing that could be used.
      return []
    }
  }
}

/** The store of this browser; call it in the worker. */
export async function browserModelStore(): Promise<ModelStore> {
  const estimate = async () => {
    const { usage, quota } = await navigator.storage.estimate()
    return usage === undefined || quota === undefined ? null : { usage, quota }
  }
  // Without a secure context both are undefined.
  const locks = (navigator.locks as LockManager | undefined) ?? null
  return new ModelStore({ storage: await opfsStorage(), locks, estimate })
}
