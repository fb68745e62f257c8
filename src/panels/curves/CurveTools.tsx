/** How all curves are drawn: smoothing, scale, axis, range; and which step is looked at. */

import { useEffect, useId, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { CURVE_AXES, type CurveAxis } from '../../store/display'
import { useDisplay, useStores } from '../../store/hooks'
import { plain } from '../../ui/format'
import { Help } from '../../ui/Help'
import { Segmented } from '../../ui/Segmented'
import { S } from '../../ui/strings'
import { Switch } from '../../ui/Switch'
import { type CurveFocusStore, readRange } from './focus-store'
import type { Pick } from './usePick'

const C = S.curves
/** Of the smoothing slider; the link refuses more. */
const MOST = 0.99

interface CurveToolsProps {
  /** What the curves run over now. */
  axis: CurveAxis
  /** Whether the drawn runs tell their times. */
  timed: boolean
  full: readonly [number, number]
  focus: CurveFocusStore
  pick: Pick
}

export function CurveTools({ axis, timed, full, focus, pick }: CurveToolsProps) {
  const { display } = useStores()
  const smoothing = useDisplay((d) => d.smoothing)
  const log = useDisplay((d) => d.log)
  const wanted = useDisplay((d) => d.axis)
  const slider = useId()
  const across = (axis: CurveAxis) => {
    display.setState({ axis })
    focus.setState({ range: null, hover: null })
  }
  return (
    <div className="curve-tools">
      <div className="curve-tool">
        <label htmlFor={slider}>{C.smoothing}</label>
        <input
          id={slider}
          type="range"
          data-testid="curves-smoothing"
          min={0}
          max={MOST}
          step={0.01}
          value={smoothing}
          onChange={(event) => display.setState({ smoothing: Number(event.target.value) })}
        />
        <span className="curve-number">{smoothing.toFixed(2)}</span>
        <Help of="view:smoothing" name={C.smoothing} />
      </div>
      <div className="curve-tool">
        <Switch id="curves-log" label={C.log} on={log} onChange={(log) => display.setState({ log })} />
        <Help of="view:log" name={C.log} />
      </div>
      <div className="curve-tool">
        <span aria-hidden="true">{C.axis}</span>
        <Segmented id="curves-axis" label={C.axis} options={CURVE_AXES} names={C.axes} value={wanted} onChange={across} />
        <Help of="view:axis" name={C.axis} />
      </div>
      <Range key={axis} axis={axis} full={full} focus={focus} />
      <p className="curve-says note" role="status" data-testid="curves-says">
        {[wanted === 'time' && !timed && C.noTime, pick.says].filter(Boolean).join(' ')}
        {pick.follow && (
          <button type="button" className="link" data-testid="curves-follow" onClick={pick.follow}>
            {C.newestStep}
          </button>
        )}
      </p>
    </div>
  )
}

/** The part of the axis that all charts show, as two numbers: what dragging does, by keyboard. */
function Range({ axis, full, focus }: { axis: CurveAxis; full: readonly [number, number]; focus: CurveFocusStore }) {
  const range = useStore(focus, (state) => state.range)
  const [text, setText] = useState<readonly [string, string]>(['', ''])
  const [problem, setProblem] = useState('')
  const problemId = useId()
  const own = useRef(range)
  useEffect(() => {
    // An end that was left empty stays so: the person may be on the way to it.
    if (range === own.current) return
    own.current = range
    setText(range === null ? ['', ''] : [short(range[0]), short(range[1])])
    setProblem('')
  }, [range])
  // The drawn range follows when the field is left, so that a number can be written digit by digit.
  const take = () => {
    const [from, to] = text
    const empty = from.trim() === '' && to.trim() === ''
    const read = empty ? null : readRange(from, to, full)
    setProblem(read === null && !empty ? C.badRange(from || short(full[0]), to || short(full[1])) : '')
    if (read === null && !empty) return
    own.current = read
    focus.setState({ range: read })
  }
  const field = (i: 0 | 1, label: string) => (
    <input
      type="text"
      inputMode="decimal"
      aria-label={label}
      aria-invalid={problem !== ''}
      aria-describedby={problem === '' ? undefined : problemId}
      data-testid={i === 0 ? 'curves-from' : 'curves-to'}
      placeholder={short(full[i])}
      value={text[i]}
      onChange={(event) => setText(i === 0 ? [event.target.value, text[1]] : [text[0], event.target.value])}
      onFocus={(event) => event.target.select()}
      onBlur={take}
      onKeyDown={(event) => event.key === 'Enter' && take()}
    />
  )
  const unit = axis === 'time' ? ` ${C.seconds}` : ''
  return (
    <div className="curve-tool curve-range" role="group" aria-label={C.range}>
      <span aria-hidden="true">{C.range}</span>
      {field(0, C.fromLabel(C.axes[axis]))}
      <span aria-hidden="true">–</span>
      {field(1, C.toLabel(C.axes[axis]))}
      {unit}
      <button type="button" className="button small" data-testid="curves-all" disabled={range === null} onClick={() => focus.setState({ range: null })}>
        {C.all}
      </button>
      {problem !== '' && (
        <p id={problemId} className="why" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}

/** Without more digits than a place on the axis needs. */
const short = (value: number) => plain(Number(value.toPrecision(4)))
