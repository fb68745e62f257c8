/** Whether games of random calls can be played in the chosen environment. */

import { possibleCalls } from '../../core/possible-calls'
import { useConnected } from '../task/useConnected'

/** True as well where its tools are not known yet. */
export function useRandomly(): boolean {
  const environment = useConnected()
  if (!environment) return true
  const players = environment.members ?? [environment]
  return players.every(({ tools }) => possibleCalls(tools).length > 0)
}
