/** Whether a person has come near a place of the page: what is not needed before is fetched and drawn then. Paper and pictures want all of it. */

import { type RefObject, useEffect, useState } from 'react'
import { flushSync } from 'react-dom'

/** How near, in the height of a window and more: it is there before it is seen. */
const NEAR = '800px'

const waiting = new Set<() => void>()

/** Takes every place of now as near. */
export function comeNear(): void {
  waiting.forEach((come) => come())
}

// Drawn before this returns, as the paper is laid out at once.
if (typeof window !== 'undefined') window.addEventListener('beforeprint', () => flushSync(comeNear))

/** False until the element of `place` was near once; true at once where the browser cannot tell. */
export function useNear(place: RefObject<Element | null>): boolean {
  const [near, setNear] = useState(false)
  useEffect(() => {
    if (near || !place.current) return
    const come = () => setNear(true)
    if (typeof IntersectionObserver === 'undefined') {
      come()
      return
    }
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && come(), { rootMargin: NEAR })
    observer.observe(place.current)
    waiting.add(come)
    return () => {
      observer.disconnect()
      waiting.delete(come)
    }
  }, [near, place])
  return near
}
