/** How the run goes: reward with its range, success, and one curve of one's choice; or the same as a table. */

import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { useSelection, useShown, useStores } from '../../store/hooks'
import type { StepSummary } from '../../core/run-record'
import { DURATIONS } from '../../ui/durations'
import { CURVE_NAMES, type CurveName, writeCurve } from '../../ui/metrics'
import { Panel } from '../../ui/Panel'
import { S } from '../../ui/strings'
import { ComparedLegend } from '../runs/ComparedLegend'
import { type ComparedRun, useCompared } from '../runs/useCompared'
import { fixedDomain, seriesOf } from './series'
import { CurveTable } from './CurveTable'

const Chart = lazy(() => import('./Chart'))

export function CurvesPanel() {
  const history = useThrottled(useShown((view) => view.history))
  const [table, setTable] = useState(false)
  const [chosen, setChosen] = useState<CurveName>('entropy')
  const names: readonly CurveName[] = ['reward', 'success', chosen]
  const others = useCompared()
  return (
    <Panel
      id="curves"
      title={S.curves.title}
      lead={S.curves.lead}
      aside={
        <button type="button" className="button small" data-testid="curves-table" aria-pressed={table} onClick={() => setTable(!table)}>
          {table ? S.curves.chart : S.curves.table}
        </button>
      }
    >
      {table ? (
        <CurveTable history={history} names={names} others={others} />
      ) : (
        <div className="curves">
          <Curve name="reward" history={history} others={others} testId="reward-curve" />
          <Curve name="success" history={history} others={others} />
          <Curve name={chosen} history={history} others={others} onChoose={setChosen} />
        </div>
      )}
      <ComparedLegend others={others} />
    </Panel>
  )
}

interface CurveProps {
  name: CurveName
  history: readonly StepSummary[]
  others: readonly ComparedRun[]
  testId?: string
  onChoose?: (name: CurveName) => void
}

function Curve({ name, history, others, testId, onChoose }: CurveProps) {
  const { selection } = useStores()
  const marked = useSelection((s) => s.step)
  const points = useMemo(() => seriesOf(history, name, others.map((run) => run.history ?? [])), [history, name, others])
  const drawn = points.some((p) => p.value !== null || p.others.some((v) => v !== null))
  const values = points.flatMap((p) => p.value ?? [])
  const summary = S.curves.summary(name, writeCurve(name, values[0]), writeCurve(name, values.at(-1)), history.length)
  return (
    <figure className="curve" data-testid={testId} data-points={values.length}>
      <figcaption>
        {onChoose ? (
          <select aria-label={S.curves.metric} data-testid="curve-select" value={name} onChange={(e) => choose(e.target.value, onChoose)}>
            {CURVE_NAMES.filter((n) => n !== 'reward' && n !== 'success').map((n) => (
              <option key={n}>{n}</option>
            ))}
          </select>
        ) : (
          <span>{name === 'reward' ? S.curves.reward : name}</span>
        )}
        <output>{writeCurve(name, values.at(-1))}</output>
      </figcaption>
      <div className="plot" role="img" aria-label={summary}>
        {!drawn ? (
          <p className="empty">{history.length === 0 ? S.curves.empty : S.curves.noValues}</p>
        ) : (
          <Suspense fallback={<p className="empty">{S.curves.loading}</p>}>
            <Chart
              name={name}
              points={points}
              others={others}
              domain={fixedDomain(name)}
              marked={marked}
              onPick={(step) => selection.setState({ step, token: null })}
            />
          </Suspense>
        )}
      </div>
    </figure>
  )
}

function choose(text: string, onChoose: (name: CurveName) => void) {
  const name = CURVE_NAMES.find((n) => n === text)
  if (name) onChoose(name)
}

/** The newest value, but renewed at most four times a second: a chart costs ten milliseconds. */
function useThrottled<T>(value: T): T {
  const [shown, setShown] = useState(value)
  const last = useRef(0)
  useEffect(() => {
    const rest = Math.max(0, last.current + DURATIONS.chart - performance.now())
    const timer = setTimeout(() => {
      last.current = performance.now()
      setShown(value)
    }, rest)
    return () => clearTimeout(timer)
  }, [value])
  return shown
}
