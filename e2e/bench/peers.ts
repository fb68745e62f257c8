/**
 * Ours against what people would use instead, in turns on this machine: sampling, training, a GRPO step, the start; and what only we can
 * be measured at. GRPO_BENCH_PAIRS: pairs that count, 5 unless given. Rows that could not be measured say why.
 */

import { loadavg } from 'node:os'
import type { BenchLog, BenchRow } from '../tools/bench-rows'
import { refusedRow } from './_pairs'
import { countFrom } from './_rows'
import { batchingRows } from './peers/batching'
import { dispatchesRows } from './peers/dispatches'
import { growthRows } from './peers/growth'
import { grpoRows } from './peers/grpo'
import { memoryRows } from './peers/memory'
import { rolloutRows } from './peers/rollout'
import type { PeerRows } from './peers/setting'
import { startRows } from './peers/start'
import { trainingRows } from './peers/training'
import { turnsRows } from './peers/turns'

const ROWS = {
  rollout: rolloutRows,
  training: trainingRows,
  grpo: grpoRows,
  start: startRows,
  batching: batchingRows,
  turns: turnsRows,
  // Not 'dispatches', which is a benchmark's own name: the command line would begin that one.
  layers: dispatchesRows,
  memory: memoryRows,
  growth: growthRows,
} as const satisfies Record<string, PeerRows>
type RowName = keyof typeof ROWS

const found: Record<string, string> = {}

export const versions = (): Promise<Record<string, string>> => Promise.resolve(found)

/** `words`: rows; none means all. */
export async function run(words: string[], log: BenchLog): Promise<BenchRow[]> {
  const known = Object.keys(ROWS) as RowName[]
  const unknown = words.find((word) => !known.some((name) => name === word))
  if (unknown !== undefined) throw new Error(`peers has no row ${unknown}. Rows: ${known.join(', ')}.`)
  const count = countFrom(process.env, 'GRPO_BENCH_PAIRS', 5)
  const busy = loadavg()[0] ?? 0
  if (busy > 0.5) log(`Other programs keep ${busy.toFixed(1)} cores busy: these figures are not worth keeping.`)
  found['load before'] = busy.toFixed(2)
  const rows: BenchRow[] = []
  for (const name of known.filter((name) => words.length === 0 || words.includes(name))) {
    const say: BenchLog = (text) => log(`${name}: ${text}`)
    try {
      rows.push(...(await ROWS[name]({ count, log: say, versions: found })))
    } catch (error) {
      say(error instanceof Error ? (error.stack ?? error.message) : String(error))
      rows.push(refusedRow(name, error))
    }
  }
  return rows
}
