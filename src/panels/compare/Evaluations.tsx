/** What the run's own evaluations say of before and after: the first and the newest, with their intervals. */

import { wilson } from '../../core/interval'
import type { RunEvaluation } from '../../core/evaluation'
import { useShown, useShownGrpo } from '../../store/hooks'
import { EVALUATION_STRINGS as E, type Rate } from '../../ui/evaluation-strings'

export function Evaluations() {
  const evaluations = useShown((view) => view.evaluations)
  const planned = useShownGrpo().eval_strategy !== 'no'
  const text = sentenceOf(evaluations) ?? (planned ? E.planned : null)
  return text === null ? null : (
    <p className="compare-evaluations" data-testid="compare-evaluations">
      {text}
    </p>
  )
}

/** null for no evaluations. */
function sentenceOf(evaluations: readonly RunEvaluation[]): string | null {
  const [first, last] = [evaluations[0], evaluations.at(-1)]
  if (!first || !last) return null
  const greedy = first.greedy ?? false
  const [before, after] = [rateOf(first), rateOf(last)]
  if (first === last) return E.one(first.split, greedy, before)
  const overlap = before.interval[0] <= after.interval[1] && after.interval[0] <= before.interval[1]
  return [E.two(first.split, greedy, before, after), ...(overlap ? [E.overlap] : [])].join(' ')
}

const rateOf = ({ step, solved, scorable, reward }: RunEvaluation): Rate => ({ step, solved, scorable, reward, interval: wilson(solved, scorable) })
