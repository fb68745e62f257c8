/** Keeps the article's place below the page and fetches it when a person comes near. */

import { useEffect, useRef, useState } from 'react'
import { later } from '../../ui/later'

const Article = later(() => import('./Article').then((part) => part.Article))

/** How near, in the height of a window and more: it is there before it is seen. */
const NEAR = '800px'

export function ArticleLater() {
  const place = useRef<HTMLDivElement>(null)
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
  }, [near])
  return (
    <div className="article-place" ref={place} data-testid="article-place">
      {near && <Article />}
    </div>
  )
}
