/** At which step the present run can be loaded again, once another one has taken its place. */

import { useRuns } from '../../store/hooks'
import { currentRun } from '../../store/runs-store'

/** null where nothing of it is kept: no step has ended, or the browser keeps no runs. */
export function useKeptStep(): number | null {
  return useRuns((view) => currentRun(view)?.checkpoint ?? null)
}
