/** The width of an element, in px, as it changes. */

import { type RefObject, useLayoutEffect, useState } from 'react'

/** Before it is measured: enough to draw something. */
const GUESS = 600

export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(GUESS)
  useLayoutEffect(() => {
    const target = element.current
    if (!target) return
    const measure = () => {
      if (target.clientWidth > 0) setWidth(target.clientWidth)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(target)
    return () => observer.disconnect()
  }, [element])
  return width
}
