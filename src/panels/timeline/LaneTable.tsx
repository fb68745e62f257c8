/** The lanes as numbers: how long each did what. */

import { TRAINER, type TimelineSpan } from '../../core/timeline'
import { S } from '../../ui/strings'
import { SHARED } from './sentence'

const T = S.timeline

interface LaneTableProps {
  spans: readonly TimelineSpan[]
  slots: number
  /** Ms that the step took. */
  total: number
}

export function LaneTable({ spans, slots, total }: LaneTableProps) {
  const lanes = [...Array.from({ length: slots }, (_, lane) => lane), TRAINER]
  return (
    <div className="table-scroll timeline-plot" tabIndex={0} role="region" aria-label={T.table}>
      <table data-testid="lane-table">
        <thead>
          <tr>
            <th scope="col">{T.lane}</th>
            {SHARED.map((kind) => (
              <th key={kind} scope="col">
                {T.kinds[kind]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lanes.map((lane) => {
            const took = timesOf(spans, lane)
            const rest = total - [...took.values()].reduce((sum, ms) => sum + ms, 0)
            return (
              <tr key={lane}>
                <th scope="row">{lane === TRAINER ? T.trainer : T.slot(lane)}</th>
                {SHARED.map((kind) => (
                  <td key={kind}>{T.time(kind === 'idle' ? Math.max(0, rest) : (took.get(kind) ?? 0))}</td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

function timesOf(spans: readonly TimelineSpan[], lane: number): Map<string, number> {
  const took = new Map<string, number>()
  for (const span of spans) if (span.lane === lane) took.set(span.kind, (took.get(span.kind) ?? 0) + span.end - span.start)
  return took
}
