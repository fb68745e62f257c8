/** Reads the rows of a dataset of prompts: made by the page, pasted, or on the Hub; what was read last is kept. */

import type { PromptSource } from '../core/environment-spec'
import { PlaygroundError } from '../core/errors'
import { latePart } from '../core/late-part'
import { readRows } from '../core/rows'
import { arithmeticRows } from '../env/prompts/arithmetic'
import type { SourceRows } from '../env/prompts/environment'
import type { HubClient } from '../hub/client'
import type { HubRows } from '../hub/datasets'

/** Rows, and for a dataset on the Hub what else of it can be chosen. */
export type PromptRows = SourceRows & Partial<Pick<HubRows, 'choices'>>

interface Reading {
  key: string
  rows: Promise<PromptRows>
  reading: AbortController
  /** Callers that wait for it. */
  wanted: number
  /** Who is told of the bytes that have come. */
  listeners: Set<(bytes: number) => void>
}

let kept: Reading | null = null

/**
 * A look at a dataset and the run that is trained on it read it once. `onBytes`: of a download, all that has come so far.
 * @throws PlaygroundError as readHubDataset does; 'stopped' after an abort
 */
export function readPromptRows(source: PromptSource, hub: HubClient | null, signal?: AbortSignal, onBytes?: (bytes: number) => void): Promise<PromptRows> {
  if (source.kind === 'builtin') return Promise.resolve(builtinRows())
  if (source.kind === 'text') return Promise.resolve({ ...readRows(source.text), heldout: null, more: false })
  if (!hub) return Promise.reject(new PlaygroundError('config', `${source.repo} cannot be read: there is no way to the Hub.`))
  const key = JSON.stringify(source)
  if (kept?.key !== key) {
    const reading = new AbortController()
    const listeners = new Set<(bytes: number) => void>()
    const rows = hubRows(source, hub, reading.signal, (bytes) => listeners.forEach((listener) => listener(bytes)))
    const made = (kept = { key, rows, reading, wanted: 0, listeners })
    // What could not be read now may be later.
    rows.catch(() => {
      if (kept === made) kept = null
    })
  }
  if (onBytes) kept.listeners.add(onBytes)
  return whileWanted(kept, signal)
}

/** The download ends when nobody waits for it any more. */
function whileWanted(one: Reading, signal?: AbortSignal): Promise<PromptRows> {
  one.wanted++
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      if (--one.wanted === 0) {
        one.reading.abort()
        if (kept === one) kept = null
      }
      reject(new PlaygroundError('stopped', 'The reading of the dataset was stopped.'))
    }
    if (signal?.aborted) return leave()
    signal?.addEventListener('abort', leave, { once: true })
    const end = (): void => {
      one.wanted--
      signal?.removeEventListener('abort', leave)
    }
    one.rows.then(
      (rows) => {
        end()
        resolve(rows)
      },
      (error: Error) => {
        end()
        reject(error)
      },
    )
  })
}

function builtinRows(): PromptRows {
  const placed = (split: 'train' | 'heldout') => arithmeticRows(split).map((row, i) => ({ place: `row ${i + 1}`, row }))
  return { rows: placed('train'), heldout: placed('heldout'), problems: [], more: false }
}

async function hubRows({ repo, revision, config, split }: Extract<PromptSource, { kind: 'hub' }>, hub: HubClient, signal: AbortSignal, onBytes: (bytes: number) => void): Promise<PromptRows> {
  const { readHubDataset } = await latePart(() => import('../hub/datasets'))
  let sum = 0
  const found = await readHubDataset({ repo, revision, config, split, file: null }, hub, { signal, onProgress: (bytes) => onBytes((sum += bytes)) })
  const { rows, problems, more, choices } = found
  return { rows, problems, more, choices, heldout: null, place: { repo: found.repo, revision: found.revision, sha: found.sha, config: found.config, split: found.split } }
}
