/** Draws the benchmark of this machine while a person has it open, or a link asks for it. */

import { useDisplay } from '../../store/hooks'
import { later } from '../../ui/later'

const BenchDialog = later(() => import('./BenchDialog').then((part) => part.BenchDialog))

export function BenchDoor() {
  return useDisplay((display) => display.bench) ? <BenchDialog /> : null
}
