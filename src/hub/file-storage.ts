/** What the store of models needs of a disk: a few synchronous files in folders. The browser's OPFS, or memory in tests. */

/** An open file; nobody else can open it meanwhile. Every method may throw what the disk says, a full disk a QuotaExceededError. */
export interface StorageHandle {
  /** Reads into `out` from a position; gives back how many bytes came. */
  read(out: Uint8Array, at: number): number
  /** Gives back how many bytes were written. */
  write(bytes: Uint8Array, at: number): number
  truncate(bytes: number): void
  getSize(): number
  flush(): void
  close(): void
}

/** Writes all of it. Throws a QuotaExceededError where the disk takes only a part. */
export function writeAll(handle: StorageHandle, bytes: Uint8Array, at: number): void {
  if (handle.write(bytes, at) < bytes.length) throw new DOMException('not all bytes were written', 'QuotaExceededError')
}

/** Paths are names joined by '/'. */
export interface FileStorage {
  /** Opens a file, made with its folders where it is not there. Rejects while it is open elsewhere. */
  open(path: string): Promise<StorageHandle>
  /** A small file as a whole, even while it is open elsewhere; null where there is none. */
  readFile(path: string): Promise<Uint8Array | null>
  /** Removes a file or a folder with all that is in it; nothing where there is none. */
  remove(path: string): Promise<void>
  /** What stands right in a folder; [] where there is none. A folder's bytes are 0. */
  list(path: string): Promise<{ name: string; bytes: number; folder: boolean }[]>
}

/** Why something could not be stored. */
export type StorageTrouble = 'full' | 'locked' | 'failed'

export function troubleOf(error: unknown): StorageTrouble {
  const name = typeof error === 'object' && error !== null && 'name' in error ? error.name : ''
  if (name === 'QuotaExceededError') return 'full'
  return name === 'NoModificationAllowedError' ? 'locked' : 'failed'
}
