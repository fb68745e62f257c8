/** How the comparison that is looked at ended on both sides, and where they part: what there is to see before anything is opened. */

import type { ComparedEpisode, PolicyComparison } from '../../core/examination'
import { number } from '../../ui/format'
import { S } from '../../ui/strings'
import { Evaluations } from './Evaluations'
import { outcomeOfCompared } from './outcome'
import { useComparison } from './useComparison'
import { verdictOn } from './verdict'

const C = S.compare

/** For the closed panel: the ends of both, then the verdict. */
export function Ends() {
  const { comparison } = useComparison()
  if (!comparison) {
    return (
      <>
        <Evaluations />
        <p className="note">{C.closed}</p>
      </>
    )
  }
  const { base, lora, step } = comparison
  return (
    <>
      <Evaluations />
      <p className="compare-ends" data-testid="compare-ends">
        <span>
          {C.before} <Outcome of={base} />
        </span>
        <span aria-hidden="true">→</span>
        <span>
          {C.step(step)} <Outcome of={lora} />
        </span>
      </p>
      <Verdict on={comparison} />
    </>
  )
}

export function Verdict({ on }: { on: PolicyComparison }) {
  return (
    <p className="compare-verdict" data-testid="compare-verdict">
      {verdictOn(on)}
    </p>
  )
}

/** Mark, word and reward. */
export function Outcome({ of }: { of: ComparedEpisode }) {
  const { kind, mark, word, why } = outcomeOfCompared(of)
  return (
    <span className={`outcome ${kind}`} title={why}>
      <span className="mark" aria-hidden="true">
        {mark}
      </span>{' '}
      {word}
      {of.reward !== null && ` · ${S.trajectory.reward} ${number(of.reward)}`}
    </span>
  )
}
