/** A model of the store while it is in use: its files, its manifest, and what happens when the disk refuses. */

import { troubleOf, writeAll, type FileStorage, type StorageHandle, type StorageTrouble } from './file-storage'
import { extentsIn, joinRanges, MANIFEST_SLOTS, readModelFolder, type FileRecord, type Manifest } from './manifest'
import { StoredFile, type FileRoom, type FileSpec } from './stored-file'

/** Which model, at which commit. */
export interface ModelId {
  repo: string
  /** Commit. */
  sha: string
}

/** What a person is told when a model cannot be stored. */
const SENTENCES: Record<StorageTrouble, (repo: string) => string> = {
  full: (repo) =>
    `The browser's storage is full: ${repo} is used without being stored any further and the rest must be downloaded again next time. ` +
    'Delete stored models or free disk space to keep it.',
  locked: (repo) => `Another tab uses the stored files of ${repo}: this tab downloads it without storing it. Close the other tab and load again to use one copy.`,
  failed: (repo) => `The browser gives this page no file storage: ${repo} is downloaded without being stored, and again at each load.`,
}

export class OpenedModel implements FileRoom {
  private readonly files = new Map<string, { stored: Promise<StoredFile>; record: FileRecord; opened: StoredFile | null }>()
  private readonly listeners = new Set<(sentence: string) => void>()
  private notice: string | null = null
  private manifest: Manifest
  private entries: { name: string; bytes: number }[] = []
  private saving: Promise<void> = Promise.resolve()
  private givenUp = false

  /** @param storage null where there is none: nothing is stored, and `trouble` says why */
  constructor(
    readonly id: ModelId,
    private readonly folder: string,
    private readonly storage: FileStorage | null,
    private readonly now: () => number,
    trouble: StorageTrouble = 'failed',
  ) {
    this.manifest = { version: 1, seq: 0, ...id, names: {}, lastUsed: now(), planned: false, files: [] }
    if (storage === null) this.stop(trouble)
  }

  get storing(): boolean {
    return !this.givenUp
  }

  /** Reads what is known of the model, and from now on answers for it. */
  async load(): Promise<void> {
    if (this.storage === null) return
    try {
      const { manifest, entries } = await readModelFolder(this.storage, this.folder)
      this.manifest = manifest ?? this.manifest
      this.entries = entries
    } catch (error) {
      this.giveUp(error)
    }
  }

  /** Hears why the model is not stored, once, at once where it is known already. */
  addListener(listener: (sentence: string) => void): () => void {
    this.listeners.add(listener)
    if (this.notice !== null) listener(this.notice)
    return () => this.listeners.delete(listener)
  }

  /** Notes that this commit was asked for, by what name, and that it is used now. */
  async use(name: string): Promise<void> {
    this.manifest.lastUsed = this.now()
    this.manifest.names[name] = this.now()
    await this.save()
  }

  /** A file of the model. Asked twice, the same. */
  file(spec: FileSpec): Promise<StoredFile> {
    const known = this.files.get(spec.path)
    if (known) return known.stored
    const old = this.manifest.files.find(({ path, size }) => path === spec.path && size === spec.size)
    const record: FileRecord = { path: spec.path, size: spec.size, sha256: spec.sha256, needed: old?.needed ?? [], extents: old?.extents ?? [] }
    const entry = { record, opened: null as StoredFile | null, stored: this.openFile(spec, record) }
    this.files.set(spec.path, entry)
    void entry.stored.then((file) => {
      entry.opened = file
    })
    return entry.stored
  }

  /** Adds to the bytes that loading the model reads. `planned`: with these the weights are known. */
  async need(ranges: readonly { path: string; begin: number; end: number }[], planned = false): Promise<void> {
    for (const { path, begin, end } of ranges) {
      const file = this.files.get(path)
      if (file) file.record.needed = joinRanges([...file.record.needed, [begin, end]])
    }
    this.manifest.planned ||= planned
    await this.save()
  }

  async open(name: string): Promise<StorageHandle> {
    if (this.storage === null) throw new Error('no storage')
    return this.storage.open(`${this.folder}/${name}`)
  }

  async remove(name: string): Promise<void> {
    await this.storage?.remove(`${this.folder}/${name}`)
  }

  giveUp(cause: unknown): void {
    if (!this.givenUp) this.stop(troubleOf(cause))
  }

  /** One after the other; the last state wins. */
  save(): Promise<void> {
    this.saving = this.saving.then(() => this.write())
    return this.saving
  }

  /** Ends storing without a word and lets go of the files: the model is about to be deleted. */
  async abandon(): Promise<void> {
    this.givenUp = true
    await this.saving
    await this.closeFiles()
  }

  async close(): Promise<void> {
    for (const { opened } of this.files.values()) opened?.checkpoint()
    await this.save()
    // Whoever still reads must not store: the files may be another tab's by now.
    this.givenUp = true
    await this.closeFiles()
  }

  private async closeFiles(): Promise<void> {
    for (const { stored } of this.files.values()) (await stored).close()
    this.files.clear()
  }

  private stop(trouble: StorageTrouble): void {
    this.givenUp = true
    this.notice = SENTENCES[trouble](this.id.repo)
    for (const listener of this.listeners) listener(this.notice)
  }

  private async openFile(spec: FileSpec, record: FileRecord): Promise<StoredFile> {
    const file = new StoredFile(this, spec)
    if (!this.storing) return file
    try {
      await file.open(extentsIn(this.entries, spec.path, spec.size), record.extents)
    } catch (error) {
      this.giveUp(error)
    }
    return file
  }

  private async write(): Promise<void> {
    if (!this.storing) return
    const { manifest } = this
    manifest.seq++
    for (const { opened, record } of this.files.values()) if (opened) record.extents = opened.records
    // Files that this session has not opened yet keep what is known of them.
    const others = manifest.files.filter(({ path }) => !this.files.has(path))
    manifest.files = [...others, ...[...this.files.values()].map(({ record }) => record)]
    const bytes = new TextEncoder().encode(JSON.stringify(manifest))
    try {
      const handle = await this.open(MANIFEST_SLOTS[manifest.seq % 2] as string)
      try {
        handle.truncate(0)
        writeAll(handle, bytes, 0)
        handle.flush()
      } finally {
        handle.close()
      }
    } catch (error) {
      this.giveUp(error)
    }
  }
}
