/** What the store writes down about one model: its commit, its files, which of their bytes are needed, and checksums of what is here. */

import { z } from 'zod/mini'
import type { FileStorage } from './file-storage'

const count = z.int().check(z.nonnegative())

/** A checksum of the first `bytes` bytes stored from `begin` on; the stored range may have grown since. */
const extentSchema = z.object({ begin: count, bytes: count, sha256: z.string() })

const fileSchema = z.object({
  path: z.string(),
  size: count,
  /** The Hub's checksum of the whole file; null where it gives none (small files). */
  sha256: z.nullable(z.string()),
  /** Ranges [begin, end) that loading the model reads. */
  needed: z.array(z.tuple([count, count])),
  extents: z.array(extentSchema),
})

const manifestSchema = z.object({
  version: z.literal(1),
  /** The higher of the two slots is the newer. */
  seq: count,
  repo: z.string(),
  sha: z.string(),
  /** What people call this commit ('main') and when it was that commit, ms. */
  names: z.record(z.string(), z.number()),
  lastUsed: z.number(),
  /** The weights that are needed are known. */
  planned: z.boolean(),
  files: z.array(fileSchema),
})

export type ExtentRecord = z.infer<typeof extentSchema>
export type FileRecord = z.infer<typeof fileSchema>
export type Manifest = z.infer<typeof manifestSchema>

/** Two files, written in turn, so that a crash while writing leaves the other. */
export const MANIFEST_SLOTS = ['manifest.0.json', 'manifest.1.json'] as const

/** The newest of the slots that can be read; null when none can. */
export function newestManifest(slots: readonly (Uint8Array | null)[]): Manifest | null {
  const read = slots.flatMap((bytes) => {
    if (bytes === null) return []
    try {
      const parsed = manifestSchema.safeParse(JSON.parse(new TextDecoder().decode(bytes)))
      return parsed.success ? [parsed.data] : []
    } catch {
      return []
    }
  })
  return read.sort((a, b) => b.seq - a.seq)[0] ?? null
}

export interface ModelFolder {
  manifest: Manifest | null
  /** All that stands in the folder. */
  entries: { name: string; bytes: number }[]
}

/** What a model's folder holds. */
export async function readModelFolder(storage: FileStorage, folder: string): Promise<ModelFolder> {
  const slots = await Promise.all(MANIFEST_SLOTS.map((slot) => storage.readFile(`${folder}/${slot}`)))
  return { manifest: newestManifest(slots), entries: await storage.list(folder) }
}

/** A stored range's file: which file of the model, and from which byte on. */
export function extentName(path: string, begin: number): string {
  return `${encodeURIComponent(path)}.${begin}.part`
}

/** The stored ranges of one file among the names of a model's folder, in order; what overlaps or cannot be is left out. */
export function extentsIn(entries: readonly { name: string; bytes: number }[], path: string, size: number): { begin: number; bytes: number }[] {
  const prefix = `${encodeURIComponent(path)}.`
  const found = entries.flatMap(({ name, bytes }) => {
    const begin = name.startsWith(prefix) ? /^(\d+)\.part$/.exec(name.slice(prefix.length))?.[1] : undefined
    return begin !== undefined && bytes > 0 && Number(begin) + bytes <= size ? [{ begin: Number(begin), bytes }] : []
  })
  let end = 0
  return found
    .sort((a, b) => a.begin - b.begin)
    .filter((extent) => {
      const apart = extent.begin >= end
      if (apart) end = extent.begin + extent.bytes
      return apart
    })
}

/** Whether sorted ranges that do not overlap hold all of [begin, end). */
export function covers(extents: readonly { begin: number; bytes: number }[], begin: number, end: number): boolean {
  let at = begin
  for (const extent of extents) if (extent.begin <= at && at < extent.begin + extent.bytes) at = extent.begin + extent.bytes
  return at >= end
}

/** Joins ranges that touch or overlap. */
export function joinRanges(ranges: readonly (readonly [number, number])[]): [number, number][] {
  const joined: [number, number][] = []
  for (const [begin, end] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1)
    if (last && begin <= last[1]) last[1] = Math.max(last[1], end)
    else if (end > begin) joined.push([begin, end])
  }
  return joined
}

/** All that loading this model reads is among the files of its folder. */
export function isComplete(manifest: Manifest, entries: readonly { name: string; bytes: number }[]): boolean {
  if (!manifest.planned) return false
  return manifest.files.every(({ path, size, needed }) => {
    const extents = extentsIn(entries, path, size)
    return needed.every(([begin, end]) => covers(extents, begin, end))
  })
}
