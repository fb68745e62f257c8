/** Goes where a link points: to a place in the recorded run, or to a step of the run. */

import { S } from '../ui/strings'
import type { Stores } from './hooks'
import type { LinkPlace } from './link'
import { findStep } from './view'

type Moved = Pick<Stores, 'setup' | 'selection' | 'replay' | 'run'>

/** What cannot be gone to becomes a sentence among the link's problems. */
export function goToPlace({ setup, selection, replay, run }: Moved, { step, at = step }: LinkPlace): void {
  if (at === undefined) return
  const tell = (problem: string) => setup.setState(({ problems }) => ({ problems: [...problems, problem] }))
  const { state, rewards } = replay.store.getState()
  if (state === 'on') {
    if (at > rewards.length) tell(S.teach.link.beyond(at, rewards.length))
    replay.pause()
    replay.seek(at)
  } else if (step !== undefined && findStep(run.getState(), step) !== null) selection.setState({ step })
  else tell(step === undefined ? S.teach.link.noRecording : S.teach.link.noStep(step))
}
