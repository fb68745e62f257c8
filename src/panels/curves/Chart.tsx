/** The lines of one curve as an SVG. What moves with the pointer is not drawn here. */

import { type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { areaPath, linePath, type Point, type Project, projection, stackOf } from './lines'
import { PLOT } from './plot'
import type { CurveLine, CurveView, Row } from './series'

/** Of so few points every one is marked. */
const FEW = 2
/** From the plot to its labels, and from the middle of a whisker's end to its tip, px. */
const [LABEL_GAP, TIP] = [8, 3]

interface ChartProps {
  view: CurveView
  /** Room for the labels at the lines' ends. */
  right: number
}

export default function Chart({ view, right }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const [width, height] = useSize(box)
  const [w, h] = [width - PLOT.left - right, height - PLOT.top - PLOT.bottom]
  return (
    <div className="chart-box" ref={box}>
      {w > 0 && h > 0 && (
        <svg className="chart" width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
          <Axes view={view} at={projection(view.scale, w, h)} width={w} height={h} />
          {/* What lies beyond the scale is cut off. */}
          <svg x={PLOT.left} y={PLOT.top} width={w} height={h}>
            <Lines view={view} at={projection(view.scale, w, h)} />
          </svg>
          <g transform={`translate(${PLOT.left} ${PLOT.top})`}>
            <Marks view={view} at={projection(view.scale, w, h)} width={w} height={h} />
          </g>
        </svg>
      )}
    </div>
  )
}

interface Drawn {
  view: CurveView
  at: Project
}
type Placed = Drawn & { width: number; height: number }

function Axes({ view: { scale }, at, width, height }: Placed) {
  const [left, bottom] = [scale.x[0], scale.y[0]]
  return (
    <g transform={`translate(${PLOT.left} ${PLOT.top})`} fill="var(--muted)" fontSize={11}>
      {scale.yTicks.map((tick) => {
        const [, y] = at(left, tick.at)
        return (
          <g key={tick.at}>
            <line x1={0} x2={width} y1={y} y2={y} stroke="var(--rule)" strokeWidth={0.5} />
            <text x={-LABEL_GAP} y={y} dy="0.355em" textAnchor="end">
              {tick.label}
            </text>
          </g>
        )
      })}
      {scale.xTicks.map((tick) => (
        <text key={tick.at} x={at(tick.at, bottom)[0]} y={height + LABEL_GAP} dy="0.71em" textAnchor="middle">
          {tick.label}
        </text>
      ))}
    </g>
  )
}

const keyOf = ({ run, metric }: CurveLine) => `${run} ${metric}`

function Lines({ view: { rows, lines, stacked, smoothed }, at }: Drawn) {
  const points = (values: readonly (number | null | undefined)[]) => rows.map(({ x }, r): Point | null => (values[r] == null ? null : at(x, values[r])))
  const banded = rows.some(({ band }) => band !== null)
  const stack = stacked ? stackOf(rows, lines.length) : []
  return (
    <>
      {banded && <path d={areaPath(points(rows.map(({ band }) => band?.[1])), points(rows.map(({ band }) => band?.[0])))} fill="var(--accent)" fillOpacity={0.14} stroke="none" />}
      {smoothed &&
        !stacked &&
        lines.map((line, i) => <path key={`raw ${keyOf(line)}`} className="chart-line" d={linePath(points(rows.map(({ raw }) => raw[i])))} fill="none" stroke={line.color} strokeOpacity={0.3} strokeWidth={1} />)}
      {lines.map((line, i) => {
        const share = stack[i]
        if (share) {
          const d = areaPath(points(share.map((ends) => ends?.[1])), points(share.map((ends) => ends?.[0])))
          return <path key={keyOf(line)} d={d} fill={line.color} stroke="var(--ground)" strokeWidth={0.5} />
        }
        const look = line.intervals ? { strokeWidth: 1, strokeOpacity: 0.6 } : { strokeWidth: i === 0 ? 1.75 : 1.5, strokeDasharray: line.dash || undefined }
        return <path key={keyOf(line)} className="chart-line" d={linePath(points(rows.map(({ y }) => y[i])))} fill="none" stroke={line.color} {...look} />
      })}
    </>
  )
}

/** Points that are marked: an evaluation's with its interval, one without neighbours, each of few. Whole, also at the plot's end. */
function Marks({ view: { rows, lines, stacked }, at, width, height }: Placed) {
  if (stacked) return null
  const isIn = ([x, y]: Point) => x >= 0 && x <= width && y >= 0 && y <= height
  return lines.map((line, i) => {
    const marked = rows.filter((row) => (line.intervals ? row.whiskers[i] : rows.length <= FEW || row.lone.includes(i)))
    return (
      <g key={keyOf(line)}>
        {marked.map((row) => {
          const value = row.y[i]
          if (value == null) return null
          const place = at(row.x, value)
          if (!isIn(place)) return null
          const [cx, cy] = place
          return (
            <g key={row.x}>
              {line.intervals && <Whisker row={row} i={i} at={at} color={line.color} />}
              <circle cx={cx} cy={cy} r={line.intervals ? 3 : 2.5} fill={line.color} {...(line.intervals && { stroke: 'var(--ground)' })} />
            </g>
          )
        })}
      </g>
    )
  })
}

/** How far the interval of an evaluation reaches below and above its value. */
function Whisker({ row, i, at, color }: { row: Row; i: number; at: Project; color: string }) {
  const ends = row.whiskers[i]
  if (!ends || ends[0] === ends[1]) return null
  const [[x, low], [, high]] = [at(row.x, ends[0]), at(row.x, ends[1])]
  return <path d={`M${x},${low}V${high}M${x - TIP},${low}h${2 * TIP}M${x - TIP},${high}h${2 * TIP}`} fill="none" stroke={color} strokeWidth={1.25} />
}

/** Width and height of an element, px; 0 until they are known. */
function useSize(element: RefObject<HTMLElement | null>): readonly [number, number] {
  const [size, setSize] = useState<readonly [number, number]>([0, 0])
  useLayoutEffect(() => {
    const { current } = element
    if (!current || typeof ResizeObserver === 'undefined') return
    const watch = new ResizeObserver(([entry]) => entry && setSize([entry.contentRect.width, entry.contentRect.height]))
    watch.observe(current)
    return () => watch.disconnect()
  }, [element])
  return size
}
