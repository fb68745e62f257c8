/** One file of a model in the store: the ranges of it that are here, each its own file that grows as bytes come, and their checksums. */

import { PlaygroundError } from '../core/errors'
import { writeAll, type StorageHandle } from './file-storage'
import { RunningSha256 } from './hashing'
import { covers, extentName, type ExtentRecord } from './manifest'

/** The model that the file belongs to. */
export interface FileRoom {
  readonly id: { repo: string }
  /** False once storing was given up. */
  readonly storing: boolean
  open(name: string): Promise<StorageHandle>
  remove(name: string): Promise<void>
  /** Ends storing for this model and tells the person why, once. */
  giveUp(cause: unknown): void
  /** Writes the manifest. */
  save(): Promise<void>
}

export interface FileSpec {
  path: string
  size: number
  /** The Hub's checksum of the whole file. */
  sha256: string | null
}

interface Extent {
  begin: number
  length: number
  handle: StorageHandle
  /** Null for the range from byte 0: the whole file's hash serves it. */
  hash: RunningSha256 | null
  record: ExtentRecord | null
}

/** Longest chunk that is read from the disk. */
const CHUNK = 1024 * 1024
/** So often what was written is made safe and its checksum noted. */
const CHECKPOINT_BYTES = 64 * 1024 * 1024

/** Takes the bytes that follow a stored range. Release it, whatever happens. */
export interface Appender {
  /** False: this and all that follows is not stored. */
  append(bytes: Uint8Array): boolean
  release(): Promise<void>
}

export class StoredFile {
  private extents: Extent[] = []
  /** Of the file from byte 0, as far as its bytes came by in order in this session. */
  private whole: RunningSha256 | null = null
  private appending = false

  constructor(
    private readonly room: FileRoom,
    readonly spec: FileSpec,
  ) {}

  /** Opens the ranges that are here. A range shorter than its checksum says has lost bytes and is deleted. */
  async open(found: readonly { begin: number; bytes: number }[], records: readonly ExtentRecord[]): Promise<void> {
    for (const { begin, bytes } of found) {
      const name = extentName(this.spec.path, begin)
      const record = records.find((each) => each.begin === begin) ?? null
      if (record !== null && record.bytes > bytes) {
        await this.room.remove(name)
        continue
      }
      const handle = await this.room.open(name)
      this.extents.push({ begin, length: handle.getSize(), handle, hash: null, record })
    }
  }

  /** For people. */
  get name(): string {
    return `${this.room.id.repo}/${this.spec.path}`
  }

  get ranges(): { begin: number; bytes: number }[] {
    return this.extents.map(({ begin, length }) => ({ begin, bytes: length }))
  }

  get records(): ExtentRecord[] {
    return this.extents.flatMap(({ record }) => (record ? [record] : []))
  }

  covers(begin: number, end: number): boolean {
    return covers(this.ranges, begin, end)
  }

  /** Where the stored bytes after `at` begin; the file's end where there are none. */
  nextStored(at: number): number {
    return this.extents.find(({ begin }) => begin > at)?.begin ?? this.spec.size
  }

  /** Some stored bytes from `at`, not beyond `end`; null where none are stored or the disk does not give them. */
  read(at: number, end: number): Uint8Array | null {
    const extent = this.at(at)
    if (!extent) return null
    const out = new Uint8Array(Math.min(end, extent.begin + extent.length, at + CHUNK) - at)
    try {
      if (extent.handle.read(out, at - extent.begin) === out.length) return out
      throw new Error(`${extentName(this.spec.path, extent.begin)} is shorter than it was`)
    } catch (error) {
      this.room.giveUp(error)
      this.close()
      return null
    }
  }

  /**
   * Hashes bytes on their way to the reader, where they follow what was hashed before.
   * @throws PlaygroundError('model') when they are not what was stored, or the file is not what the Hub says; the stored bytes are deleted
   */
  async check(at: number, bytes: Uint8Array): Promise<void> {
    this.whole ??= await RunningSha256.create()
    const extent = this.at(at)
    await this.hash(this.whole, 0, extent?.begin === 0 ? extent : null, at, bytes)
    if (extent && extent.begin > 0) {
      extent.hash ??= await RunningSha256.create()
      await this.hash(extent.hash, extent.begin, extent, at, bytes)
    }
    const { size, sha256 } = this.spec
    if (sha256 === null || this.whole.length !== size || at + bytes.length !== size) return
    const digest = this.whole.digest()
    if (digest === sha256.toLowerCase()) return
    await this.drop(this.extents)
    throw new PlaygroundError(
      'model',
      `The download of ${this.name} was damaged or tampered with: its SHA-256 begins with ${digest.slice(0, 12)}, the Hub says ${sha256.slice(0, 12)}.`,
      'It was deleted: load the model again.',
    )
  }

  /** The right to store what follows at `at`; null while another reader has it, and when storing was given up. */
  async appender(at: number): Promise<Appender | null> {
    if (!this.room.storing || this.appending || this.at(at)) return null
    this.appending = true
    try {
      const extent = this.extents.find(({ begin, length }) => begin + length === at) ?? (await this.begin(at))
      return this.append(extent)
    } catch (error) {
      this.appending = false
      this.room.giveUp(error)
      return null
    }
  }

  /** Notes the checksums of ranges that were hashed to their end. */
  checkpoint(): void {
    for (const extent of this.extents) {
      const hash = extent.begin === 0 ? this.whole : extent.hash
      if (hash?.length !== extent.length || extent.record?.bytes === extent.length) continue
      extent.record = { begin: extent.begin, bytes: extent.length, sha256: hash.digest() }
    }
  }

  /** Lets go of the files; reads then find nothing stored. */
  close(): void {
    for (const { handle } of this.extents) handle.close()
    this.extents = []
  }

  private at(at: number): Extent | undefined {
    return this.extents.find(({ begin, length }) => begin <= at && at < begin + length)
  }

  private async begin(at: number): Promise<Extent> {
    const handle = await this.room.open(extentName(this.spec.path, at))
    const extent: Extent = { begin: at, length: 0, handle, hash: null, record: null }
    this.extents.push(extent)
    this.extents.sort((a, b) => a.begin - b.begin)
    handle.truncate(0)
    return extent
  }

  private append(extent: Extent): Appender {
    let unsafe = 0
    let failed = false
    const write = (bytes: Uint8Array): boolean => {
      if (!this.room.storing || failed) return false
      try {
        // Before the write: all that is stored has been hashed by now.
        if (unsafe >= CHECKPOINT_BYTES) {
          unsafe = 0
          extent.handle.flush()
          this.checkpoint()
          void this.room.save()
        }
        writeAll(extent.handle, bytes, extent.length)
        extent.length += bytes.length
        unsafe += bytes.length
        return true
      } catch (error) {
        failed = true
        // Half a chunk at the end would be taken for good bytes after a reload.
        attempt(() => extent.handle.truncate(extent.length))
        this.room.giveUp(error)
        return false
      }
    }
    const release = async (): Promise<void> => {
      this.appending = false
      if (!this.extents.includes(extent)) return
      if (extent.length === 0) return this.drop([extent])
      attempt(() => extent.handle.flush())
      this.checkpoint()
      await this.room.save()
    }
    return { append: write, release }
  }

  private async hash(running: RunningSha256, base: number, extent: Extent | null, at: number, bytes: Uint8Array): Promise<void> {
    let from = base + running.length - at
    if (from < 0 || from >= bytes.length) return
    const mark = extent?.record ? base + extent.record.bytes - at : 0
    if (extent?.record && from < mark && mark <= bytes.length) {
      running.update(bytes.subarray(from, mark))
      from = mark
      if (running.digest() !== extent.record.sha256) {
        const { begin, length } = extent
        await this.drop([extent])
        throw new PlaygroundError(
          'model',
          `What was stored of ${this.name} (bytes ${begin} to ${begin + length}) does not match its checksum any more.`,
          'It was deleted: load the model again to download it anew.',
        )
      }
    }
    running.update(bytes.subarray(from))
  }

  private async drop(extents: readonly Extent[]): Promise<void> {
    this.extents = this.extents.filter((extent) => !extents.includes(extent))
    // What was hashed included them.
    this.whole = null
    for (const { begin, handle } of extents) {
      attempt(() => handle.close())
      await this.room.remove(extentName(this.spec.path, begin)).catch((error: unknown) => this.room.giveUp(error))
    }
    await this.room.save()
  }
}

function attempt(action: () => void): void {
  try {
    action()
  } catch {
    // A disk that is gone was told of already.
  }
}
