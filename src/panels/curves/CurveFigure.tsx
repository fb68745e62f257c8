/** One curve: its name and "?", the number that is looked at, the chart with what lies over it, and its summary for those who do not see it. */

import { memo, useEffect, useId, useMemo, useRef, useState } from 'react'
import { useStore } from 'zustand'
import type { CurveSpec } from '../../ui/curve-specs'
import { DURATIONS } from '../../ui/durations'
import { Help } from '../../ui/Help'
import { writeCurve } from '../../ui/metrics'
import { later } from '../../ui/later'
import { S } from '../../ui/strings'
import { useNear } from '../../ui/useNear'
import type { CurveFocusStore } from './focus-store'
import { Overlay } from './Overlay'
import { nameRoom, PLOT } from './plot'
import { type CurveLine, type CurveView, type DrawnRun, nearest, type ViewOptions, viewOf } from './series'

const Chart = memo(later(async () => (await import('./Chart')).default))
const C = S.curves

interface CurveFigureProps {
  spec: CurveSpec
  /** Place among the drawn curves. */
  index: number
  /** Drawn runs, and which of them is the present one; -1 while it is hidden or has no step. */
  runs: readonly DrawnRun[]
  present: number
  options: ViewOptions
  /** Step that is looked at. */
  marked: number | null
  focus: CurveFocusStore
  onPick: (step: number) => void
}

export function CurveFigure({ spec, index, runs, present, options, marked, focus, onPick }: CurveFigureProps) {
  const described = useId()
  const plot = useRef<HTMLDivElement>(null)
  const near = useNear(plot)
  const newest = useMemo(() => viewOf(spec, runs, present, options), [spec, runs, present, options])
  const view = useLate(newest, index * DURATIONS.nextChart)
  const { lines, rows, leftOut, scale, stacked } = view
  const points = runs[present] ? (lines[0]?.values.filter((value) => value !== null).length ?? 0) : 0
  const measured = lines.some(({ values }) => values.some((value) => value !== null))
  const inView = rows.some(({ y }) => y.some((value) => value !== null))
  const why = runs.every(({ history }) => history.length === 0) ? C.empty : !measured ? C.noValues : leftOut > 0 ? C.nothingOnLog : C.noneInRange
  const right = lines.length > 1 && !stacked ? nameRoom(lines.map(({ label }) => label)) : PLOT.right
  const notes = [leftOut > 0 && C.logOut(leftOut), options.log && stacked && C.logStacked, stacked && runs.length > 1 && C.stackedOthers].filter((note) => note !== false)
  return (
    <figure className="curve" data-testid={spec.id === 'reward' ? 'reward-curve' : `curve-${spec.id}`} data-curve-figure={spec.id} data-points={points}>
      <figcaption>
        <span className="curve-name">
          <span title={spec.id}>{spec.label}</span>
          <Help of={`metric:${spec.id}`} name={spec.label} />
        </span>
        <Reading view={view} focus={focus} />
      </figcaption>
      <div className="plot" ref={plot}>
        {!measured || !inView ? (
          <p className="empty">{why}</p>
        ) : (
          <>
            {near && <Chart view={view} right={right} />}
            <Overlay id={spec.id} label={spec.label} view={view} runs={runs} present={present} right={right} scale={scale} marked={marked} focus={focus} describedBy={described} onPick={onPick} />
          </>
        )}
      </div>
      {stacked && measured && <StackLegend lines={lines} focus={focus} />}
      {notes.length > 0 && <p className="note">{notes.join(' · ')}</p>}
      <p id={described} className="sr-only">
        {summaryOf(spec, lines, runs)} {C.keys}
      </p>
    </figure>
  )
}

/** The newest value, so many ms later: charts that follow each other let the page paint in between. */
function useLate<T>(value: T, ms: number): T {
  const [shown, setShown] = useState(value)
  useEffect(() => {
    if (ms === 0) return
    const timer = setTimeout(() => setShown(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return ms === 0 ? value : shown
}

/** The newest value, or the one at the place that is pointed at. */
function Reading({ view: { lines, stacked }, focus }: { view: CurveView; focus: CurveFocusStore }) {
  const hover = useStore(focus, (state) => state.hover)
  const line = lines[0]
  if (stacked || !line) return null
  const i = hover === null ? line.values.findLastIndex((value) => value !== null) : nearest(line.places, hover)
  return <span className="curve-reading">{writeCurve(line.metric, line.values[i])}</span>
}

function StackLegend({ lines, focus }: { lines: readonly CurveLine[]; focus: CurveFocusStore }) {
  const hover = useStore(focus, (state) => state.hover)
  return (
    <ul className="stack-legend">
      {lines.map(({ label, metric, color, values, places }) => (
        <li key={metric}>
          <span className="swatch" style={{ background: color }} aria-hidden="true" />
          {label} {writeCurve(metric, hover === null ? values.at(-1) : values[nearest(places, hover)])}
        </li>
      ))}
    </ul>
  )
}

/** First, last, lowest and highest of each line of the present run; the last of every other run. */
export function summaryOf(spec: CurveSpec, lines: readonly CurveLine[], runs: readonly DrawnRun[]): string {
  return lines
    .flatMap(({ run, metric, label, values }, i) => {
      const measured = values.filter((value) => value !== null)
      if (measured.length === 0) return []
      const write = (value: number | undefined) => writeCurve(metric, value)
      if (i > 0 && run !== lines[0]?.run) return [C.othersSummary(runs[run]?.name ?? label, write(measured.at(-1)))]
      const name = i === 0 && !spec.stacked ? spec.label : `${spec.label}, ${label}`
      return [C.summary(name, values.length, write(measured[0]), write(measured.at(-1)), write(Math.min(...measured)), write(Math.max(...measured)))]
    })
    .join(' ')
}
