/** One colour scale for all advantages of a step, so that a strip, a number and a token of equal advantage look equal. */

import type { StepView } from '../../store/view'
import { divergingScale } from '../../ui/colors'

/** End of the scale: the 2nd or 98th percentile of the step's advantages, whichever is larger in size; 0 before scoring. */
export function advantageBound(step: StepView | null): number {
  return divergingScale((step?.episodes ?? []).flatMap((e) => e.advantage ?? [])).high
}
