/** All numbers of the drawn runs as a CSV: one line per run and step, whatever curves are chosen. */

import { csvLine, csvNumber } from '../../core/csv'
import type { StepSummary } from '../../core/run-record'
import type { DrawnRun } from './series'

/** What stands beside the metrics. */
const BESIDE: readonly [name: string, of: (step: StepSummary) => number | null][] = [
  ['episodes', ({ episodes }) => episodes],
  ['unscorable', ({ unscorable }) => unscorable],
  ['reward_min', ({ rewardMin }) => rewardMin],
  ['reward_max', ({ rewardMax }) => rewardMax],
  ['seconds_sampling', ({ seconds }) => seconds.sampling],
  ['seconds_training', ({ seconds }) => seconds.training],
]

/** Columns: run, step, what stands beside the metrics, then every metric of any step under its own name. */
export function curvesCsv(runs: readonly Pick<DrawnRun, 'name' | 'history'>[]): string {
  const metrics = [...new Set(runs.flatMap(({ history }) => history.flatMap((step) => Object.keys(step.metrics))))]
  const lines = runs.flatMap(({ name, history }) =>
    history.map((step) => csvLine([name, String(step.step), ...BESIDE.map(([, of]) => csvNumber(of(step))), ...metrics.map((metric) => csvNumber(step.metrics[metric]))])),
  )
  return csvLine(['run', 'step', ...BESIDE.map(([name]) => name), ...metrics]) + lines.join('')
}
