/** The lanes as a picture: one path for each kind of span, and one button that stands on the span that is pointed at. */

import { type KeyboardEvent, type MouseEvent, type PointerEvent, useMemo, useRef, useState } from 'react'
import { ticks } from '../../core/ticks'
import { TRAINER, type SpanKind, type TimelineSpan } from '../../core/timeline'
import { useSelection, useStores } from '../../store/hooks'
import { S } from '../../ui/strings'
import { type Box, boxOf, type Layout, nextSpan, pathOf, pitch, type Place, placeAt, placeOf, spanAt } from './geometry'
import { FILLS } from './Legend'
import { selectSpan } from './select-span'
import { useWidth } from './useWidth'

const T = S.timeline
const KINDS = Object.keys(FILLS) as SpanKind[]

/** Px: of the lanes, of the numbers below them, of the names beside them. */
const HEIGHT = 240
const AXIS = 18
const GUTTER = 58
/** A span this near to the pointer is meant, px. */
const REACH = 3

interface LanesProps {
  spans: readonly TimelineSpan[]
  slots: number
  /** Ms that the width stands for. */
  total: number
  /** Episodes of a group. */
  groupSize: number
  summary: string
}

export function Lanes({ spans, slots, total, groupSize, summary }: LanesProps) {
  const stores = useStores()
  const plot = useRef<HTMLDivElement>(null)
  const width = Math.max(1, useWidth(plot) - GUTTER)
  const layout = useMemo<Layout>(() => ({ width, height: HEIGHT, slots, total }), [width, slots, total])
  const [place, setPlace] = useState<Place | null>(null)
  const first = spans[0]
  const pointed = place && spanAt(spans, place, (REACH * total) / width)
  const shown = pointed ?? first

  const placeUnder = ({ clientX, clientY }: MouseEvent) => {
    const box = plot.current?.getBoundingClientRect()
    return placeAt(clientX - (box?.left ?? 0) - GUTTER, clientY - (box?.top ?? 0), layout)
  }
  const onMove = (event: PointerEvent) => {
    if (event.pointerType !== 'touch') setPlace(placeUnder(event))
  }
  const onClick = (event: MouseEvent) => {
    const at = placeUnder(event)
    const span = spanAt(spans, at, (REACH * total) / width)
    setPlace(at)
    if (span) selectSpan(stores, span)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!shown || event.altKey || event.ctrlKey || event.metaKey) return
    const next = nextSpan(spans, shown, event.key, slots)
    if (!next) return
    event.preventDefault()
    setPlace(placeOf(next))
  }
  const box = shown ? boxOf(shown, layout) : null
  return (
    <>
      <div className="timeline-plot" ref={plot} onPointerMove={onMove} onPointerLeave={() => setPlace(null)} onClick={onClick} data-testid="lanes">
        <svg width="100%" height={HEIGHT + AXIS} role="img" aria-label={summary}>
          <Names slots={slots} layout={layout} />
          <g transform={`translate(${GUTTER} 0)`}>
            <Axis layout={layout} />
            <Spans spans={spans} layout={layout} />
          </g>
        </svg>
        {shown && box && (
          <button
            type="button"
            className={pointed ? 'timeline-cursor on' : 'timeline-cursor'}
            style={styleOf(box)}
            aria-label={T.span(shown, groupSize)}
            data-testid="timeline-cursor"
            data-episode={shown.episode >= 0 ? shown.episode : undefined}
            onFocus={() => setPlace((now) => now ?? placeOf(shown))}
            onBlur={() => setPlace(null)}
            onKeyDown={onKeyDown}
            onClick={(event) => {
              event.stopPropagation()
              selectSpan(stores, shown)
            }}
          />
        )}
      </div>
      <p className="timeline-readout" aria-live="polite" data-testid="timeline-readout">
        {pointed ? T.span(pointed, groupSize) : T.hint}
      </p>
    </>
  )
}

const styleOf = ({ x, y, width, height }: Box) => ({ left: GUTTER + x - 2, top: y - 2, width: Math.max(width, 2) + 4, height: height + 4 })

function Spans({ spans, layout }: { spans: readonly TimelineSpan[]; layout: Layout }) {
  const selected = useSelection((s) => s.episode)
  const pointed = useSelection((s) => s.pointed)
  const layers = useMemo(() => {
    const own = spans.filter(({ episode }) => episode === selected)
    const others = spans.filter(({ episode, kind }) => episode !== selected && kind !== 'training')
    const trainer = spans.filter(({ kind }) => kind === 'training')
    return { others: pathsOf(others, layout), own: pathsOf([...own, ...trainer], layout), outline: pathOf(own, layout), some: own.length > 0 }
  }, [spans, layout, selected])
  const outline = useMemo(() => (pointed === null || pointed === selected ? '' : pathOf(spans.filter(({ episode }) => episode === pointed), layout)), [spans, layout, pointed, selected])
  return (
    <>
      <g className={layers.some ? 'spans back' : 'spans'}>
        {layers.others.map(({ kind, path }) => (
          <path key={kind} d={path} fill={FILLS[kind]} />
        ))}
      </g>
      <g className="spans">
        {layers.own.map(({ kind, path }) => (
          <path key={kind} d={path} fill={FILLS[kind]} />
        ))}
      </g>
      <path className="span-outline" d={layers.outline} />
      <path className="span-outline pointed" d={outline} />
    </>
  )
}

const pathsOf = (spans: readonly TimelineSpan[], layout: Layout) => KINDS.map((kind) => ({ kind, path: pathOf(spans.filter((span) => span.kind === kind), layout) }))

function Axis({ layout }: { layout: Layout }) {
  const { width, total } = layout
  const at = ticks(0, total, Math.max(2, Math.min(8, Math.floor(width / 70)))).filter((ms) => ms <= total)
  return (
    <g className="timeline-axis">
      {at.map((ms) => (
        <g key={ms} transform={`translate(${(ms / total) * width} 0)`}>
          <line y2={HEIGHT} />
          <text y={HEIGHT + 14} textAnchor={ms === 0 ? 'start' : ms > total * 0.97 ? 'end' : 'middle'}>
            {T.seconds(ms)}
            {ms === at.at(-1) && ` ${T.unit}`}
          </text>
        </g>
      ))}
    </g>
  )
}

/** Each lane's name where there is room for it, else one for all slots. */
function Names({ slots, layout }: { slots: number; layout: Layout }) {
  const step = pitch(layout)
  const middle = (lane: number) => {
    const { y, height } = boxOf({ lane, start: 0, end: 0, kind: 'training' }, layout)
    return y + height / 2
  }
  return (
    <g className="timeline-names">
      {step >= 12 ? (
        Array.from({ length: slots }, (_, lane) => (
          <text key={lane} y={middle(lane)} dominantBaseline="central">
            {T.slot(lane)}
          </text>
        ))
      ) : (
        <text y={8} dominantBaseline="central">
          {T.slots(slots)}
        </text>
      )}
      <text y={middle(TRAINER)} dominantBaseline="central">
        {T.trainer}
      </text>
    </g>
  )
}
