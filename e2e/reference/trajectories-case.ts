/** Asks trajectories_cases.py about a folder of exported files. */

import { execFileSync } from 'node:child_process'
import { venvPython } from '../tools/venv'
import { ROOT } from './reference'

type Rows = Record<string, unknown>[]
interface Arrow {
  /** Arrow's types by column. */
  types: Record<string, string>
  rows: Rows
  /** Rows of each row group. */
  groups: number[]
  codecs: string[]
  /** By step: metrics that Python computed from the columns. */
  metrics: Record<string, Record<string, number>>
}
interface Loaded {
  features: Record<string, string>
  rows: Rows
}

/** What Python found; a part is absent where the folder does not have its file. */
export interface TrajectoriesAnswer {
  dataset?: Loaded
  card?: { data: Record<string, unknown>; configs: Record<string, unknown>; text: string }
  parquet?: Arrow
  /** prompt and completion of each row as transformers decodes its ids. */
  decoded?: [string, string][]
  'trajectories.parquet'?: Arrow
  /** The JSONL by Python's own reader, and by `datasets`. */
  lines?: Rows
  jsonl?: Loaded
  'metrics.csv'?: Record<string, number | null>[]
  'trainer_state.json'?: { global_step: number; max_steps: number; log_history: Record<string, number | null>[] }
  trackio?: { runs: string[]; logs: Record<string, number>[][]; configs: Record<string, unknown>[] }
}

/** Throws with Python's last words where a library refuses a file or warns. */
export function checkTrajectories(folder: string): TrajectoriesAnswer {
  const options = { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 28 } as const
  return JSON.parse(execFileSync(venvPython('reference'), ['e2e/reference/trajectories_cases.py', folder], options)) as TrajectoriesAnswer
}
