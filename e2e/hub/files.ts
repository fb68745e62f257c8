/** Files of a repository on the local Hub: from memory, from a folder, or generated as they are read. */

import { createHash, type Hash } from 'node:crypto'
import { open, readdir, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'

/** A file whose bytes are made when asked for, so that a big one needs neither disk nor memory. */
export interface GeneratedFile {
  size: number
  /** Bytes [begin, end). */
  read(begin: number, end: number): Uint8Array | Promise<Uint8Array>
  /** Hex; computed by reading the whole file once, at the first listing, where it is left out. */
  sha256?: string
  /** Kept in LFS, behind the redirect to the other origin; by default what the Hub keeps there. */
  lfs?: boolean
}

/** Text, bytes, a generated file, or one that another commit has already. */
export type FileInput = string | Uint8Array | GeneratedFile | HubFile

export interface HubFile {
  readonly path: string
  readonly size: number
  readonly lfs: boolean
  read(begin: number, end: number): Uint8Array | Promise<Uint8Array>
  sha256(): Promise<string>
  /** Git's id of the blob: of the content, or of the LFS pointer. */
  oid(): Promise<string>
}

/** What the Hub's .gitattributes send to LFS, and its limit for all other files. */
const LFS_NAMES = /\.(safetensors|bin|onnx|gguf|pt|pth|parquet|zip)$/
const LFS_BYTES = 10 << 20
const CHUNK = 1 << 20

/** The text that Git keeps in place of an LFS file. */
export async function lfsPointer(file: HubFile): Promise<string> {
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${await file.sha256()}\nsize ${file.size}\n`
}

/** Wraps one file of a repository; hashes are computed once, when first asked for. */
export function hubFile(path: string, input: FileInput): HubFile {
  if (!(typeof input === 'string' || input instanceof Uint8Array) && 'oid' in input) return input
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input
  const source: GeneratedFile = bytes instanceof Uint8Array ? { size: bytes.length, read: (begin, end) => bytes.subarray(begin, end) } : bytes
  let sha256: Promise<string> | null = source.sha256 === undefined ? null : Promise.resolve(source.sha256)
  const file: HubFile = {
    path,
    size: source.size,
    lfs: source.lfs ?? (LFS_NAMES.test(path) || source.size > LFS_BYTES),
    read: (begin, end) => source.read(begin, end),
    sha256: () => (sha256 ??= digest(createHash('sha256'), file)),
    oid: async () => {
      if (!file.lfs) return digest(createHash('sha1').update(`blob ${file.size}\0`), file)
      const pointer = await lfsPointer(file)
      return createHash('sha1').update(`blob ${pointer.length}\0${pointer}`).digest('hex')
    },
  }
  return file
}

async function digest(hash: Hash, file: HubFile): Promise<string> {
  for (let at = 0; at < file.size; at += CHUNK) {
    hash.update(await file.read(at, Math.min(at + CHUNK, file.size)))
    await breathe()
  }
  return hash.digest('hex')
}

/** A commit id that follows from the content: sizes, names, and both ends of every file. */
export async function commitId(repo: string, files: readonly HubFile[]): Promise<string> {
  const hash = createHash('sha1').update(repo)
  for (const file of [...files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    hash.update(`\n${file.path} ${file.size}\n`)
    hash.update(await file.read(0, Math.min(4096, file.size)))
    hash.update(await file.read(Math.max(0, file.size - 4096), file.size))
  }
  return hash.digest('hex')
}

/** The files of a folder, read from disk as they are asked for; paths with forward slashes. */
export async function folderFiles(dir: string): Promise<Record<string, GeneratedFile>> {
  const files: Record<string, GeneratedFile> = {}
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const full = join(entry.parentPath, entry.name)
    files[relative(dir, full).split(sep).join('/')] = { size: (await stat(full)).size, read: (begin, end) => readRange(full, begin, end) }
  }
  return files
}

async function readRange(path: string, begin: number, end: number): Promise<Uint8Array> {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(new Uint8Array(end - begin), 0, end - begin, begin)
    if (bytesRead !== end - begin) throw new Error(`${path} became shorter while it was served`)
    return buffer
  } finally {
    await handle.close()
  }
}
