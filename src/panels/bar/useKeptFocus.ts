/** Keeps the keyboard among the run's buttons: one that is switched off under it hands it to its neighbour, and gets it back. */

import { type RefObject, useEffect, useRef } from 'react'

/** What is likeliest to be wanted next, first. */
const ORDER = ['pause', 'step', 'train', 'reset']

export function useKeptFocus(group: RefObject<HTMLElement | null>): { onFocus: (event: React.FocusEvent) => void } {
  /** The button that a person chose, and the one that stands in for it. */
  const chosen = useRef<HTMLButtonElement | null>(null)
  const standIn = useRef<HTMLButtonElement | null>(null)
  useEffect(() => {
    const own = chosen.current
    if (!own) return
    // The browser takes the focus off a disabled button when it next draws.
    const frame = requestAnimationFrame(() => {
      const at = document.activeElement
      const isOurs = at === document.body || at === own || at === standIn.current
      if (!isOurs) return
      if (!own.disabled) {
        if (at !== own && standIn.current === at) own.focus({ preventScroll: true })
        standIn.current = null
        return
      }
      const next = ORDER.map((id) => group.current?.querySelector<HTMLButtonElement>(`[data-testid="${id}"]`)).find((button) => button && !button.disabled)
      if (!next || next === at) return
      standIn.current = next
      next.focus({ preventScroll: true })
    })
    return () => cancelAnimationFrame(frame)
  })
  return {
    onFocus({ target }) {
      if (target instanceof HTMLButtonElement && target !== standIn.current) {
        chosen.current = target
        standIn.current = null
      }
    },
  }
}
