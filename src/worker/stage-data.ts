/** A stage's data: read, tokenised with the loaded model's template, and shown before anything is trained. */

import { PlaygroundError } from '../core/errors'
import { latePart } from '../core/late-part'
import { problemSentence } from '../core/rows'
import { stageSteps, type StageKind, type StageSettings, type StageSource } from '../core/stage'
import type { HubClient } from '../hub/client'
import type { HubRows } from '../hub/datasets'
import type { ChatFormat } from '../rollout/chat'
import { COLUMNS, dpoExamples, type Example, limited, type PairExample, type Prepared, readRows, type ReadRows, type RowProblem, sftExamples } from '../train/datasets'
import type { StageDataset, StageExample, StageLook } from './protocol'

/** A larger file is refused: it would not fit into the page's memory with its tokens. */
const MOST_BYTES = 64e6
/** Sentences about bad rows that are told; all are counted. */
const TOLD = 20

/** Masked tokens, and what became of the other rows. */
export type StageData = ({ kind: 'sft'; prepared: Prepared<Example> } | { kind: 'dpo'; prepared: Prepared<PairExample> }) & Pick<StageLook, 'hub'>

/** How a dataset on the Hub is read. */
export interface Reading {
  /** null where there is no way to it. */
  hub: HubClient | null
  signal?: AbortSignal
  /** Bytes that have come since the last call. */
  onProgress?: (bytes: number) => void
}

/** Throws PlaygroundError('config') for a file that cannot be read at all, and as readHubDataset does. */
export async function prepareStage(kind: StageKind, dataset: StageDataset, settings: StageSettings, chat: ChatFormat, contextLength: number, reading: Reading): Promise<StageData> {
  const { hub, ...read } = await readDataset(dataset, kind, reading)
  const limits = { ...settings, max_length: longest(settings, contextLength) }
  const problems = <E>(prepared: Prepared<E>): Prepared<E> => ({ ...prepared, problems: [...read.problems, ...prepared.problems].sort((a, b) => at(a) - at(b)) })
  return kind === 'sft' ? { kind, prepared: problems(sftExamples(read.rows, chat, limits)), hub } : { kind, prepared: problems(dpoExamples(read.rows, chat, limits)), hub }
}

/** Tokens that a row may have. */
export function longest({ max_length }: Pick<StageSettings, 'max_length'>, contextLength: number): number {
  return Math.min(max_length, contextLength)
}

/** A dataset's place on the Hub, as a record of the run keeps it. */
export const sourceOf = ({ repo, revision, sha, config, split }: StageSource): StageSource => ({ repo, revision, sha, config, split })

async function readDataset(dataset: StageDataset, kind: StageKind, reading: Reading): Promise<ReadRows & Pick<StageLook, 'hub'>> {
  if ('hub' in dataset) {
    const { hub, ...options } = reading
    if (!hub) throw new PlaygroundError('config', `${dataset.name} cannot be read: there is no way to the Hub.`)
    const { readHubDataset } = await latePart(() => import('../hub/datasets'))
    const found = await readHubDataset(dataset.hub, hub, { ...options, columns: COLUMNS })
    checkColumns(found, kind)
    const { rows, problems, choices, more } = found
    return { rows, problems, hub: { ...sourceOf(found), choices, more } }
  }
  return { ...('text' in dataset ? readRows(dataset.text) : await fileRows(dataset)), hub: null }
}

/** Rows of which none could be used get one sentence. */
function checkColumns({ name, split, columns }: HubRows, kind: StageKind): void {
  const needed = kind === 'sft' ? ['messages', 'completion', 'text'] : ['chosen']
  if (columns.length === 0 || columns.some((column) => needed.includes(column))) return
  const found = `${columns.slice(0, 12).map((column) => `"${column}"`).join(', ')}${columns.length > 12 ? ' and others' : ''}`
  const wants = kind === 'sft' ? 'SFT needs "messages", or "prompt" and "completion", or "text".' : 'DPO needs "chosen" and "rejected", with or without "prompt".'
  throw new PlaygroundError('config', `${name}, split ${split}, has the columns ${found}.`, `${wants} Choose another dataset, config or split.`)
}

/** Rows of a JSONL or Parquet file. Throws PlaygroundError('config') for one that cannot be read at all. */
export async function fileRows({ name, file }: Extract<StageDataset, { file: Blob }>): Promise<ReadRows> {
  if (file.size > MOST_BYTES) {
    throw new PlaygroundError('config', `${name} has ${(file.size / 1e6).toFixed(0)} MB; at most ${MOST_BYTES / 1e6} MB are read.`, 'Give a part of it.')
  }
  const begin = new TextDecoder().decode(await file.slice(0, 4).arrayBuffer())
  if (begin.startsWith('PK')) throw new PlaygroundError('config', `${name} is a zip.`, 'Unpack it and choose the .jsonl or .parquet file inside.')
  if (begin !== 'PAR1') return readRows(await utf8(file, name))
  const { parquetRows } = await latePart(() => import('../hub/trajectories/table-rows'))
  const read: ReadRows = { rows: [], problems: [] }
  for await (const row of parquetRows(file, name)) read.rows.push(row)
  return limited(read)
}

async function utf8(file: Blob, name: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
  } catch (cause) {
    throw new PlaygroundError('config', `${name} is not UTF-8 text.`, 'Choose a .jsonl or .parquet file.', { cause })
  }
}

/** What it would train on, with the tokens of the rows from `from` on. */
export function lookAt(data: StageData, settings: StageSettings, chat: Pick<ChatFormat, 'tokenText'>, contextLength: number, from: number, count: number): StageLook {
  const { shortened, mismatched, problems, dropped } = data.prepared
  const parts = data.kind === 'sft' ? data.prepared.examples.map((one) => [one]) : data.prepared.examples.map(({ chosen, rejected }) => [chosen, rejected])
  const all = parts.flat()
  const total = (of: (part: Example) => number): number => all.reduce((sum, part) => sum + of(part), 0)
  return {
    rows: parts.length,
    tokens: total(({ ids }) => ids.length),
    targets: total(({ mask }) => mask.reduce<number>((sum, m) => sum + m, 0)),
    steps: parts.length === 0 ? 0 : stageSteps(settings, parts.length),
    maxLength: longest(settings, contextLength),
    shortened,
    mismatched,
    problems: { count: problems.length, first: problems.slice(0, TOLD).map(problemSentence) },
    dropped: { count: dropped.length, first: dropped.slice(0, TOLD).map(problemSentence) },
    hub: data.hub,
    from,
    examples: parts.slice(from, from + count).map((row) => shown(row, chat)),
  }
}

function shown(parts: readonly Example[], chat: Pick<ChatFormat, 'tokenText'>): StageExample {
  return {
    place: parts[0]?.place ?? '',
    parts: parts.map(({ ids, mask, authors, promptLength, cut }) => ({
      promptLength,
      cut,
      tokens: ids.map((id, t) => ({ id, text: chat.tokenText(id), author: authors[t] ?? 'template', target: mask[t] === 1 })),
    })),
  }
}

/** The last number in "line 3" and "file 2, line 3". */
const at = ({ place }: RowProblem): number => Number(/\d+(?=\D*$)/.exec(place)?.[0])
