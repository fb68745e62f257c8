/** Before and after, opened: the choice, the verdict, both episodes side by side. */

import { Fragment, useMemo } from 'react'
import type { ComparedEpisode, PolicyComparison } from '../../core/examination'
import { useCompare, useRun, useStores } from '../../store/hooks'
import { occupied } from '../../store/occupied'
import { divergingScale, symmetricScale } from '../../ui/colors'
import { S } from '../../ui/strings'
import { ScaleBar } from '../trajectory/Legend'
import { drawnText } from '../trajectory/token-text'
import { Choice } from './Choice'
import { changesOf, partingOf } from './difference'
import { Evaluations } from './Evaluations'
import { Side } from './Side'
import { type ComparisonView, useComparison } from './useComparison'
import { Verdict } from './Verdict'

const C = S.compare
/** A smaller change than this of a log-prob is no colour's whole strength, nats. */
const LEAST_BOUND = 0.1

export function Comparing() {
  const view = useComparison()
  const { comparison, recorded } = view
  return (
    <div className="comparing">
      <Evaluations />
      <div className="compare-controls">
        <Choice {...view} />
        {!recorded && <PlayButton {...view} />}
      </div>
      {recorded ? <Recorded {...view} recorded={recorded} /> : <Status {...view} />}
      {comparison && (
        <>
          <Verdict on={comparison} />
          <Sides comparison={comparison} />
        </>
      )}
    </div>
  )
}

/** What the recording has, or has not, of what is chosen. */
function Recorded({ comparison, recorded: { seeds, steps } }: ComparisonView & { recorded: NonNullable<ComparisonView['recorded']> }) {
  const { display } = useStores()
  const [first = 0] = seeds
  if (comparison) return <p className="note">{C.recorded(listed(steps.filter((step) => step > 0).map(String)))}</p>
  return (
    <p className="note" role="status">
      {C.notRecorded(listed(seeds.map(String)))}{' '}
      <button type="button" className="button small" data-testid="compare-recorded" onClick={() => display.setState(({ compare }) => ({ compare: { ...compare, split: 'heldout', seed: first } }))}>
        {C.showRecorded}
      </button>
    </p>
  )
}

function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}

function PlayButton({ wanted, comparison }: ComparisonView) {
  const { compare } = useStores()
  const busy = useCompare((view) => view.busy !== null)
  const why = useRun(occupied)
  const fromFile = useRun((view) => view.recording !== null)
  return (
    <button type="button" className="button primary" data-testid="compare-play" disabled={busy || why !== null || fromFile} onClick={() => compare.play(wanted)}>
      {comparison ? C.again : C.play}
    </button>
  )
}

/** What is under way, what went wrong, or why nothing can be played and what helps. */
function Status({ comparison }: ComparisonView) {
  const { controller } = useStores()
  const busy = useCompare((view) => view.busy !== null)
  const error = useCompare((view) => view.error)
  const why = useRun(occupied)
  const fromFile = useRun((view) => view.recording !== null)
  const now = useRun((view) => view.history.at(-1)?.step ?? 0)
  const pausing = useRun((view) => view.run.state === 'pausing')
  const text = fromFile ? C.fromFile : busy ? C.playing : why ? C.why[why] : comparison ? (comparison.step === now ? '' : C.older(comparison.step, now)) : C.never
  return (
    <div className="compare-status" role="status" data-testid="compare-status">
      {error !== '' && !busy && <p className="compare-failed">{error}</p>}
      <p className="note">
        {text}{' '}
        {!fromFile && why === 'training' && (
          <button type="button" className="button small" data-testid="compare-pause" disabled={pausing} onClick={controller.pause}>
            {C.pause}
          </button>
        )}
        {!fromFile && why === 'midStep' && (
          <button type="button" className="button small" data-testid="compare-finish" onClick={() => controller.step('step')}>
            {C.finishStep}
          </button>
        )}
      </p>
    </div>
  )
}

/** Once for both: it is the same. */
function Prompt({ of: { texts, authors, promptLength } }: { of: ComparedEpisode }) {
  return (
    <details className="compare-prompt" data-testid="compare-prompt">
      <summary>{C.prompt(promptLength)}</summary>
      <div className="tokens">
        {texts.slice(0, promptLength).map((text, position) => (
          <Fragment key={position}>
            <span className={`token token-${authors[position]} masked`}>{drawnText(text, false)}</span>
            {text.endsWith('\n') && <br />}
          </Fragment>
        ))}
      </div>
    </details>
  )
}

function Sides({ comparison }: { comparison: PolicyComparison }) {
  const { base, lora, step } = comparison
  const scale = useMemo(() => {
    const changes = [...changesOf(base, 'base'), ...changesOf(lora, 'lora')].filter((change) => change !== null)
    return symmetricScale(Math.max(LEAST_BOUND, divergingScale(changes).high))
  }, [base, lora])
  const parting = useMemo(() => partingOf(comparison), [comparison])
  const at = 'at' in parting ? parting.at : parting.kind === 'prompt' ? 0 : null
  return (
    <>
      {parting.kind !== 'prompt' && <Prompt of={base} />}
      <div className="compare-sides">
        <Side who="base" title={C.base} episode={base} scale={scale} parting={at} />
        <Side who="lora" title={`${C.lora}, ${C.step(step)}`} episode={lora} scale={scale} parting={at} />
      </div>
      <p className="heat-legend">
        <ScaleBar scale={scale} />
        <span>{C.legend}</span>
        <span>
          <span className="swatch key-common" /> {C.common}
        </span>
        <span>
          <span className="swatch key-parting" /> {C.first}
        </span>
      </p>
    </>
  )
}
