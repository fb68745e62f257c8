/** On a first visit one quiet line above the loop offers the tour; it covers nothing and asks once. And the tour itself, once it is wanted. */

import { useDisplay, useHidden, useStores, useTour } from '../../store/hooks'
import { later } from '../../ui/later'
import { S } from '../../ui/strings'

const Tour = later(() => import('./Tour').then((part) => part.Tour))
const O = S.teach.offer

export function TourOffer() {
  const { tour } = useStores()
  const open = useTour((view) => view.open)
  const offer = useTour((view) => view.offer)
  const lesson = useDisplay((d) => d.lesson)
  const hidden = useHidden('tour')
  if (open) return <Tour />
  if (offer !== 'new' || lesson !== null || hidden) return null
  return (
    <aside className="alerts offer tour-offer" aria-label={O.label} data-testid="tour-offer">
      <p>{O.says}</p>
      <button type="button" className="button small" data-testid="tour-start" onClick={tour.start}>
        {O.start}
      </button>
      <button type="button" className="link" data-testid="tour-later" onClick={tour.notNow}>
        {O.later}
      </button>
      <button type="button" className="link" data-testid="tour-offer-never" onClick={tour.never}>
        {O.never}
      </button>
    </aside>
  )
}
