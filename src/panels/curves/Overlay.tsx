/** What lies over a chart: the linked crosshair, the marked step, the dragged range, the numbers, and the hands and keys that move them. */

import { type KeyboardEvent, type PointerEvent, useRef } from 'react'
import { useStore } from 'zustand'
import { writeCurve } from '../../ui/metrics'
import { S } from '../../ui/strings'
import type { CurveFocusStore } from './focus-store'
import { moveByKey } from './move'
import { namesOf } from './names'
import { PLOT } from './plot'
import { heightOf, placeAt, type Scale, share } from './scale'
import { type CurveLine, type CurveView, type DrawnRun, nearest } from './series'

const C = S.curves
/** Pixels that a click may slip. */
const SLIP = 5

interface OverlayProps {
  id: string
  label: string
  view: CurveView
  runs: readonly DrawnRun[]
  present: number
  right: number
  scale: Scale
  marked: number | null
  focus: CurveFocusStore
  describedBy: string
  onPick: (step: number) => void
}

export function Overlay({ id, label, view, runs, present, right, scale, marked, focus, describedBy, onPick }: OverlayProps) {
  const { lines, stacked } = view
  const hover = useStore(focus, (state) => state.hover)
  const here = useStore(focus, (state) => state.at === id)
  const drag = useStore(focus, (state) => state.drag)
  const start = useRef<{ x: number; place: number } | null>(null)
  // Without the present run, the points of the first of the others are walked along, and nothing is picked.
  const walked = lines[0]
  const at = walked && hover !== null ? nearest(walked.places, hover) : -1
  const last = walked ? walked.places.length - 1 : 0
  const current = at >= 0 ? at : last
  const stepAt = (i: number) => walked?.steps[i] ?? 0
  const left = (place: number) => `${100 * share(scale.x, place)}%`

  const placeOf = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    return placeAt(scale.x, width > 0 ? (event.clientX - left) / width : 0)
  }
  const point = (place: number | null) => focus.setState({ hover: place, at: place === null ? null : id })
  const pick = (i: number) => {
    if (present >= 0 && walked?.run === present && i >= 0) onPick(stepAt(i))
  }
  const move = (event: PointerEvent<HTMLElement>) => {
    const place = placeOf(event)
    const from = start.current
    focus.setState({ hover: place, at: id, drag: from && Math.abs(event.clientX - from.x) > SLIP ? [Math.min(from.place, place), Math.max(from.place, place)] : null })
  }
  const end = (event: PointerEvent<HTMLElement>) => {
    if (!start.current) return
    const { drag } = focus.getState()
    start.current = null
    focus.setState({ drag: null })
    if (drag) focus.setState({ range: snapped(drag, lines) ?? focus.getState().range })
    else if (walked) pick(nearest(walked.places, placeOf(event)))
  }
  const key = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key === 'Escape' && focus.getState().range !== null) focus.setState({ range: null })
    else if (event.key === 'Enter' || event.key === ' ') pick(current)
    else {
      const to = moveByKey(event.key, current, last)
      if (to === null || !walked) return
      point(walked.places[to] ?? null)
    }
    event.preventDefault()
  }
  const names = namesOf(view, scale)
  const place = walked?.places[at]
  const markedAt = marked === null ? undefined : runs[present] && walked?.run === present ? walked.places[walked.steps.indexOf(marked)] : undefined

  return (
    <div
      className="plot-over"
      style={{ inset: `${PLOT.top}px ${right}px ${PLOT.bottom}px ${PLOT.left}px` }}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-describedby={describedBy}
      aria-orientation="horizontal"
      aria-valuemin={stepAt(0)}
      aria-valuemax={stepAt(last)}
      aria-valuenow={stepAt(current)}
      aria-valuetext={`${C.point(stepAt(current))}: ${lines.map((line) => reading(line, walked?.places[current] ?? null, lines.length > 1 ? spoken(line, runs) : '')).join(', ')}`}
      data-testid={`plot-${id}`}
      onPointerDown={(event) => {
        if (event.button !== 0) return
        start.current = { x: event.clientX, place: placeOf(event) }
        event.currentTarget.setPointerCapture(event.pointerId)
      }}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={() => {
        start.current = null
        focus.setState({ drag: null, hover: null, at: null })
      }}
      onPointerLeave={() => point(null)}
      onDoubleClick={() => focus.setState({ range: null })}
      onKeyDown={key}
      onBlur={() => point(null)}
    >
      {drag && <span className="plot-drag" style={{ left: left(drag[0]), width: `${100 * (share(scale.x, drag[1]) - share(scale.x, drag[0]))}%` }} />}
      {markedAt !== undefined && markedAt >= scale.x[0] && markedAt <= scale.x[1] && <span className="plot-mark" data-testid="plot-mark" style={{ left: left(markedAt) }} />}
      {place !== undefined && place >= scale.x[0] && place <= scale.x[1] && (
        <>
          <span className="plot-cross" style={{ left: left(place) }} />
          {!stacked &&
            lines.map((line) => {
              // Evaluations stand where they were made, not under the pointer.
              if (line.intervals) return null
              const height = heightOf(scale, line.drawn[nearest(line.places, place)] ?? null)
              return height === null ? null : <span key={`${line.run} ${line.metric}`} className="plot-dot" style={{ left: left(place), bottom: `${100 * height}%`, background: line.color }} />
            })}
          {here && (
            <div className={`chart-tip${share(scale.x, place) > 0.5 ? ' before' : ''}`} style={{ left: left(place) }} aria-hidden="true">
              <strong>{C.point(stepAt(at))}</strong>
              {lines.map((line) => (
                <span key={`${line.run} ${line.metric}`}>{reading(line, place, lines.length > 1 ? line.label : '')}</span>
              ))}
            </div>
          )}
        </>
      )}
      {names.map(({ key, name, color, bottom }) => (
        <span key={key} className="plot-name" style={{ bottom: `${100 * bottom}%`, color, inlineSize: right - 8 }} title={name} aria-hidden="true">
          {name}
        </span>
      ))}
    </div>
  )
}

/** The whole name of a run; of a line within one, its own. */
function spoken({ run, label }: CurveLine, runs: readonly DrawnRun[]): string {
  const { name, short } = runs[run] ?? { name: label, short: label }
  return label === short ? name : label
}

/** What a line says at a place: measured, and smoothed where that differs; of evaluations the nearest, with its step and interval. */
function reading(line: CurveLine, place: number | null, name: string): string {
  const i = place === null ? -1 : nearest(line.places, place)
  const [value, drawn] = [line.values[i], line.drawn[i]]
  const write = (number: number | null | undefined) => writeCurve(line.metric, number)
  const [low, high] = line.intervals?.[i] ?? []
  if (line.intervals) return C.ofRun(C.evaluated.at(name, line.steps[i] ?? 0), low === high ? write(value) : C.evaluated.between(write(value), write(low), write(high)))
  const text = `${write(value)}${drawn !== value && drawn != null ? ` (${C.smoothed(write(drawn))})` : ''}`
  return name === '' ? text : C.ofRun(name, text)
}

/** From the first to the last point that was dragged over; null for none. One alone keeps the drawn ends, so that it has room. */
function snapped(drag: readonly [number, number], lines: readonly CurveLine[]): readonly [number, number] | null {
  const inside = lines.flatMap(({ places }) => places.filter((place) => place >= drag[0] && place <= drag[1])).sort((a, b) => a - b)
  const [first, last] = [inside[0], inside.at(-1)]
  if (first === undefined || last === undefined) return null
  return first < last ? [first, last] : drag
}
