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

/** Columns: run, step, what stands beside the metrics, then every metric of any step under its own name; evaluations as eval_ ones. */
export function curvesCsv(runs: readonly Pick<DrawnRun, 'name' | 'history' | 'evaluations'>[]): string {
  const rows = runs.flatMap(({ name, history, evaluations = [] }) => {
    const evaluated = new Map(evaluations.map(({ step, metrics }) => [step, metrics]))
    const start = evaluated.get(0)
    const steps = history.map((step) => ({ name, step: step.step, summary: step, metrics: { ...step.metrics, ...evaluated.get(step.step) } }))
    return [...(start ? [{ name, step: 0, summary: null, metrics: start }] : []), ...steps]
  })
  const metrics = [...new Set(rows.flatMap((row) => Object.keys(row.metrics)))]
  const lines = rows.map(({ name, step, summary, metrics: own }) =>
    csvLine([name, String(step), ...BESIDE.map(([, of]) => (summary ? csvNumber(of(summary)) : '')), ...metrics.map((metric) => csvNumber(own[metric]))]),
  )
  return csvLine(['run', 'step', ...BESIDE.map(([name]) => name), ...metrics]) + lines.join('')
}
