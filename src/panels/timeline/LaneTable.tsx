/** The lanes as numbers: how long each did what. */

import { TRAINER, type TimelineSpan } from '../../core/timeline'
import { NONE } from '../../ui/format'
import { S } from '../../ui/strings'
import { SHARED } from './sentence'
import { covered } from './shares'

const T = S.timeline

interface LaneTableProps {
  spans: readonly TimelineSpan[]
  slots: number
  /** Ms that the step took. */
  total: number
}

export function LaneTable({ spans, slots, total }: LaneTableProps) {
  const trained = timesOf(spans, TRAINER).get('training') ?? 0
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
          <Row name={T.trainer} times={new Map([['training', trained]])} />
          {Array.from({ length: slots }, (_, slot) => {
            const times = timesOf(spans, slot)
            return <Row key={slot} name={T.slot(slot)} times={times.set('idle', idleOf(spans, slot, total))} />
          })}
        </tbody>
      </table>
    </div>
  )
}

/** A kind that the lane never does has no time. */
function Row({ name, times }: { name: string; times: ReadonlyMap<string, number> }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      {SHARED.map((kind) => {
        const ms = times.get(kind)
        return <td key={kind}>{ms === undefined ? NONE : T.time(ms)}</td>
      })}
    </tr>
  )
}

function timesOf(spans: readonly TimelineSpan[], lane: number): Map<string, number> {
  const took = new Map<string, number>()
  for (const span of spans) if (span.lane === lane) took.set(span.kind, (took.get(span.kind) ?? 0) + span.end - span.start)
  return took
}

/** Ms in which neither the slot nor the trainer did anything. */
const idleOf = (spans: readonly TimelineSpan[], slot: number, total: number): number => Math.max(0, total - covered(spans.filter(({ lane }) => lane === slot || lane === TRAINER)))
