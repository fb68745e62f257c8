/** The dry run before training: whether one is under way, how far it is, what it found. No React, no DOM. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import type { DryRunReport } from '../core/dry-run'
import type { EnginePort } from './controller'
import { isBroken } from './view'

export interface GuardView {
  /** Episodes of the dry run that is under way; null while none is. */
  busy: { done: number; total: number } | null
  /** Why the last one came to nothing; '' when it did not. */
  error: string
  /** Of the run that is loaded; null before there is one. */
  report: DryRunReport | null
}

export interface Guard {
  readonly store: StoreApi<GuardView>
  /** Begins one; does nothing while one is under way. */
  tryOut(): void
}

const EMPTY: GuardView = { busy: null, error: '', report: null }

export function createGuard(port: EnginePort): Guard {
  const store = createStore<GuardView>(() => EMPTY)
  let requests = 0
  /** The one that is answered next. */
  let pending: number | null = null

  port.onMessage((message) => {
    if (message.type === 'dry-run-progress' && message.requestId === pending) store.setState({ busy: { done: message.done, total: message.total } })
    if (message.type === 'dry-run-done' && message.requestId === pending) {
      pending = null
      const { result } = message
      store.setState(result.ok ? { busy: null, error: '', report: result.report } : { busy: null, error: result.error })
    }
    // A load that failed leaves what it was asked for undone; a worker that died answers nothing more.
    if (message.type === 'state' && pending !== null && isBroken(message.state)) {
      pending = null
      store.setState({ busy: null, error: message.state.error })
    }
    if (message.type === 'restored') store.setState({ report: null, error: '' })
  })

  return {
    store,
    tryOut() {
      if (pending !== null) return
      pending = ++requests
      store.setState({ busy: { done: 0, total: 0 }, error: '' })
      port.send({ type: 'dry-run', requestId: pending })
    },
  }
}
