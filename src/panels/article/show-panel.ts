/** Brings a panel of the page into view, gives it the focus and marks it for a moment. */

import { DURATIONS } from '../../ui/durations'

/** The panel with this id; null where it is not on the page. */
export function panelOf(id: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`[data-testid="panel-${id}"]`)
}

/** False where the panel is not on the page. */
export function showPanel(id: string): boolean {
  const panel = panelOf(id)
  if (!panel) return false
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches
  // A panel is no control: it takes the focus only from here, so that the keyboard goes on from it.
  panel.tabIndex = -1
  panel.focus({ preventScroll: true })
  // The bar stays where it is and would cover the panel's heading.
  panel.style.scrollMarginBlockStart = `${document.querySelector<HTMLElement>('.head')?.offsetHeight ?? 0}px`
  panel.scrollIntoView({ behavior: still ? 'auto' : 'smooth', block: 'start', inline: 'start' })
  panel.classList.add('pointed-at')
  setTimeout(() => panel.classList.remove('pointed-at'), DURATIONS.pointedAt)
  return true
}
