/** Rows of a dataset on the Hub: which configs and splits it has, and the first rows of one of them. */

import { z } from 'zod'
import { PlaygroundError } from '../../core/errors'
import { MOST_ROWS, type PlacedRow, type RowProblem } from '../../core/rows'
import type { HttpBytes } from '../http-bytes'
import type { HubClient } from '../client'
import { SIGN_IN } from '../sentences'
import { fileRows } from './files'
import { choosePart, type DatasetPart, listedParts, partsByName, READABLE } from './parts'
import { datasetName, type DatasetReference, parseDatasetReference } from './reference'

export { datasetName, parseDatasetReference, type DatasetReference }

export interface DatasetWish {
  /** Rows at most; MOST_ROWS. */
  limit?: number
  /** Only these columns of Parquet files are downloaded, and no row of a file that has none of them; all columns where it is left out. */
  columns?: readonly string[]
  signal?: AbortSignal
  /** Bytes that have come since the last call. */
  onProgress?: (bytes: number) => void
}

export interface HubRows {
  /** For people, records and exports: 'owner/name', 'owner/name@revision'. */
  name: string
  repo: string
  revision: string
  /** The commit that the revision was at. */
  sha: string
  config: string
  split: string
  /** All that can be chosen: one entry for each config with its splits. */
  choices: { config: string; splits: string[] }[]
  /** Names of all columns, also of those that were not asked for. */
  columns: string[]
  rows: PlacedRow[]
  problems: RowProblem[]
  /** Whether the split has rows beyond these. */
  more: boolean
}

/** At most so much of a dataset is downloaded. */
const MOST_BYTES = 128e6
/** Entries of a file listing that are looked at. */
const MOST_PAGES = 10

const information = z.object({ sha: z.string().regex(/^[0-9a-f]{40}$/), private: z.boolean().optional(), gated: z.unknown() })
const treePage = z.array(z.object({ type: z.string(), path: z.string().min(1), size: z.number().int().nonnegative() }))

/**
 * The first rows of a dataset's split. Of main the Hub's own Parquet copy is read where there is one, else the .parquet, .jsonl and .json
 * files of the repository at the commit. A row's `place` counts in its file; from the second file on it names the file.
 *
 *     const { rows, problems, name, sha, config, split } = await readHubDataset('trl-lib/Capybara', hub.client, { limit: 500, signal })
 *
 * @param reference as a person wrote it, or parsed (then with a config and a split of `choices`)
 * @param client with the token that the page holds; it goes to the Hub alone
 * @throws PlaygroundError 'stopped' after an abort; 'config' for what is no reference, a config or split that is not there, nothing
 *   readable; else 'model' with the Hub's refusal (not found, private, gated, 429) as a sentence
 */
export async function readHubDataset(reference: string | DatasetReference, client: HubClient, wish: DatasetWish = {}): Promise<HubRows> {
  const wanted = typeof reference === 'string' ? parseDatasetReference(reference) : reference
  const { repo, revision, config, split } = wanted
  const name = datasetName(wanted)
  const context = { repo, revision, what: 'dataset' as const }
  const { sha } = await jsonOf(client, `/api/datasets/${repo}/revision/${encodeURIComponent(revision)}?expand=sha&expand=private&expand=gated`, context, information, wish.signal)
  const parts = wanted.file === null ? await partsOf(client, wanted, sha, wish.signal) : fileParts(wanted.file)
  const part = choosePart(parts, config, split)
  if (!part) throw noPart(name, parts, config, split)
  const { limit = MOST_ROWS, columns, ...options } = wish
  const made: HubRows = { name, repo, revision, sha, config: part.config, split: part.split, choices: choicesOf(parts), columns: [], rows: [], problems: [], more: false }
  let bytes = MOST_BYTES
  for (const [i, file] of part.files.entries()) {
    const left = limit - made.rows.length
    if (left <= 0 || bytes <= 0) return { ...made, more: true }
    const source = await openFile(client, file, name, sha, context, options)
    const read = await fileRows(source, { limit: left, bytes: Math.max(bytes, 1), ...(columns ? { columns } : {}) }).catch((error: unknown) => {
      // A later file that is too large ends the rows; the first one's fault is told.
      if (i > 0 && error instanceof PlaygroundError && error.kind === 'config') return null
      throw error
    })
    if (!read) return { ...made, more: true }
    bytes -= read.bytes
    const placed = <P extends { place: string }>(each: P): P => (i === 0 ? each : { ...each, place: `file ${i + 1}, ${each.place}` })
    for (const row of read.rows) made.rows.push(placed(row))
    made.problems.push(...read.problems.map(placed))
    made.columns = [...new Set([...made.columns, ...read.columns])]
    made.more ||= read.more
    if (read.more) break
  }
  return made
}

type Context = { repo: string; revision: string; what: 'dataset' }

async function jsonOf<T>(client: HubClient, path: string, context: Context, schema: z.ZodType<T>, signal?: AbortSignal): Promise<T> {
  const response = await client.ask(path, context, signal)
  const { success, data, error } = schema.safeParse(await response.json().catch(() => null))
  if (success) return data
  throw new PlaygroundError('model', `The answer about ${context.repo} is not one that the Hub gives.`, SIGN_IN, { cause: error })
}

/** Configs and splits: the Hub's own list for main, else by the files' names. */
async function partsOf(client: HubClient, { repo, revision }: DatasetReference, sha: string, signal?: AbortSignal): Promise<DatasetPart[]> {
  const context = { repo, revision, what: 'dataset' as const }
  if (revision === 'main') {
    const listed = await parquetParts(client, context, signal)
    if (listed && listed.length > 0) return listed
  }
  const paths: string[] = []
  let next: string | null = `/api/datasets/${repo}/tree/${sha}?recursive=true`
  for (let page = 0; next !== null && page < MOST_PAGES; page++) {
    const response: Response = await client.ask(next, context, signal)
    const { success, data } = treePage.safeParse(await response.json().catch(() => null))
    if (!success) throw new PlaygroundError('model', `The list of files of ${repo} is not one that the Hub gives.`, SIGN_IN)
    paths.push(...data.flatMap(({ type, path }) => (type === 'file' ? [path] : [])))
    const link = /<([^>]+)>;\s*rel="next"/.exec(response.headers.get('Link') ?? '')?.[1]
    next = link !== undefined && URL.canParse(link) ? `${new URL(link).pathname}${new URL(link).search}` : null
  }
  const parts = partsByName(paths)
  if (parts.length > 0) return parts
  const shown = paths.filter((path) => !/(^|\/)(\.git|README)/i.test(path)).slice(0, 3)
  const holds = shown.length > 0 ? `: it has ${shown.join(', ')}${paths.length > shown.length + 2 ? ' and others' : ''}` : ''
  throw new PlaygroundError('config', `${datasetName({ repo, revision, file: null })} has no file that can be read here${holds}.`, 'Choose a dataset of Parquet, JSONL or JSON files.')
}

/** null where the Hub has made no Parquet copy, as of some private datasets; other refusals are thrown. */
async function parquetParts(client: HubClient, context: Context, signal?: AbortSignal): Promise<DatasetPart[] | null> {
  const response = await client.ask(`/api/datasets/${context.repo}/parquet`, context, signal, (status) => status !== 401 && status !== 429)
  return response.ok ? listedParts(await response.json().catch(() => null)) : null
}

function fileParts(file: string): DatasetPart[] {
  if (!READABLE.test(file)) throw new PlaygroundError('config', `${file} cannot be read here.`, 'Choose a .parquet, .jsonl or .json file.')
  return [{ config: 'default', split: 'train', files: [file] }]
}

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** A file of the repository at its commit, or of the Parquet copy. */
function openFile(client: HubClient, file: string, name: string, sha: string, context: Context, options: Pick<DatasetWish, 'signal' | 'onProgress'>): Promise<HttpBytes> {
  const isAddress = /^https?:\/\//.test(file)
  const url = isAddress ? file : `${client.endpoint}/datasets/${context.repo}/resolve/${sha}/${encoded(file)}`
  const path = isAddress ? new URL(file).pathname.split('/').slice(-3).join('/') : file
  return client.openAt(url, `${path} of ${name}`, { ...context, path }, options)
}

function choicesOf(parts: readonly DatasetPart[]): HubRows['choices'] {
  return [...new Set(parts.map(({ config }) => config))].map((config) => ({ config, splits: parts.filter((part) => part.config === config).map(({ split }) => split) }))
}

function noPart(name: string, parts: readonly DatasetPart[], config: string | null, split: string | null): PlaygroundError {
  const list = (names: readonly string[]): string => `${names.slice(0, 12).join(', ')}${names.length > 12 ? ' and others' : ''}`
  const choices = choicesOf(parts)
  const found = choices.find((choice) => choice.config === config)
  if (config !== null && !found) return new PlaygroundError('config', `${name} has no config '${config}'.`, `It has ${list(choices.map((choice) => choice.config))}.`)
  return new PlaygroundError('config', `${name} has no split '${split}'.`, `It has ${list((found ?? choices[0])?.splits ?? [])}.`)
}
