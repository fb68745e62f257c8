/** Why a kept run cannot be loaded at this moment. */

import { useRun, useRuns } from '../../store/hooks'
import { isActive, type RunView } from '../../store/view'
import { S } from '../../ui/strings'

/** A sentence, or null where nothing stands against it. */
export function useResumeBlocked(): string | null {
  const resuming = useRuns((view) => view.resuming !== null)
  const busy = useRun(whyBusy)
  return busy ?? (resuming ? S.runs.blocked.resuming : null)
}

function whyBusy({ run, evaluation }: RunView): string | null {
  if (isActive(run)) return S.runs.blocked.training
  return evaluation ? S.runs.blocked.evaluating : null
}
