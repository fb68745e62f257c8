/** Whether a person has come near a place of the page: what is not needed before is fetched and drawn then. */

import { type RefObject, useEffect, useState } from 'react'

/** How near, in the height of a window and more: it is there before it is seen. */
const NEAR = '800px'

/** False until the element of `place` was near once; true at once where the browser cannot tell. */
export function useNear(place: RefObject<Element | null>): boolean {
  const [near, setNear] = useState(false)
  useEffect(() => {
    if (near || !place.current) return
    if (typeof IntersectionObserver === 'undefined') {
      setNear(true)
      return
    }
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && setNear(true), { rootMargin: NEAR })
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [near, place])
  return near
}
