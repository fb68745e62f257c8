/** One curve by recharts; its own chunk, so that the page is there before the chart library. */

import { memo } from 'react'
import { Area, CartesianGrid, ComposedChart, Line, ReferenceLine, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import { number } from '../../ui/format'
import { writeCurve } from '../../ui/metrics'
import { S } from '../../ui/strings'
import type { Domain, Point } from './series'

interface ChartProps {
  name: string
  points: Point[]
  /** How the lines of other runs look, in the order of `others` in the points. */
  others: readonly { id: string; name: string; color: string; dash: string }[]
  domain: Domain | null
  /** Step that is looked at. */
  marked: number | null
  onPick: (step: number) => void
}

const AXIS = { stroke: 'var(--rule)', tick: { fill: 'var(--muted)', fontSize: 11 }, tickLine: false }

export default memo(function Chart({ name, points, others, domain, marked, onPick }: ChartProps) {
  return (
    <ResponsiveContainer width="100%" height="100%">
      <ComposedChart
        data={points}
        margin={{ top: 6, right: 10, bottom: 0, left: 0 }}
        accessibilityLayer={false}
        onClick={(state) => {
          const step = Number(state.activeLabel)
          if (state.activeLabel !== undefined && Number.isFinite(step)) onPick(step)
        }}
      >
        <CartesianGrid stroke="var(--rule)" vertical={false} strokeWidth={0.5} />
        <XAxis dataKey="step" type="number" domain={['dataMin', 'dataMax']} allowDecimals={false} {...AXIS} minTickGap={24} height={20} />
        <YAxis width={46} domain={domain ?? ['auto', 'auto']} tickFormatter={shortTick} {...AXIS} axisLine={false} tickCount={5} />
        {name === 'reward' && (
          <Area
            dataKey="range"
            type="linear"
            stroke="none"
            fill="var(--accent)"
            fillOpacity={0.14}
            dot={false}
            activeDot={false}
            isAnimationActive={false}
            connectNulls={false}
          />
        )}
        <Line
          dataKey="value"
          type="linear"
          stroke="var(--accent)"
          strokeWidth={1.75}
          dot={points.length < 3 ? { r: 2.5, fill: 'var(--accent)', strokeWidth: 0 } : false}
          activeDot={{ r: 3 }}
          isAnimationActive={false}
          connectNulls={false}
        />
        {others.map(({ id, color, dash }, i) => (
          <Line
            key={id}
            dataKey={(point: Point) => point.others[i] ?? null}
            type="linear"
            stroke={color}
            strokeWidth={1.5}
            strokeDasharray={dash}
            dot={false}
            activeDot={{ r: 3, fill: color }}
            isAnimationActive={false}
            connectNulls={false}
          />
        ))}
        {marked !== null && <ReferenceLine x={marked} stroke="var(--ink)" strokeDasharray="2 2" />}
        <Tooltip
          isAnimationActive={false}
          cursor={{ stroke: 'var(--muted)', strokeWidth: 1 }}
          content={({ active, payload, label }) => {
            const point = payload?.[0]?.payload as Point | undefined
            if (!active || !point) return null
            return (
              <div className="chart-tip">
                {S.curves.step} {label}: {writeCurve(name, point.value)}
                {point.range && ` (${number(point.range[0])} to ${number(point.range[1])})`}
                {others.map(({ id, name: other }, i) => (
                  <div key={id}>
                    {other}: {writeCurve(name, point.others[i])}
                  </div>
                ))}
              </div>
            )
          }}
        />
      </ComposedChart>
    </ResponsiveContainer>
  )
})

/** Axis labels: short, no padding zeros. */
function shortTick(value: number): string {
  return number(value, 2)
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '')
}
