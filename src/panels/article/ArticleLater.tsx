/** Keeps the article's place below the page and fetches it when a person comes near. */

import { useRef } from 'react'
import { later } from '../../ui/later'
import { useNear } from '../../ui/useNear'

const Article = later(() => import('./Article').then((part) => part.Article))

export function ArticleLater() {
  const place = useRef<HTMLDivElement>(null)
  const near = useNear(place)
  return (
    <div className="article-place" ref={place} data-testid="article-place">
      {near && <Article />}
    </div>
  )
}
