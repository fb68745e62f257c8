/** The connected environment, but only while it is the one that the controls name. */

import { useSetup, useShown } from '../../store/hooks'
import type { EnvironmentView } from '../../store/view'

/** null while another environment is chosen, waits for consent, is being connected or could not be: a run may still go on with the old one. */
export function useConnected(): EnvironmentView | null {
  const chosen = useSetup((s) => s.config.environment)
  const connected = useShown((view) => view.environment)
  return connected && JSON.stringify(connected.spec) === JSON.stringify(chosen) ? connected : null
}
