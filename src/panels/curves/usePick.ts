/** A step that was clicked in a curve becomes the one that the whole page looks at. */

import { useCallback, useState } from 'react'
import { useSelection, useShown, useStores } from '../../store/hooks'
import { S } from '../../ui/strings'

export interface Pick {
  pick: (step: number) => void
  follow: () => void
  /** What came of it, as a sentence; '' while the newest step is followed. */
  says: string
}

/** A recording has the episodes of every step, so it goes back to a step that it has left behind; a run keeps those of the last few. */
export function usePick(): Pick {
  const { selection, shown, replay } = useStores()
  const step = useSelection((s) => s.step)
  const kept = useShown((view) => step === null || view.steps.some((each) => each.step === step))
  const [back, setBack] = useState<number | null>(null)
  const pick = useCallback(
    (step: number) => {
      const here = shown.getState().steps.some((each) => each.step === step)
      const goesBack = !here && replay.store.getState().state === 'on'
      if (goesBack) {
        replay.pause()
        replay.seek(step)
      }
      setBack(goesBack ? step : null)
      selection.setState({ step, token: null })
    },
    [selection, shown, replay],
  )
  const follow = useCallback(() => selection.setState({ step: null, token: null }), [selection])
  const says = step === null ? '' : !kept ? S.group.gone(step) : back === step ? S.curves.wentBack(step) : S.curves.marked(step)
  return { pick, follow, says }
}
