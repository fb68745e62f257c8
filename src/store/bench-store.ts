/** The benchmark of this machine: whether one is under way, how far it is, what it found. Made when it is first wanted. No React, no DOM. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import type { BenchModelName, BenchReport } from '../core/bench-report'
import type { Backend } from '../core/config'
import type { EnginePort } from './controller'

export interface BenchView {
  /** null while nothing is measured; no `model` before the first is opened. */
  busy: { done: number; total: number; model: BenchModelName | null } | null
  /** Why the last one came to nothing; '' when it did not. */
  error: string
  /** Of the last one, or as far as the present one has come: what was found stays when it is stopped. */
  report: BenchReport | null
}

export interface Bench {
  readonly store: StoreApi<BenchView>
  /** Begins one; does nothing while one is under way. */
  measure(backend: Backend | 'auto'): void
  stop(): void
}

const made = new WeakMap<EnginePort, Bench>()

/** One a page: what it found stays when its dialog is closed. */
export function benchOf(port: EnginePort): Bench {
  const bench = made.get(port) ?? createBench(port)
  made.set(port, bench)
  return bench
}

function createBench(port: EnginePort): Bench {
  const store = createStore<BenchView>(() => ({ busy: null, error: '', report: null }))
  let requests = 0
  /** The one that is answered next. */
  let pending: number | null = null

  port.onMessage((message) => {
    if (message.type === 'bench-progress' && message.requestId === pending) {
      const { done, total, model, report } = message
      // What the last benchmark found stays until there is something new.
      store.setState({ busy: { done, total, model }, ...(report.figures.length > 0 ? { report } : {}) })
    }
    if (message.type === 'bench-done' && message.requestId === pending) {
      pending = null
      const { result } = message
      store.setState(result.ok ? { busy: null, report: result.report } : { busy: null, error: result.error })
    }
    // A worker that died answers nothing more.
    if (message.type === 'state' && message.state.state === 'failed' && !message.state.recoverable && pending !== null) {
      pending = null
      store.setState({ busy: null, error: message.state.error })
    }
  })

  return {
    store,
    measure(backend) {
      if (pending !== null) return
      pending = ++requests
      store.setState({ busy: { done: 0, total: 0, model: null }, error: '' })
      port.send({ type: 'bench', requestId: pending, backend })
    },
    stop: () => port.send({ type: 'bench-stop' }),
  }
}
