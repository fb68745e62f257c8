/** The curves as numbers, newest step first; a step's button shows its episodes. */

import { useMemo } from 'react'
import type { CurveAxis } from '../../store/display'
import type { CurveSpec } from '../../ui/curve-specs'
import { metricOf, writeCurve } from '../../ui/metrics'
import { S } from '../../ui/strings'
import { evaluatedAt, evaluatedMetric } from './evaluations'
import { PRESENT } from './present'
import { type DrawnRun, placesOf } from './series'

const C = S.curves
/** More rows would take longer to lay out than anybody reads. */
const MOST_ROWS = 200

interface CurveTableProps {
  specs: readonly CurveSpec[]
  runs: readonly DrawnRun[]
  range: readonly [number, number] | null
  axis: CurveAxis
  onPick: (step: number) => void
}

export function CurveTable({ specs, runs, range, axis, onPick }: CurveTableProps) {
  const columns = runs.flatMap((run) => columnsOf(specs, run).map((metric) => ({ run, metric })))
  const bySteps = useMemo(() => runs.map(({ history }) => new Map(history.map((step) => [step.step, step]))), [runs])
  const steps = useMemo(() => stepsIn(runs, range, axis), [runs, range, axis])
  if (steps.length === 0) return <p className="empty">{C.empty}</p>
  return (
    <>
      <div className="table-scroll" tabIndex={0} role="region" aria-label={C.table}>
        <table data-testid="curve-table">
          <thead>
            <tr>
              <th scope="col">{C.step}</th>
              {columns.map(({ run, metric }) => (
                <th key={`${run.id} ${metric}`} scope="col">
                  {run.id === PRESENT ? metric : S.runs.curves.column(metric, run.name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {steps.slice(0, MOST_ROWS).map((step) => (
              <tr key={step}>
                <th scope="row">
                  {bySteps.some((own, i) => runs[i]?.id === PRESENT && own.has(step)) ? (
                    <button type="button" className="link" onClick={() => onPick(step)}>
                      {step}
                    </button>
                  ) : (
                    step
                  )}
                </th>
                {columns.map(({ run, metric }) => {
                  const summary = bySteps[runs.indexOf(run)]?.get(step)
                  const value = metric.startsWith('eval_') ? evaluatedAt(run.evaluations, step, metric) : summary && metricOf(summary, metric)
                  return <td key={`${run.id} ${metric}`}>{writeCurve(metric, value)}</td>
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {steps.length > MOST_ROWS && <p className="note">{C.newest(MOST_ROWS, steps.length)}</p>}
    </>
  )
}

/** All lines and ends of the chosen curves for the present run, the first line of each for another; of both what was evaluated. */
function columnsOf(specs: readonly CurveSpec[], run: DrawnRun): string[] {
  const evaluated = (spec: CurveSpec): string[] => (run.evaluations?.some((each) => metricOf(each, evaluatedMetric(spec)) !== null) ? [evaluatedMetric(spec)] : [])
  return [
    ...new Set(
      specs.flatMap((spec) => {
        const { lines, band = [] } = spec
        const own = run.id === PRESENT ? [...lines.map(({ metric }) => metric), ...band] : lines.slice(0, 1).map(({ metric }) => metric)
        return [...own, ...evaluated(spec)]
      }),
    ),
  ]
}

/** Steps of any of the runs in the range, newest first. */
function stepsIn(runs: readonly DrawnRun[], range: readonly [number, number] | null, axis: CurveAxis): number[] {
  const steps = runs.flatMap(({ history, evaluations = [] }) => {
    const places = placesOf(history, axis)
    const start = evaluations[0]?.step === 0 && (range === null || range[0] <= 0) ? [0] : []
    const inRange = history.flatMap(({ step }, i) => (range === null || ((places[i] ?? 0) >= range[0] && (places[i] ?? 0) <= range[1]) ? [step] : []))
    return [...start, ...inRange]
  })
  return [...new Set(steps)].sort((a, b) => b - a)
}
