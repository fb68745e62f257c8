/** The curves as numbers, newest step first. */

import type { StepSummary } from '../../core/run-record'
import { number } from '../../ui/format'
import { S } from '../../ui/strings'

export function CurveTable({ history, names }: { history: readonly StepSummary[]; names: readonly string[] }) {
  if (history.length === 0) return <p className="empty">{S.curves.empty}</p>
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
          </tr>
        </thead>
        <tbody>
          {history.toReversed().map((s) => (
            <tr key={s.step}>
              <th scope="row">{s.step}</th>
              {names.map((name) => (
                <td key={name}>{number(s.metrics[name])}</td>
              ))}
              <td>{number(s.rewardMin)}</td>
              <td>{number(s.rewardMax)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
