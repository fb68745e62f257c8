/** Which configs and splits a dataset has, and which files make them: as the Hub lists its Parquet copy, or by the names of its files. */

import { z } from 'zod'

/** A config's split: files of the repository, or addresses of the Hub's own Parquet copy. */
export interface DatasetPart {
  config: string
  split: string
  /** In order. */
  files: string[]
}

/** Which of a dataset can be read. */
export const READABLE = /\.(parquet|jsonl|ndjson|json)$/i

const parquetListing = z.record(z.string(), z.record(z.string(), z.array(z.url())))

/** The answer of /api/datasets/{id}/parquet; null where it is another one. */
export function listedParts(answer: unknown): DatasetPart[] | null {
  const { success, data } = parquetListing.safeParse(answer)
  if (!success) return null
  return Object.entries(data).flatMap(([config, splits]) => Object.entries(splits).flatMap(([split, files]) => (files.length > 0 ? [{ config, split, files }] : [])))
}

/** Names of splits as the Hub finds them in files' names; what is called otherwise is training data. */
const SPLITS: readonly (readonly [string, RegExp])[] = [
  ['train', /(^|[^a-z0-9])(train|training)([^a-z0-9]|$)/i],
  ['validation', /(^|[^a-z0-9])(validation|valid|dev|val)([^a-z0-9]|$)/i],
  ['test', /(^|[^a-z0-9])(test|testing|eval|evaluation)([^a-z0-9]|$)/i],
]
/** Files that are no data. */
const NO_DATA = /(^|\/)(\.[^/]*|dataset_infos?\.json|dataset_dict\.json|state\.json|config\.json|tokenizer[^/]*\.json)$/i
/** Folders that name nothing. */
const PLAIN_FOLDERS = /^(data|default)$/i

/** Parts by the paths of a repository's files: a folder is a config, a word in the path a split. Where there is Parquet, only that. */
export function partsByName(paths: readonly string[]): DatasetPart[] {
  const usable = paths.filter((path) => READABLE.test(path) && !NO_DATA.test(path) && !path.startsWith('.'))
  const parquet = usable.filter((path) => /\.parquet$/i.test(path))
  const parts: DatasetPart[] = []
  for (const path of (parquet.length > 0 ? parquet : usable).sort()) {
    const split = splitOf(path)
    const folders = path.split('/').slice(0, -1).filter((folder) => !PLAIN_FOLDERS.test(folder) && !SPLITS.some(([, word]) => word.test(folder)))
    const config = folders.join('/') || 'default'
    const part = parts.find((each) => each.config === config && each.split === split)
    if (part) part.files.push(path)
    else parts.push({ config, split, files: [path] })
  }
  return parts
}

function splitOf(path: string): string {
  const last = path.slice(path.lastIndexOf('/') + 1)
  const named = (text: string) => SPLITS.find(([, word]) => word.test(text))?.[0]
  return named(last) ?? named(path) ?? 'train'
}

/** The part that is meant; null for what is wanted and not there. Without a wish: "default" or the first config, "train" or the first split. */
export function choosePart(parts: readonly DatasetPart[], config: string | null, split: string | null): DatasetPart | null {
  const configs = parts.filter((part) => config === null || part.config === config)
  const chosen = configs.find((part) => part.config === 'default') ?? configs[0]
  const splits = configs.filter((part) => part.config === chosen?.config && (split === null || part.split === split))
  return splits.find((part) => part.split === 'train') ?? splits[0] ?? null
}
