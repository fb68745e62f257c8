/** The browser's private file system as a FileStorage. For a dedicated worker: synchronous handles exist nowhere else, and Safari has no others. */

import { troubleOf, type FileStorage, type StorageHandle } from './file-storage'

/** Of a page that has just been reloaded the old worker may hold its files for a moment. */
const TRIES = 8
const TRY_MS = 150

const missing = (error: unknown): boolean => error instanceof DOMException && error.name === 'NotFoundError'

/** Bytes that were written. Chromium may give its error as an unsigned number (4294967288 is −8, no space) instead of throwing. */
const written = (answer: number, asked: number): number => (answer > asked ? 0 : answer)

class OpfsStorage implements FileStorage {
  constructor(private readonly root: FileSystemDirectoryHandle) {}

  async open(path: string): Promise<StorageHandle> {
    const { folder, name } = await this.find(path, true)
    const file = await folder.getFileHandle(name, { create: true })
    for (let attempt = 1; ; attempt++) {
      try {
        const handle = await file.createSyncAccessHandle()
        return {
          read: (out, at) => handle.read(out, { at }),
          write: (bytes, at) => written(handle.write(bytes, { at }), bytes.length),
          truncate: (bytes) => handle.truncate(bytes),
          getSize: () => handle.getSize(),
          flush: () => handle.flush(),
          close: () => handle.close(),
        }
      } catch (error) {
        if (troubleOf(error) !== 'locked' || attempt === TRIES) throw error
        await new Promise((resolve) => setTimeout(resolve, TRY_MS))
      }
    }
  }

  async readFile(path: string): Promise<Uint8Array | null> {
    try {
      const { folder, name } = await this.find(path, false)
      return new Uint8Array(await (await (await folder.getFileHandle(name)).getFile()).arrayBuffer())
    } catch (error) {
      if (missing(error)) return null
      throw error
    }
  }

  async remove(path: string): Promise<void> {
    try {
      const { folder, name } = await this.find(path, false)
      await folder.removeEntry(name, { recursive: true })
    } catch (error) {
      if (!missing(error)) throw error
    }
  }

  async list(path: string): Promise<{ name: string; bytes: number; folder: boolean }[]> {
    try {
      const { folder, name } = await this.find(path, false)
      const found: { name: string; bytes: number; folder: boolean }[] = []
      for await (const [entry, handle] of (await folder.getDirectoryHandle(name)).entries()) {
        if (handle.kind === 'directory') found.push({ name: entry, bytes: 0, folder: true })
        else found.push({ name: entry, bytes: (await (handle).getFile()).size, folder: false })
      }
      return found
    } catch (error) {
      if (missing(error)) return []
      throw error
    }
  }

  /** The folder that a path's last name stands in. */
  private async find(path: string, create: boolean): Promise<{ folder: FileSystemDirectoryHandle; name: string }> {
    const names = path.split('/')
    const name = names.pop() as string
    let folder = this.root
    for (const each of names) folder = await folder.getDirectoryHandle(each, { create })
    return { folder, name }
  }
}

/** The storage of this site, or null where the browser has none or refuses it (a private window, an old browser, a page instead of a worker). */
export async function opfsStorage(): Promise<FileStorage | null> {
  try {
    if (typeof FileSystemFileHandle === 'undefined' || !('createSyncAccessHandle' in FileSystemFileHandle.prototype)) return null
    return new OpfsStorage(await navigator.storage.getDirectory())
  } catch {
    return null
  }
}
