/** Whether a dry run can begin now, and how: with the settings as they are, or after they were taken over. */

import { isFresh } from '../../store/controller'
import { needsLoad } from '../../store/model-settings'
import { hasChanges, type SetupView } from '../../store/setup-store'
import { isActive, isMidStep, type RunView } from '../../store/view'
import { GUARD_STRINGS } from '../../ui/guard-strings'

const W = GUARD_STRINGS.dry.blocked

/** `why`: a sentence, null where it can begin. `configure`: the settings must be taken over first, which loses nothing. */
export function readiness(setup: SetupView, view: RunView): { why: string | null; configure: boolean } {
  const no = (why: string) => ({ why, configure: false })
  if (setup.awaitsConsent) return no(W.consent)
  if (view.recording !== null) return no(W.recording)
  if (isActive(view.run)) return no(W.active)
  if (isMidStep(view)) return no(W.midStep)
  const changed = setup.applied === null || hasChanges(setup)
  if (changed && needsLoad(setup)) return no(W.load)
  if (changed && !isFresh(view)) return no(W.changed)
  if (view.run.state === 'loading' && view.engine === null) return no(W.loading)
  return { why: null, configure: changed }
}
