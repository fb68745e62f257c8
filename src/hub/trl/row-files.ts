/** Rows of the folder: those of the run's dataset, and of members that are datasets; rows on the Hub stay there. */

import type { PromptSource } from '../../core/environment-spec'
import { PlaygroundError } from '../../core/errors'
import type { ExportFile } from '../../core/run-record'
import { readRows } from '../../core/rows'
import { wellFormedJson } from '../../core/text'

/** Rows that the page makes itself. */
export interface MadeRows {
  train: readonly Record<string, unknown>[]
  heldout: readonly Record<string, unknown>[]
}

/** Paths of a dataset's rows. `word`: of the member whose rows they are; null for the run's. */
export const rowsPath = (word: string | null) => (part: 'train' | 'heldout'): string => `data/${word === null ? '' : `${word}-`}${part}.jsonl`

/** The files; none where the rows are on the Hub. `made` is for the page's own. Throws PlaygroundError('config') where those are not given. */
export function rowFiles(dataset: PromptSource, word: string | null, made: MadeRows | undefined, parts: readonly ('train' | 'heldout')[]): ExportFile[] {
  const path = rowsPath(word)
  if (dataset.kind === 'hub') return []
  if (dataset.kind === 'text') return [{ path: path('train'), content: lines(readRows(dataset.text).rows.map(({ row }) => row)) }]
  if (!made) throw new PlaygroundError('config', `The rows of ${dataset.name} were not given.`, 'Export once more.')
  return parts.map((part) => ({ path: path(part), content: lines(made[part]) }))
}

const lines = (rows: readonly Record<string, unknown>[]): string => `${rows.map((row) => wellFormedJson(row)).join('\n')}\n`
