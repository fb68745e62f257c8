/** The run's plan of stages, where it has one; it comes when it is wanted, into room that is kept for it. */

import { later } from '../../ui/later'
import '../../ui/plan.css'
import { usePlan, usePlanDesk } from './usePlan'

const Plan = later(() => import('./Plan').then((part) => part.Plan))

export function PlanPanel() {
  const { plan, composing } = usePlan()
  const putsBack = usePlanDesk(({ removed }) => removed !== null)
  return plan.length === 0 && !(composing && putsBack) ? null : (
    <div className={composing ? 'plan-room composing' : 'plan-room'} style={{ ['--parts' as string]: plan.length + 1 }}>
      <Plan plan={plan} composing={composing} />
    </div>
  )
}
