/** The curves as numbers, newest step first. */

import type { StepSummary } from '../../core/run-record'
import { number } from '../../ui/format'
import { writeCurve } from '../../ui/metrics'
import { S } from '../../ui/strings'
import type { ComparedRun } from '../runs/useCompared'
import { seriesOf } from './series'

interface CurveTableProps {
  history: readonly StepSummary[]
  /** The first one is shown of the other runs, too. */
  names: readonly string[]
  others: readonly ComparedRun[]
}

export function CurveTable({ history, names, others }: CurveTableProps) {
  const [first = ''] = names
  const own = new Map(history.map((s) => [s.step, s]))
  const points = seriesOf(history, first, others.map((run) => run.history ?? []))
  if (points.length === 0) return <p className="empty">{S.curves.empty}</p>
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label={S.curves.table}>
      <table data-testid="curve-table">
        <thead>
          <tr>
            <th scope="col">{S.curves.step}</th>
            {names.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            <th scope="col">{S.curves.lowest}</th>
            <th scope="col">{S.curves.highest}</th>
            {others.map(({ id, name }) => (
              <th key={id} scope="col">
                {S.runs.curves.column(first, name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.toReversed().map(({ step, others: theirs }) => (
            <tr key={step}>
              <th scope="row">{step}</th>
              {names.map((name) => (
                <td key={name}>{writeCurve(name, own.get(step)?.metrics[name])}</td>
              ))}
              <td>{number(own.get(step)?.rewardMin)}</td>
              <td>{number(own.get(step)?.rewardMax)}</td>
              {others.map(({ id }, i) => (
                <td key={id}>{number(theirs[i])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
