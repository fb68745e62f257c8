/** The plan that is on the page, whether it can be changed, and the desk where that is done. */

import { useStore } from 'zustand'
import type { PlannedStage } from '../../core/stage'
import { useRun, useSetup, useStores } from '../../store/hooks'
import { type PlanDesk, planDeskOf, type PlanDeskView } from '../../store/plan-desk'
import { planBegun } from '../../store/plan-state'
import { shownPlan } from './plan-view'

/** `composing`: it is that of the controls, and no run has begun with it. */
export function usePlan(): { plan: readonly PlannedStage[]; composing: boolean } {
  const controls = useSetup(({ config }) => config)
  const applied = useSetup((setup) => setup.applied)
  const recorded = useRun((view) => view.recorded)
  const begun = useRun((view) => planBegun(applied, view))
  return { plan: shownPlan(controls, applied, { recorded, begun }), composing: recorded === null && !begun }
}

export function usePlanActions(): PlanDesk {
  const { setup, controller } = useStores()
  return planDeskOf(setup, controller)
}

export function usePlanDesk<T>(selector: (view: PlanDeskView) => T): T {
  return useStore(usePlanActions().store, selector)
}
