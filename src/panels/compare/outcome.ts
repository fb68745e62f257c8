/** How a compared episode ended, in the marks and words of the group's. */

import type { ComparedEpisode } from '../../core/examination'
import { type Outcome, outcomeOf } from '../group/outcome'

export function outcomeOfCompared({ reward, success, exit }: ComparedEpisode): Outcome {
  return outcomeOf({ finished: true, waitingSince: null, error: null, exit, reward, success })
}
