/** A disk in memory, with a limit, exclusive handles and bits that a test may turn. */

import type { FileStorage, StorageHandle } from '../file-storage'

class Named extends Error {
  constructor(override readonly name: string) {
    super(`memory storage: ${name}`)
  }
}

export class MemoryStorage implements FileStorage {
  readonly files = new Map<string, Uint8Array>()
  private readonly open_ = new Set<string>()
  /** Bytes of all files; more is refused. */
  quota = Infinity
  /** Everything throws from here on: a browser that took its storage back. */
  broken = false

  /** Paths of the files that are open. */
  get openPaths(): string[] {
    return [...this.open_]
  }

  /** Bytes of all files. */
  get used(): number {
    return [...this.files.values()].reduce((sum, { length }) => sum + length, 0)
  }

  /** What a killed worker leaves: files as they are, no handle open. */
  kill(): MemoryStorage {
    const after = new MemoryStorage()
    for (const [path, bytes] of this.files) after.files.set(path, bytes.slice())
    return after
  }

  /** The one file whose path holds `part`. */
  path(part: string): string {
    const [found, ...more] = [...this.files.keys()].filter((path) => path.includes(part))
    if (found === undefined || more.length) throw new Error(`${found === undefined ? 'no file' : 'several files'} for ${part}: ${[...this.files.keys()].join(' ')}`)
    return found
  }

  async open(path: string): Promise<StorageHandle> {
    await Promise.resolve()
    this.check()
    if (this.open_.has(path)) throw new Named('NoModificationAllowedError')
    if (!this.files.has(path)) this.files.set(path, new Uint8Array(0))
    this.open_.add(path)
    let closed = false
    const bytes = () => {
      this.check()
      if (closed) throw new Named('InvalidStateError')
      return this.files.get(path) ?? new Uint8Array(0)
    }
    return {
      read: (out, at) => {
        const part = bytes().subarray(at, at + out.length)
        out.set(part)
        return part.length
      },
      write: (chunk, at) => {
        const old = bytes()
        const longer = Math.max(0, at + chunk.length - old.length)
        if (this.used + longer > this.quota) {
          // What a disk may leave of a write that failed: length without the bytes.
          const next = new Uint8Array(old.length + this.quota - this.used)
          next.set(old)
          this.files.set(path, next)
          throw new Named('QuotaExceededError')
        }
        const next = new Uint8Array(old.length + longer)
        next.set(old)
        next.set(chunk, at)
        this.files.set(path, next)
        return chunk.length
      },
      truncate: (length) => void this.files.set(path, bytes().slice(0, length)),
      getSize: () => bytes().length,
      flush: () => void bytes(),
      close: () => {
        closed = true
        this.open_.delete(path)
      },
    }
  }

  async readFile(path: string): Promise<Uint8Array | null> {
    this.check()
    return this.files.get(path)?.slice() ?? null
  }

  async remove(path: string): Promise<void> {
    this.check()
    const inside = [...this.files.keys()].filter((each) => each === path || each.startsWith(`${path}/`))
    if (inside.some((each) => this.open_.has(each))) throw new Named('NoModificationAllowedError')
    for (const each of inside) this.files.delete(each)
  }

  async list(path: string): Promise<{ name: string; bytes: number; folder: boolean }[]> {
    this.check()
    const found = new Map<string, { name: string; bytes: number; folder: boolean }>()
    for (const [each, { length }] of this.files) {
      if (!each.startsWith(`${path}/`)) continue
      const [name, ...rest] = each.slice(path.length + 1).split('/') as [string, ...string[]]
      found.set(name, { name, bytes: rest.length ? 0 : length, folder: rest.length > 0 })
    }
    return [...found.values()]
  }

  private check(): void {
    if (this.broken) throw new Named('UnknownError')
  }
}
