/** Opens a model of the Hub for the worker: its small files at once, its weights to be streamed, both from the store as far as they are there. */

import type { LoadProgress } from '../core/events'
import type { WeightSource } from '../core/weights'
import { readAll, type ByteSource } from './bytes'
import { CachedBytes } from './cached-bytes'
import type { HubClient, HubRepo, OpenOptions } from './client'
import { chooseFiles, parseJson, type SmallFile } from './model-files'
import type { ModelStore } from './model-store'
import type { OpenedModel } from './opened-model'
import { readSafetensorsIndex } from './safetensors-index'
import { HEAD_BYTES, SafetensorsSource, type PlannedRange } from './safetensors-source'
import { missingFile } from './sentences'
import { LoadMeter } from './speed'

export interface OpenHubModelOptions {
  client: Pick<HubClient, 'repo' | 'open'>
  /** 'owner/name'. */
  repo: string
  /** A branch, tag or commit. */
  revision: string
  store: ModelStore
  /** Ends every read, now and later, with PlaygroundError('stopped'); what has come is kept. */
  signal?: AbortSignal
  /** At most ten times a second, and when all is there. */
  onProgress?: (progress: LoadProgress) => void
  /** A sentence for the person: the model cannot be stored. At most once. */
  onNotice?: (sentence: string) => void
  /** The connection failed and is tried again. */
  onRetry?: OpenOptions['onRetry']
  /** Clock of the progress, ms. */
  now?: () => number
}

export interface HubModel {
  repo: string
  /** Commit. */
  sha: string
  source: WeightSource
  /** Texts. */
  files: {
    config: string
    generation_config: string | null
    tokenizer: string
    tokenizer_config: string
    chat_template: string | null
  }
  /** Everything was here: the Hub was not asked. */
  offline: boolean
  /** Gives the stored files back; call it when the source is not read any more. The source then fails or downloads. */
  close(): Promise<void>
}

const PROGRESS_MS = 100

/**
 * A model that is complete in the store is opened without a network, at the commit that `revision` meant when it was stored.
 * @throws PlaygroundError('model') when the repository is refused, holds no safetensors, or a file arrives damaged; 'stopped' on the signal
 */
export async function openHubModel(options: OpenHubModelOptions): Promise<HubModel> {
  const { client, repo: id, revision, store, signal } = options
  const stored = await store.find(id, revision)
  const repo = stored ?? (await client.repo(id, revision, { signal }))
  const chosen = chooseFiles(id, repo.files.map(({ path }) => path))
  const lease = await store.lease({ repo: id, sha: repo.sha }, options.onNotice ?? (() => {}))
  try {
    await lease.model.use(revision)
    const loading = new Loading(repo, lease.model, options)
    const texts = new Map<SmallFile, string>()
    for (const path of chosen.small) loading.expect(path)
    if (chosen.weights.kind === 'single') loading.expect(chosen.weights.path)
    for (const path of chosen.small) texts.set(path, await loading.text(path))
    const { weights } = chosen
    const source = new SafetensorsSource({
      config: async () => parseJson(texts.get('config.json') as string, `config.json of ${id}`),
      name: id,
      files: async () => {
        if (weights.kind === 'single') return [await loading.weights(weights.path)]
        const index = readSafetensorsIndex(await loading.text(weights.index), `${id}/${weights.index}`)
        for (const shard of index.shards.keys()) loading.expect(shard)
        return { index, open: (shard) => loading.weights(shard) }
      },
      onPlan: (ranges) => loading.plan(ranges),
      damagedAdvice: () => damagedAdvice(lease.model.storing),
    })
    return {
      repo: id,
      sha: repo.sha,
      source,
      files: {
        config: texts.get('config.json') as string,
        generation_config: texts.get('generation_config.json') ?? null,
        tokenizer: texts.get('tokenizer.json') as string,
        tokenizer_config: texts.get('tokenizer_config.json') as string,
        chat_template: texts.get('chat_template.jinja') ?? null,
      },
      offline: stored !== null,
      close: lease.release,
    }
  } catch (error) {
    await lease.release()
    throw error
  }
}

/** A stored file that is as damaged as it came would be read again and again. */
function damagedAdvice(stored: boolean): string {
  const again = stored ? 'Delete the model under “Stored in this browser” and load it again' : 'Load the model again'
  return `${again}; if this comes back, the file on the Hub itself is damaged: choose another revision.`
}

/** The files of one model on their way, counted. */
class Loading {
  private readonly meter: LoadMeter
  private readonly now: () => number
  private readonly opened = new Map<string, CachedBytes>()
  private told = -Infinity

  constructor(
    private readonly repo: HubRepo,
    private readonly model: OpenedModel,
    private readonly options: OpenHubModelOptions,
  ) {
    this.now = options.now ?? (() => performance.now())
    this.meter = new LoadMeter(this.now)
  }

  /** Until the plan is known a file counts as a whole. */
  expect(path: string): void {
    const size = this.repo.files.find((file) => file.path === path)?.size
    if (size !== undefined && !this.opened.has(path)) this.meter.expect(path, size)
  }

  async text(path: string): Promise<string> {
    const file = await this.open(path)
    await this.model.need([{ path, begin: 0, end: file.size }])
    return new TextDecoder().decode(await readAll(file))
  }

  async weights(path: string): Promise<ByteSource> {
    const file = await this.open(path)
    await this.model.need([{ path, begin: 0, end: Math.min(HEAD_BYTES, file.size) }])
    return file
  }

  async plan(ranges: readonly PlannedRange[]): Promise<void> {
    const planned: { path: string; begin: number; end: number }[] = []
    for (const [path, file] of this.opened) {
      const own = ranges.filter((range) => range.file === file)
      this.meter.expect(path, own.reduce((sum, { begin, end }) => sum + end - begin, 0))
      planned.push(...own.map(({ begin, end }) => ({ path, begin, end })))
    }
    await this.model.need(planned, true)
  }

  private async open(path: string): Promise<CachedBytes> {
    const known = this.opened.get(path)
    if (known) return known
    const { client, signal, onRetry } = this.options
    const spec = this.repo.files.find((file) => file.path === path)
    if (!spec) throw missingFile(this.repo.repo, this.repo.revision, path)
    const file = new CachedBytes(await this.model.file(spec), () => client.open(this.repo, path, { signal, onRetry }), {
      signal,
      onBytes: (bytes, fromDisk) => this.count(path, bytes, fromDisk),
    })
    this.opened.set(path, file)
    return file
  }

  private count(path: string, bytes: number, fromDisk: boolean): void {
    this.meter.read(path, bytes, fromDisk)
    const progress = this.meter.progress(path)
    const now = this.now()
    const finished = progress.overall?.done === progress.overall?.total
    if (now - this.told < PROGRESS_MS && !finished) return
    this.told = now
    this.options.onProgress?.(progress)
  }
}
