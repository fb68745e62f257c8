/** A step that was clicked in a curve becomes the one that the whole page looks at. */

import { useCallback, useState } from 'react'
import { useReplay, useSelection, useShown, useStores } from '../../store/hooks'
import { S } from '../../ui/strings'

export interface Pick {
  pick: (step: number) => void
  /** Back to the newest step; null while it is what is looked at. */
  follow: (() => void) | null
  /** What came of it, as a sentence; '' while none was picked. */
  says: string
}

/** A recording has the episodes of every step and goes back to the one that is picked; a run keeps those of the last few, and it is said where they are gone. */
export function usePick(): Pick {
  const { selection } = useStores()
  const step = useSelection((s) => s.step)
  const kept = useShown((view) => step === null || view.steps.some((each) => each.step === step))
  const [picked, setPicked] = useState<number | null>(null)
  const back = useReplay(({ state, position }) => state === 'on' && position === picked)
  const pick = useCallback(
    (step: number) => {
      setPicked(step)
      selection.setState({ step, token: null })
    },
    [selection],
  )
  const follow = useCallback(() => selection.setState({ step: null, token: null }), [selection])
  if (step === null) return { pick, follow: null, says: back && picked !== null ? S.curves.wentBack(picked) : '' }
  return { pick, follow, says: kept ? S.curves.marked(step) : S.group.gone(step) }
}
