/** The store of the stages, for the panel's parts. */

import { useStore } from 'zustand'
import { useStores } from '../../store/hooks'
import { type Stage, stageOf, type StageView } from '../../store/stage-store'

export function useStageActions(): Stage {
  const { worker, setup } = useStores()
  return stageOf(worker, setup.getState().config.model)
}

export function useStage<T>(selector: (view: StageView) => T): T {
  return useStore(useStageActions().store, selector)
}
