/** How a run's plan stands: whether its run has begun, and what of it Train waits for. Pure. */

import type { RunConfig } from '../core/config'
import { stageRefusal } from '../core/stage-limits'
import { CONTROLS_STRINGS as W } from '../ui/controls-strings'
import { isFresh } from './controller'
import { hasChanges, type RefusedStage, type SetupView } from './setup-store'
import type { RunView } from './view'

/** The run makes its plan, or has made a stage of it: another plan is another run's. */
export function planBegun(applied: Pick<RunConfig, 'stages'> | null, view: RunView): boolean {
  if (view.plan !== null || view.stages.some(({ planned }) => planned !== undefined)) return true
  return applied?.stages !== undefined && !isFresh(view)
}

/** What Train waits for where it would make the plan of the controls; null where nothing stands against it. */
export function planRefusal(setup: SetupView, view: RunView): RefusedStage | null {
  const { config, applied, refusedStages } = setup
  if (!isFresh(view) || (planBegun(applied, view) && !hasChanges(setup))) return null
  const [typed] = refusedStages
  if (typed) return typed
  for (const [i, stage] of (config.stages ?? []).entries()) {
    const why = stageRefusal(stage)
    if (why !== null) return { place: W.stagePlace(stage.kind, i), why }
  }
  return null
}
