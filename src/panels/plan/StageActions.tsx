/** What can be done with a planned stage before its run: edit it, move it, remove it. */

import type { PlannedStage } from '../../core/stage'
import { PLAN_STRINGS as W } from '../../ui/plan-strings'
import { usePlanActions, usePlanDesk } from './usePlan'

interface StageActionsProps {
  stage: PlannedStage
  at: number
  /** No stage comes after it but GRPO. */
  last: boolean
  /** Why it would be refused, as half a sentence. */
  why: string | null
}

export function StageActions({ stage, at, last, why }: StageActionsProps) {
  const desk = usePlanActions()
  const open = usePlanDesk((view) => view.open === desk.keyOf(stage))
  const name = W.stageName(stage.kind, at)
  const button = (what: 'earlier' | 'later' | 'remove', disabled: boolean, press: () => void) => (
    <button type="button" className="button small" data-testid={`plan-${what}-${at}`} aria-label={`${W[what]}: ${name}`} title={W.actionHints[what]} disabled={disabled} onClick={press}>
      {W[what]}
    </button>
  )
  return (
    <div className="plan-actions" role="group" aria-label={name}>
      <button type="button" className="button small" data-testid={`plan-edit-${at}`} aria-label={`${open ? W.done : W.edit}: ${name}`} aria-expanded={open} onClick={() => desk.toggle(stage)}>
        {open ? W.done : W.edit}
      </button>
      {button('earlier', at === 0, () => desk.move(at, -1))}
      {button('later', last, () => desk.move(at, 1))}
      {button('remove', false, () => desk.remove(at))}
      {why !== null && (
        <p className="why" data-testid={`plan-why-${at}`}>
          {W.refused(why)}
        </p>
      )}
    </div>
  )
}
