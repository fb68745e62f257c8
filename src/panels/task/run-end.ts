/** Where a run that has begun ends when max_steps is changed, and what takes that over, in a sentence. */

import { isFresh } from '../../store/controller'
import { hasChanges, onlyEndDiffers, type SetupView } from '../../store/setup-store'
import { isActive, isMidStep, type RunView } from '../../store/view'
import { S } from '../../ui/strings'

/** null where the number says all: before the first step, and where other settings need Reset anyway. */
export function endWords(setup: SetupView, view: RunView): string | null {
  const { config, applied } = setup
  if (!applied || view.recording !== null || isFresh(view) || (hasChanges(setup) && !onlyEndDiffers(setup))) return null
  const wanted = config.grpo.max_steps
  const now = applied.grpo.max_steps
  const done = view.history.at(-1)?.step ?? 0
  const { end } = S.task
  if (isActive(view.run)) return wanted !== now ? end.untilLeft(now, wanted) : wanted <= done ? end.thisStep : null
  if (wanted === now || wanted > done) return null
  if (view.run.state === 'finished') return end.over(done)
  return isMidStep(view) ? end.resumeStep(done) : end.resume(done)
}
