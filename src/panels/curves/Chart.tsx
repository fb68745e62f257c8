/** The lines of one curve by recharts; its own chunk, so that the page is there before the chart library. What moves with the pointer is not drawn here. */

import { Area, CartesianGrid, ComposedChart, ErrorBar, Line, ResponsiveContainer, XAxis, YAxis } from 'recharts'
import { PLOT } from './plot'
import type { Tick } from './scale'
import type { CurveView, Row } from './series'

// All our ticks, which have room: recharts would measure each label in the page, which lays the whole page out anew.
const AXIS = { stroke: 'var(--rule)', tick: { fill: 'var(--muted)', fontSize: 11 }, tickLine: false, type: 'number', allowDataOverflow: true, interval: 0 } as const
const STILL = { type: 'linear', isAnimationActive: false, connectNulls: false, activeDot: false } as const
/** Of so few points every one is marked. */
const FEW = 2

interface ChartProps {
  view: CurveView
  /** Room for the labels at the lines' ends. */
  right: number
}

export default function Chart({ view: { rows, lines, scale, stacked, smoothed }, right }: ChartProps) {
  const few = rows.length <= FEW
  return (
    <ResponsiveContainer width="100%" height="100%">
      <ComposedChart data={rows} margin={{ top: PLOT.top, right, bottom: 0, left: 0 }} accessibilityLayer={false}>
        <CartesianGrid stroke="var(--rule)" vertical={false} strokeWidth={0.5} syncWithTicks />
        <XAxis dataKey="x" domain={[...scale.x]} ticks={placesOf(scale.xTicks)} tickFormatter={labelOf(scale.xTicks)} {...AXIS} axisLine={false} height={PLOT.bottom} />
        <YAxis width={PLOT.left} domain={[...scale.y]} ticks={placesOf(scale.yTicks)} tickFormatter={labelOf(scale.yTicks)} {...AXIS} axisLine={false} />
        {rows.some(({ band }) => band !== null) && <Area {...STILL} dataKey="band" stroke="none" fill="var(--accent)" fillOpacity={0.14} dot={false} />}
        {smoothed && !stacked && lines.map(({ metric, run, color }, i) => <Line key={`raw ${run} ${metric}`} {...STILL} dataKey={(row: Row) => row.raw[i]} stroke={color} strokeOpacity={0.3} strokeWidth={1} dot={false} />)}
        {lines.map(({ metric, run, color, dash, intervals }, i) => {
          const key = `${run} ${metric}`
          if (intervals) {
            return (
              <Line
                key={key}
                {...STILL}
                dataKey={(row: Row) => row.y[i]}
                stroke={color}
                strokeWidth={1}
                strokeOpacity={0.6}
                dot={({ cx, cy, index }) => (rows[index]?.whiskers[i] ? <circle key={index} cx={cx} cy={cy} r={3} fill={color} stroke="var(--ground)" /> : <g key={index} />)}
              >
                <ErrorBar dataKey={(row: Row) => spread(row, i)} direction="y" width={3} stroke={color} strokeWidth={1.25} isAnimationActive={false} />
              </Line>
            )
          }
          if (stacked) return <Area key={key} {...STILL} stackId="shares" dataKey={(row: Row) => row.y[i]} stroke="var(--ground)" strokeWidth={0.5} fill={color} fillOpacity={1} dot={false} />
          const dots = few || rows.some(({ lone }) => lone.includes(i))
          return (
            <Line
              key={key}
              {...STILL}
              dataKey={(row: Row) => row.y[i]}
              stroke={color}
              strokeWidth={i === 0 ? 1.75 : 1.5}
              strokeDasharray={dash || undefined}
              dot={
                dots
                  ? ({ cx, cy, index }) => (few || rows[index]?.lone.includes(i) ? <circle key={index} cx={cx} cy={cy} r={2.5} fill={color} /> : <g key={index} />)
                  : false
              }
            />
          )
        })}
      </ComposedChart>
    </ResponsiveContainer>
  )
}

const placesOf = (ticks: readonly Tick[]) => ticks.map(({ at }) => at)
const labelOf = (ticks: readonly Tick[]) => (at: number) => ticks.find((tick) => tick.at === at)?.label ?? ''

/** How far the interval of an evaluation reaches below and above its value; null where there is none. */
function spread({ y, whiskers }: Row, i: number): [number, number] | null {
  const [value, ends] = [y[i], whiskers[i]]
  return value == null || !ends || ends[0] === ends[1] ? null : [value - ends[0], ends[1] - value]
}
