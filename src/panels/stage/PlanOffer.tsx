/** The other way to a stage: planned, so that the run makes it by itself; offered while the run has no plan. */

import { STAGE_KINDS } from '../../core/stage'
import { useHidden, useRun } from '../../store/hooks'
import { Help } from '../../ui/Help'
import { STAGE_STRINGS as W } from '../../ui/stage-strings'
import { usePlan, usePlanActions } from '../plan/usePlan'
import { useRandomly } from '../plan/useRandomly'

export function PlanOffer() {
  const desk = usePlanActions()
  const { plan } = usePlan()
  const recording = useRun((view) => view.recording !== null)
  const hidden = useHidden('plan')
  const randomly = useRandomly()
  if (plan.length > 0 || recording || hidden) return null
  return (
    <div className="stage-plan">
      {[W.ways.hand, W.ways.planned].map(({ name, says }) => (
        <p key={name}>
          <strong>{name}</strong> {says}
        </p>
      ))}
      <div className="stage-buttons">
        <span className="titled">
          {W.plan} <Help of={W.plan} text={W.planHelp} />
        </span>
        {STAGE_KINDS.map((kind) => (
          <button key={kind} type="button" className="button small" data-testid={`stage-plan-${kind}`} onClick={() => desk.add(kind, randomly)}>
            {W.kinds[kind]}
          </button>
        ))}
      </div>
    </div>
  )
}
