/** The run's plan of stages, where it has one; it comes when it is wanted, into room that is kept for it. */

import { useRun, useSetup } from '../../store/hooks'
import { later } from '../../ui/later'
import '../../ui/plan.css'
import { shownPlan } from './plan-view'

const Plan = later(() => import('./Plan').then((part) => part.Plan))

export function PlanPanel() {
  const controls = useSetup(({ config }) => config)
  const applied = useSetup((setup) => setup.applied)
  const recorded = useRun((view) => view.recorded)
  const stages = useRun((view) => view.stages)
  const plan = shownPlan(controls, applied, { recorded, stages })
  return plan.length === 0 ? null : (
    <div className="plan-room">
      <Plan plan={plan} />
    </div>
  )
}
