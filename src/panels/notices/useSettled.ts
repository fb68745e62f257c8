/** Whether the failure that the run stopped with is of a model that is not chosen any more. */

import { useModels, useRun, useSetup } from '../../store/hooks'
import { weightsKey } from '../../store/model-settings'
import { inspectionOf } from '../../store/model-store'
import { isBroken } from '../../store/view'

/** True for a loading that failed, once other weights were chosen and looked up fine: its sentence would be read as theirs. */
export function useSettled(): boolean {
  const ended = useRun(({ run }) => isBroken(run))
  const config = useSetup((s) => s.config)
  const others = useSetup(({ applied }) => applied !== null && weightsKey(applied) !== weightsKey(config))
  const found = useModels((s) => inspectionOf(s, config)?.result?.ok ?? false)
  return ended && others && found
}
