/** Comparisons of the base model with the LoRA: what was asked for and what came back. No React, no DOM. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import type { PolicyComparison } from '../core/examination'
import type { EnginePort } from './controller'
import { isBroken } from './view'

export type WantedComparison = Pick<PolicyComparison, 'seed' | 'split' | 'temperature'>

export interface CompareView {
  /** What is being played. */
  busy: WantedComparison | null
  /** Why the last one came to nothing; '' when it did not. */
  error: string
  /** Of the run that is loaded, newest first; one for each episode. */
  made: readonly PolicyComparison[]
}

export interface Compare {
  readonly store: StoreApi<CompareView>
  /** Plays the episode with both; does nothing while another is played. */
  play(wanted: WantedComparison): void
}

/** A comparison is some hundred tokens; more than these nobody goes back to. */
const KEPT = 24

const EMPTY: CompareView = { busy: null, error: '', made: [] }

/** Whether both are of the same episode. */
export function isSame(a: WantedComparison, b: WantedComparison): boolean {
  return a.seed === b.seed && a.split === b.split && a.temperature === b.temperature
}

export function createCompare(port: EnginePort): Compare {
  const store = createStore<CompareView>(() => EMPTY)
  let requests = 0
  /** The one that is answered next; what another run was asked is nobody's business any more. */
  let pending: number | null = null

  function end(change: Partial<CompareView>) {
    pending = null
    store.setState({ busy: null, ...change })
  }

  port.onMessage((message) => {
    switch (message.type) {
      case 'compared': {
        if (pending !== message.requestId) return
        const { result } = message
        if (!result.ok) return end({ error: result.error })
        const { made } = store.getState()
        return end({ error: '', made: [result.comparison, ...made.filter((old) => !isSame(old, result.comparison))].slice(0, KEPT) })
      }
      case 'cleared':
      case 'restored':
        return end(EMPTY)
      case 'state':
        // A worker that died answers nothing more.
        if (pending !== null && isBroken(message.state)) end({ error: message.state.error })
        return
      default:
        return
    }
  })

  return {
    store,
    play({ seed, split, temperature }) {
      if (pending !== null) return
      pending = ++requests
      store.setState({ busy: { seed, split, temperature }, error: '' })
      port.send({ type: 'compare', requestId: pending, seed, split, temperature })
    },
  }
}
