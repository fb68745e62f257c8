/** What the panels draw: the recorded run while it is on, else the run in the worker. */

import type { Replay } from './replay'
import type { RunStore } from './run-store'

export type Shown = Pick<RunStore, 'getState' | 'subscribe' | 'tokens'>

export function createShown(run: RunStore, replay: Replay): Shown {
  const isReplay = () => replay.store.getState().state === 'on'
  const getState = () => (isReplay() ? replay.store.getState().view : run.getState())
  return {
    getState,
    get tokens() {
      return isReplay() ? replay.tokens : run.tokens
    },
    subscribe(listener) {
      let before = getState()
      const hear = () => {
        const now = getState()
        if (now === before) return
        const previous = before
        before = now
        listener(now, previous)
      }
      const stops = [run.subscribe(hear), replay.store.subscribe(hear)]
      return () => stops.forEach((stop) => stop())
    },
  }
}
