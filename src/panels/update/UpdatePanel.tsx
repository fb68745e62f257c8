/** Column 4: the loss with its numbers in place, and what one update did, in TRL's metrics. */

import { useSelection, useShown } from '../../store/hooks'
import type { StepSummary } from '../../core/run-record'
import { findStep, trainedBeside } from '../../store/view'
import { ErrorBoundary } from '../../ui/ErrorBoundary'
import { Help } from '../../ui/Help'
import { Hideable } from '../../ui/Hideable'
import { UPDATE_ROWS } from '../../ui/metrics'
import { Panel } from '../../ui/Panel'
import { S } from '../../ui/strings'
import { FormulaCard } from './FormulaCard'

export function UpdatePanel() {
  const selected = useSelection((s) => s.step)
  const summary = useShown((view) => (selected === null ? view.history.at(-1) : view.history.find((s) => s.step === selected)) ?? null)
  const training = useShown((view) => {
    const step = (selected === null && trainedBeside(view)) || findStep(view, selected)
    return step && !step.finished ? step.training : null
  })
  return (
    <Panel
      id="update"
      number={4}
      title={S.update.title}
      lead={S.update.lead}
      aside={summary && <span className="note">{S.update.step(summary.step)}</span>}
    >
      <Hideable part="formula">
        <ErrorBoundary>
          <FormulaCard />
        </ErrorBoundary>
      </Hideable>
      {training && <progress className="training" aria-label={S.update.training} max={Math.max(1, training.total)} value={training.done} />}
      <Hideable part="metrics">
        <Rows summary={summary} />
      </Hideable>
      {!summary && <p className="note">{S.update.empty}</p>}
    </Panel>
  )
}

function Rows({ summary }: { summary: StepSummary | null }) {
  return (
    <dl className="metrics" data-testid="metrics">
      {UPDATE_ROWS.map((row) => {
        const value = summary && row.value(summary)
        if (row.optional && value === null) return null
        return (
          <div key={row.name} data-metric={row.name}>
            <dt>
              <span className="metric-name">{row.label ?? row.name}</span>
              <Help of={`metric:${row.name}`} />
            </dt>
            <dd>{row.write(value)}</dd>
          </div>
        )
      })}
    </dl>
  )
}
