/** What has the keyboard's focus stays in view when something above it comes late or grows. */

import { headEdge, lineEdge } from './edges'

/** Of an element's edge, px: less of it is not seen. */
const EDGE = 8

/** Between what sticks to the window's top and to its foot. */
function isSeen(element: Element): boolean {
  if (element.closest('.head, .replay, dialog')) return true
  const { top, bottom } = element.getBoundingClientRect()
  return top < lineEdge() - EDGE && bottom > headEdge() + EDGE
}

/** The element that the keyboard is at; null where it is at none, or the pointer put the focus there. */
function focused(): Element | null {
  const element = document.activeElement
  return element && element !== document.body && element.matches(':focus-visible') ? element : null
}

/** From now on; returns what ends it. Whoever scrolled the focus out of view himself is left there. */
export function keepFocusInView(): () => void {
  let seen = false
  const look = () => {
    const element = focused()
    seen = element !== null && isSeen(element)
  }
  const observer = new ResizeObserver(() => {
    const element = focused()
    if (seen && element && !isSeen(element)) element.scrollIntoView({ block: 'center', behavior: 'instant' })
  })
  observer.observe(document.body)
  window.addEventListener('focusin', look)
  window.addEventListener('scroll', look, { passive: true })
  return () => {
    observer.disconnect()
    window.removeEventListener('focusin', look)
    window.removeEventListener('scroll', look)
  }
}
