/** The episode that the pointer or the keyboard rests on, wherever it stands: whatever carries `data-episode` belongs to one. */

import { useEffect } from 'react'
import { useStores } from '../../store/hooks'
import type { SelectionStore } from '../../store/selection-store'

/** Index of the episode that an element belongs to; null for none. */
export function episodeAt(target: EventTarget | null): number | null {
  const element = target instanceof Element ? target.closest<HTMLElement>('[data-episode]') : null
  const index = Number(element?.dataset['episode'] ?? Number.NaN)
  return Number.isInteger(index) && index >= 0 ? index : null
}

function followPointing(selection: SelectionStore): () => void {
  const point = (pointed: number | null) => {
    if ((selection.getState().pointed ?? null) !== pointed) selection.setState({ pointed })
  }
  const onOver = (event: Event) => point(episodeAt(event.target))
  const onLeave = () => point(episodeAt(document.activeElement))
  document.addEventListener('pointerover', onOver)
  document.addEventListener('focusin', onOver)
  document.documentElement.addEventListener('pointerleave', onLeave)
  return () => {
    document.removeEventListener('pointerover', onOver)
    document.removeEventListener('focusin', onOver)
    document.documentElement.removeEventListener('pointerleave', onLeave)
  }
}

/** One listener for the whole page, as long as the group is drawn. */
export function usePointing(): void {
  const { selection } = useStores()
  useEffect(() => followPointing(selection), [selection])
}
