/** Draws the take-away dialog while a person has it open. */

import { useTakeAway } from '../../store/hooks'
import { later } from '../../ui/later'

const TakeAwayModal = later(() => import('./TakeAwayModal').then((part) => part.TakeAwayModal))

export function TakeAwayDialog() {
  const open = useTakeAway((view) => view.shown !== null)
  return open ? <TakeAwayModal /> : null
}
