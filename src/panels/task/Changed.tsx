/** That the controls differ from what the run has: when that takes hold, and how it is taken back. */

import { isFresh } from '../../store/controller'
import { useRun, useSetup, useStores } from '../../store/hooks'
import { needsLoad } from '../../store/model-settings'
import { onlyEndDiffers } from '../../store/setup-store'
import { S } from '../../ui/strings'

interface ChangedProps {
  testId: string
  undoId: string
}

export function Changed({ testId, undoId }: ChangedProps) {
  const { controller } = useStores()
  const waits = useSetup(needsLoad)
  const fresh = useRun(isFresh)
  const onlyEnd = useSetup(onlyEndDiffers)
  return (
    <p className="changed" data-testid={testId}>
      {waits ? S.task.changedModel : fresh ? S.task.changedFresh : onlyEnd ? S.task.changedEnd : S.task.changed}{' '}
      <button type="button" className="link" data-testid={undoId} title={S.task.undoHint} onClick={controller.revert}>
        {S.task.undo}
      </button>
    </p>
  )
}
