/** Composing a plan: what is open, what was removed and can be put back, where the keyboard goes next. The plan itself is a setting of the run. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import type { PlannedStage, StageKind } from '../core/stage'
import { MOST_STAGES } from '../core/stage-limits'
import type { Controller } from './controller'
import { firstStage, movedStage, withoutStage, withStage, withStages } from './planned'
import type { SetupStore } from './setup-store'

export interface PlanDeskView {
  /** Key of the stage whose editor is open; null for none. */
  open: number | null
  /** The stage that was removed last; null where there is none. */
  removed: { at: number; stage: PlannedStage } | null
  /** Test ids: the first of them that is there and can be pressed takes the focus. */
  wanted: readonly string[]
}

export interface PlanDesk {
  readonly store: StoreApi<PlanDeskView>
  /** The same for a stage wherever it is moved, and however it is changed here. */
  keyOf(stage: PlannedStage): number
  /** A new stage, last before GRPO, and its editor. `randomly`: the environment's calls can be drawn at random. */
  add(kind: StageKind, randomly: boolean): void
  move(at: number, by: 1 | -1): void
  remove(at: number): void
  putBack(): void
  change(at: number, stage: PlannedStage): void
  toggle(stage: PlannedStage): void
  /** The focus is where it was wanted. */
  arrived(): void
}

const made = new WeakMap<SetupStore, PlanDesk>()

/** The one desk of this page. */
export function planDeskOf(setup: SetupStore, controller: Controller): PlanDesk {
  const desk = made.get(setup) ?? createPlanDesk(setup, controller)
  made.set(setup, desk)
  return desk
}

export function createPlanDesk(setup: SetupStore, { edit }: Pick<Controller, 'edit'>): PlanDesk {
  const store = createStore<PlanDeskView>(() => ({ open: null, removed: null, wanted: [] }))
  const keys = new WeakMap<PlannedStage, number>()
  let last = 0
  const plan = (): readonly PlannedStage[] => setup.getState().config.stages ?? []
  let own = plan()

  /** What was removed from one plan has no place in another. */
  setup.subscribe(() => {
    if (plan() === own || (plan().length === 0 && own.length === 0)) return
    own = plan()
    if (store.getState().removed) store.setState({ removed: null })
  })

  function take(stages: readonly PlannedStage[], next: Partial<PlanDeskView>) {
    const { removed } = store.getState()
    edit((config) => withStages(config, stages))
    store.setState({ removed, wanted: [], ...next })
  }

  function keyOf(stage: PlannedStage): number {
    const key = keys.get(stage) ?? ++last
    keys.set(stage, key)
    return key
  }

  return {
    store,
    keyOf,
    add(kind, randomly) {
      if (plan().length >= MOST_STAGES) return
      const stage = firstStage(kind, setup.getState().config, randomly)
      take([...plan(), stage], { removed: null, open: keyOf(stage), wanted: [`plan-edit-${plan().length}`] })
    },
    move(at, by) {
      const to = at + by
      const [same, other] = by > 0 ? ['later', 'earlier'] : ['earlier', 'later']
      take(movedStage(plan(), at, to), { wanted: [`plan-${same}-${to}`, `plan-${other}-${to}`] })
    },
    remove(at) {
      const stage = plan()[at]
      if (stage) take(withoutStage(plan(), at), { removed: { at, stage }, wanted: ['plan-put-back'] })
    },
    putBack() {
      const { removed } = store.getState()
      if (!removed || plan().length >= MOST_STAGES) return
      const at = Math.min(removed.at, plan().length)
      take(withStage(plan(), at, removed.stage), { removed: null, wanted: [`plan-edit-${at}`] })
    },
    change(at, stage) {
      const before = plan()[at]
      if (!before) return
      keys.set(stage, keyOf(before))
      take(plan().map((each, i) => (i === at ? stage : each)), {})
    },
    toggle(stage) {
      const key = keyOf(stage)
      store.setState(({ open }) => ({ open: open === key ? null : key }))
    },
    arrived: () => store.setState({ wanted: [] }),
  }
}
