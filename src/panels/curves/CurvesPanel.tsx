/** How the runs go: chosen curves as small charts that are looked at together, or the same as a table; other runs laid over. */

import { startTransition, useEffect, useMemo, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { useDisplay, useSelection, useShown } from '../../store/hooks'
import { findStep } from '../../store/view'
import { chosenSpecs, curveSpecs } from '../../ui/curve-specs'
import { DURATIONS } from '../../ui/durations'
import { later } from '../../ui/later'
import { Panel } from '../../ui/Panel'
import { S } from '../../ui/strings'
import { ComparedLegend } from '../runs/ComparedLegend'
import { useCompared } from '../runs/useCompared'
import { ChooseCurves } from './ChooseCurves'
import { CurveFigure } from './CurveFigure'
import { CurveTable } from './CurveTable'
import { CurveTools } from './CurveTools'
import { createCurveFocus } from './focus-store'
import { PRESENT } from './present'
import { SaveCurves } from './SaveCurves'
import { type DrawnRun, placesOf, tellsTime, type ViewOptions } from './series'
import { usePick } from './usePick'

const Comparison = later(async () => (await import('./Comparison')).Comparison)
const C = S.curves

export function CurvesPanel() {
  const history = useThrottled(useShown((view) => view.history))
  const evaluations = useThrottled(useShown((view) => view.evaluations))
  const [table, setTable] = useState(false)
  const [focus] = useState(createCurveFocus)
  const hidden = useStore(focus, (state) => state.hidden)
  const range = useStore(focus, (state) => state.range)
  const others = useCompared()
  const chosen = useDisplay((display) => display.curves)
  const wanted = useDisplay((display) => display.axis)
  const smoothing = useDisplay((display) => display.smoothing)
  const log = useDisplay((display) => display.log)
  const selected = useSelection((s) => s.step)
  // Also the step of the episode that is pointed at anywhere.
  const pointed = useSelection((s) => (s.pointed ?? null) !== null)
  const shown = useShown((view) => findStep(view, selected)?.step ?? null)
  const marked = selected ?? (pointed ? shown : null)
  const pick = usePick()
  const all = useMemo(() => {
    const present: DrawnRun = { id: PRESENT, name: C.compare.present, short: C.compare.present, color: 'var(--accent)', dash: '', history, evaluations }
    return [...(history.length > 0 || others.length === 0 ? [present] : []), ...others.flatMap((run) => (run.history === null ? [] : [{ ...run, history: run.history }]))]
  }, [history, evaluations, others])
  const runs = useMemo(() => all.filter(({ id }) => !hidden.includes(id)), [all, hidden])
  const timed = useMemo(() => tellsTime(all), [all])
  const axis = wanted === 'time' && !timed ? 'step' : wanted
  const options = useMemo<ViewOptions>(() => ({ axis, smoothing, log, range }), [axis, smoothing, log, range])
  const specs = useMemo(() => curveSpecs(all.map(({ history }) => history)), [all])
  const drawn = useMemo(() => chosenSpecs(specs, chosen), [specs, chosen])
  const present = runs.findIndex(({ id }) => id === PRESENT)
  const full = useMemo(() => ends(runs, axis), [runs, axis])
  return (
    <Panel
      id="curves"
      title={C.title}
      lead={C.lead}
      aside={
        <div className="panel-aside">
          <ChooseCurves specs={specs} drawn={drawn} histories={all.map(({ history }) => history)} />
          <button type="button" className="button small" data-testid="curves-table" aria-pressed={table} onClick={() => setTable(!table)}>
            {table ? C.chart : C.table}
          </button>
          <SaveCurves specs={drawn} runs={runs} present={present} options={options} />
        </div>
      }
    >
      <CurveTools axis={axis} timed={timed} full={full} focus={focus} pick={pick} />
      {table ? (
        <CurveTable specs={drawn} runs={runs} range={range} axis={axis} onPick={pick.pick} />
      ) : (
        <div className="curves">
          {drawn.map((spec, index) => (
            <CurveFigure key={spec.id} index={index} spec={spec} runs={runs} present={present} options={options} marked={marked} focus={focus} onPick={pick.pick} />
          ))}
        </div>
      )}
      <ComparedLegend others={others} hidden={hidden} onHide={(id, on) => focus.setState({ hidden: on ? [...hidden, id] : hidden.filter((each) => each !== id) })} present={PRESENT} />
      {others.length > 0 && <Comparison specs={drawn} history={history} others={others} />}
    </Panel>
  )
}

/** First and last place of all drawn runs. */
function ends(runs: readonly DrawnRun[], axis: ViewOptions['axis']): readonly [number, number] {
  const places = runs.flatMap(({ history, evaluations = [] }) => {
    const all = placesOf(history, axis)
    return [evaluations[0]?.step === 0 ? 0 : (all[0] ?? 0), all.at(-1) ?? 0]
  })
  return places.length === 0 ? [0, 0] : [Math.min(...places), Math.max(...places)]
}

/** The newest value, but renewed at most four times a second: a chart costs ten milliseconds. */
function useThrottled<T>(value: T): T {
  const [shown, setShown] = useState(value)
  const last = useRef(0)
  useEffect(() => {
    const rest = Math.max(0, last.current + DURATIONS.chart - performance.now())
    const timer = setTimeout(() => {
      last.current = performance.now()
      // Between two charts the page may paint and answer.
      startTransition(() => setShown(value))
    }, rest)
    return () => clearTimeout(timer)
  }, [value])
  return shown
}
