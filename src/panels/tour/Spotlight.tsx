/** A frame around an element of the page; whatever is in the frame can be used as ever. */

import { type CSSProperties, useEffect, useState } from 'react'
import { footEdge, headEdge, toItsTop } from '../../ui/edges'
import type { Box } from './placement'

/** The element with this test id, the first that is drawn. */
export function findTarget(id: string): HTMLElement | null {
  return [...document.querySelectorAll<HTMLElement>(`[data-testid="${id}"]`)].find((each) => each.getClientRects().length > 0) ?? null
}

const ROOM = 12

/** Scrolls so that the element's beginning is in view, below what sticks to the window's top. */
export function bringIntoView(element: HTMLElement) {
  toItsTop(element)
  element.scrollIntoView({ block: 'nearest', inline: 'start', behavior: 'instant' })
  const { top, bottom } = element.getBoundingClientRect()
  const [head, foot] = [headEdge(), footEdge()]
  if (top < head || bottom > foot) window.scrollBy({ top: top - head - ROOM, behavior: 'instant' })
}

/** Where the element is now; follows scrolling and every change of size. null: it is not there. */
export function useBox(id: string | null): Box | null {
  const [box, setBox] = useState<Box | null>(null)
  useEffect(() => {
    if (id === null) {
      setBox(null)
      return
    }
    let frame = 0
    const measure = () => {
      frame = 0
      const element = findTarget(id)
      const rect = element?.getBoundingClientRect()
      // A panel's frame stands on its rules; what is smaller gets air.
      const air = element?.classList.contains('panel') ? -2 : 6
      setBox((old) => {
        if (!rect) return null
        const [left, top, width, height] = [rect.left - air, rect.top - air, rect.width + 2 * air, rect.height + 2 * air]
        return old && old.left === left && old.top === top && old.width === width && old.height === height ? old : { left, top, width, height }
      })
    }
    const soon = () => (frame ||= requestAnimationFrame(measure))
    const watch = new ResizeObserver(soon)
    for (const element of [document.body, findTarget(id)]) if (element) watch.observe(element)
    window.addEventListener('scroll', soon, { capture: true, passive: true })
    window.addEventListener('resize', soon)
    measure()
    return () => {
      cancelAnimationFrame(frame)
      watch.disconnect()
      window.removeEventListener('scroll', soon, { capture: true })
      window.removeEventListener('resize', soon)
    }
  }, [id])
  return box
}

/** `dim`: the rest of the page steps back. */
export function Spotlight({ box, dim = false }: { box: Box | null; dim?: boolean }) {
  if (!box) return null
  const top = Math.max(box.top, headEdge() + 2)
  const bottom = Math.min(box.top + box.height, footEdge() - 2)
  if (bottom <= top) return null
  const left = Math.max(2, box.left)
  const style: CSSProperties = { left, top, width: Math.min(innerWidth - 2, box.left + box.width) - left, height: bottom - top }
  return <div className={dim ? 'spotlight dim' : 'spotlight'} style={style} aria-hidden="true" data-testid="spotlight" />
}
