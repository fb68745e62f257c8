/** The room that the text of an episode takes: its width, and a height that does not fall from one episode to the next. */

import { type RefObject, useLayoutEffect, useState } from 'react'

/** More than this is not kept free, in pixels. */
const MOST_KEPT = 640

/**
 * Keeps the element's parent as high as the element has been: in a run that goes on, what is below does not jump when the next step's
 * episode begins (trajectory.css reads it from `--kept-height`). `key`: after a change of it a person has asked for something else, and the height is found anew.
 */
export function useSteadyHeight(element: RefObject<HTMLElement | null>, key: string): void {
  useLayoutEffect(() => {
    const { current } = element
    const parent = current?.parentElement
    if (!current || !parent || typeof ResizeObserver === 'undefined') return
    let [most, width] = [0, 0]
    const observer = new ResizeObserver(([entry]) => {
      if (!entry) return
      const { contentRect } = entry
      most = contentRect.width === width ? Math.max(most, contentRect.height) : contentRect.height
      ;({ width } = contentRect)
      parent.style.setProperty('--kept-height', `${Math.min(MOST_KEPT, Math.ceil(most))}px`)
    })
    observer.observe(current)
    return () => {
      observer.disconnect()
      parent.style.removeProperty('--kept-height')
    }
  }, [element, key])
}

/** The width of the text in the element, in pixels, while `wanted`. */
export function useTextWidth(element: RefObject<HTMLElement | null>, wanted: boolean): number {
  const [width, setWidth] = useState(ANY_WIDTH)
  useLayoutEffect(() => {
    const { current } = element
    if (!wanted || !current || typeof ResizeObserver === 'undefined') return
    const measure = () => {
      const text = current.querySelector('.tokens')
      if (!text) return
      const style = getComputedStyle(text)
      setWidth(Math.max(ANY_WIDTH, text.clientWidth - parseFloat(style.paddingInlineStart)))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => observer.disconnect()
  }, [element, wanted])
  return width
}

/** Until it has been measured, and at least. */
const ANY_WIDTH = 100
