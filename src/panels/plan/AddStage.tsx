/** Adds a stage to the plan, last before GRPO; and puts back the one that was removed last. */

import { STAGE_KINDS } from '../../core/stage'
import { MOST_STAGES } from '../../core/stage-limits'
import { Help } from '../../ui/Help'
import { PLAN_STRINGS as W } from '../../ui/plan-strings'
import { usePlanActions, usePlanDesk } from './usePlan'
import { useRandomly } from './useRandomly'

export function AddStage({ count }: { count: number }) {
  const desk = usePlanActions()
  const removed = usePlanDesk((view) => view.removed)
  const randomly = useRandomly()
  const full = count >= MOST_STAGES
  return (
    <div className="plan-add" role="group" aria-label={W.add}>
      <span className="titled">
        {W.add} <Help of={W.add} text={W.addHelp} />
      </span>
      {STAGE_KINDS.map((kind) => (
        <button key={kind} type="button" className="button small" data-testid={`plan-add-${kind}`} disabled={full} onClick={() => desk.add(kind, randomly)}>
          {W.kinds[kind]}
        </button>
      ))}
      {removed && !full && (
        <button type="button" className="link" data-testid="plan-put-back" onClick={desk.putBack}>
          {W.putBack(W.stageName(removed.stage.kind, removed.at))}
        </button>
      )}
      {full && <span className="note">{W.full(MOST_STAGES)}</span>}
    </div>
  )
}
