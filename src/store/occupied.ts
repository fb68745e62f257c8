/** Why the model cannot be talked to or played with beside the run. */

import { isActive, isBroken, latestStep, type RunView } from './view'

export type Occupied = 'loading' | 'training' | 'midStep'

/** null where it can: it is loaded, and no step holds the sampler. */
export function occupied(view: RunView): Occupied | null {
  const { run } = view
  if (run.state === 'loading' || run.state === 'load-paused' || isBroken(run)) return 'loading'
  if (isActive(run)) return 'training'
  return run.state === 'paused' && latestStep(view)?.finished === false ? 'midStep' : null
}
