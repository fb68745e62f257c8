/** The lanes of one step with a sentence on what it spends its time on, their shares, and the same as a table. */

import { useState } from 'react'
import type { StepSummary } from '../../core/run-record'
import { useSelection, useShown, useStores } from '../../store/hooks'
import { Segmented } from '../../ui/Segmented'
import { number } from '../../ui/format'
import { S } from '../../ui/strings'
import { Lanes } from './Lanes'
import { LaneTable } from './LaneTable'
import { Legend, Patterns } from './Legend'
import { inWords } from './sentence'
import { useTimeline } from './useTimeline'

const T = S.timeline

export function TimelineView() {
  const timeline = useTimeline()
  const [table, setTable] = useState(false)
  const { step, gone, spans, shares, sentence, finished, recorded, took, total } = timeline
  if (!shares) {
    const why = gone !== null ? T.gone(gone) : finished ? T.none : T.loading
    return <p className="empty">{why}</p>
  }
  return (
    <>
      <Patterns />
      <p className="timeline-sentence" data-testid="bottleneck">
        {sentence}
      </p>
      <div className="timeline-tools">
        <Steps shown={step} />
        <Speed of={timeline.measured} />
        <button type="button" className="button small" data-testid="timeline-table" aria-pressed={table} onClick={() => setTable(!table)}>
          {table ? T.chart : T.table}
        </button>
      </div>
      {table ? (
        <LaneTable spans={spans} slots={shares.slots} total={took} />
      ) : (
        <Lanes key={step} spans={spans} groupSize={timeline.groupSize} slots={shares.slots} total={total} summary={T.summary(sentence, inWords(shares))} />
      )}
      <Legend shares={shares} note={recorded ? T.recorded : finished ? T.total(took) : T.live} />
    </>
  )
}

/** The steps whose lanes are kept; the newest is followed. */
function Steps({ shown }: { shown: number | null }) {
  const { selection } = useStores()
  const following = useSelection((s) => s.step === null)
  const kept = useShown((view) => view.steps.map(({ step }) => step).join(' '))
  const options = kept.split(' ')
  const names = Object.fromEntries(options.map((option) => [option, option]))
  const newest = options.at(-1)
  return (
    <span className="timeline-steps">
      <span aria-hidden="true">{T.steps}</span>
      <Segmented
        id="timeline-step"
        label={T.steps}
        options={options}
        names={names}
        value={following ? (newest ?? '') : String(shown)}
        onChange={(option) => selection.setState({ step: option === newest ? null : Number(option), token: null })}
      />
    </span>
  )
}

function Speed({ of }: { of: StepSummary | undefined }) {
  const rows = (['sampling', 'training'] as const).map((phase) => ({ phase, value: of?.metrics[`tokens_per_second/${phase}`] ?? null }))
  return (
    <dl className="timeline-speed">
      {rows.map(({ phase, value }) => (
        <div key={phase} title={of && T.measured(`tokens_per_second/${phase}`, of.step)}>
          <dt>{T.speed[phase]}</dt>
          <dd>
            {number(value)} <span className="unit">{T.speed.unit}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}
