/** What is taken away of a run: files that are being made or were saved, the upload to the Hub, the evaluation. No React, no DOM. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import { describeError } from '../core/errors'
import type { EvaluationHow } from '../core/run-record'
import type { EvaluationResult, ExportKind, Message, PublishProgress, PublishResult, PublishTarget } from '../worker/protocol'
import type { EnginePort } from './controller'
import { isBroken } from './view'

/** How a file of one kind stands. */
export type ExportState =
  | { state: 'making'; requestId: number }
  /** `bytes`: its size. */
  | { state: 'made'; name: string; bytes: number }
  | { state: 'failed'; error: string; advice: string }

export interface PublishView {
  requestId: number
  /** The run. */
  id: string
  target: PublishTarget
  /** null before the first word of the worker. */
  progress: PublishProgress | null
  /** A person pressed Cancel. */
  stopping: boolean
  /** null while it is under way. */
  result: PublishResult | null
}

export interface TakeAwayView {
  /** The dialog is open, about this run; '' where there is none. */
  shown: string | null
  /** By `exportKey`. */
  exports: Readonly<Record<string, ExportState>>
  /** Files that were made and are still to be saved. */
  ready: readonly { requestId: number; name: string; file: Blob }[]
  publish: PublishView | null
  evaluation: { busy: boolean; error: string | null; result: EvaluationResult | null }
}

export interface TakeAway {
  readonly store: StoreApi<TakeAwayView>
  /** Opens the dialog about a run, or closes it. */
  show(id: string | null): void
  /** Makes a file; does nothing while the same one is being made. */
  make(id: string, kind: ExportKind): void
  /** A file was handed to the browser. */
  saved(requestId: number): void
  /** Begins an upload; does nothing while another one is under way. */
  publish(id: string, target: PublishTarget): void
  /** Once more with the same target. */
  retryPublish(): void
  /** Once more, into the repository that exists, where a new one was asked for. */
  updateExisting(): void
  stopPublish(): void
  /** Takes the outcome of the last upload away. */
  forgetPublish(): void
  evaluate(episodes: number, how?: EvaluationHow): void
  /** Ends it; what it has measured is not kept. */
  stopEvaluation(): void
}

/** Names a file of a run. */
export function exportKey(id: string, kind: ExportKind): string {
  return `${id} ${kind}`
}

/** `measure` runs an evaluation and rejects with the worker's sentence. */
export function createTakeAway(port: EnginePort, measure: (episodes: number, how?: EvaluationHow) => Promise<EvaluationResult>): TakeAway {
  const store = createStore<TakeAwayView>(() => ({ shown: null, exports: {}, ready: [], publish: null, evaluation: { busy: false, error: null, result: null } }))
  let requests = 0

  const setExport = (key: string, state: ExportState) => store.setState(({ exports }) => ({ exports: { ...exports, [key]: state } }))

  function exported({ requestId, result }: Extract<Message, { type: 'exported' }>) {
    const key = Object.entries(store.getState().exports).find(([, e]) => e.state === 'making' && e.requestId === requestId)?.[0]
    if (key === undefined) return
    if (!result.ok) return setExport(key, { state: 'failed', error: result.error, advice: result.advice })
    const { name, file } = result
    setExport(key, { state: 'made', name, bytes: file.size })
    store.setState(({ ready }) => ({ ready: [...ready, { requestId, name, file }] }))
  }

  function changePublish(requestId: number, change: Partial<PublishView>) {
    store.setState(({ publish }) => ({ publish: publish?.requestId === requestId && !publish.result ? { ...publish, ...change } : publish }))
  }

  /** A worker that died answers nothing more. */
  function fail(error: string, advice: string) {
    for (const [key, { state }] of Object.entries(store.getState().exports)) if (state === 'making') setExport(key, { state: 'failed', error, advice })
    const { publish } = store.getState()
    if (publish) changePublish(publish.requestId, { result: { ok: false, error, advice, canRetry: false } })
  }

  function publish(id: string, target: PublishTarget) {
    const before = store.getState().publish
    if (before && !before.result) return
    const requestId = ++requests
    store.setState({ publish: { requestId, id, target, progress: null, stopping: false, result: null } })
    port.send({ type: 'publish', requestId, id, target })
  }

  port.onMessage((message) => {
    switch (message.type) {
      case 'exported':
        return exported(message)
      case 'publish-progress':
        return changePublish(message.requestId, { progress: message.progress })
      case 'published':
        return changePublish(message.requestId, { result: message.result })
      case 'state':
        if (isBroken(message.state)) fail(message.state.error, message.state.advice)
        return
      case 'cleared':
      case 'restored':
        // What was measured is of another adapter now; a run that is kept has it in its record.
        return store.setState(({ evaluation }) => ({ evaluation: { ...evaluation, error: null, result: null } }))
      default:
        return
    }
  })

  return {
    store,
    show: (shown) => store.setState({ shown }),
    make(id, kind) {
      const key = exportKey(id, kind)
      if (store.getState().exports[key]?.state === 'making') return
      const requestId = ++requests
      setExport(key, { state: 'making', requestId })
      port.send({ type: 'export', requestId, id, kind })
    },
    saved: (requestId) => store.setState(({ ready }) => ({ ready: ready.filter((file) => file.requestId !== requestId) })),
    publish,
    retryPublish() {
      const before = store.getState().publish
      if (before?.result && !before.result.ok) publish(before.id, before.target)
    },
    updateExisting() {
      const before = store.getState().publish
      if (before?.result && !before.result.ok && before.result.exists) publish(before.id, { ...before.target, into: 'existing' })
    },
    stopPublish() {
      const now = store.getState().publish
      if (!now || now.result || now.stopping) return
      changePublish(now.requestId, { stopping: true })
      port.send({ type: 'publish-stop', requestId: now.requestId })
    },
    forgetPublish: () => store.setState(({ publish: now }) => ({ publish: now?.result ? null : now })),
    stopEvaluation: () => port.send({ type: 'evaluate-stop' }),
    evaluate(episodes, how) {
      if (store.getState().evaluation.busy) return
      store.setState({ evaluation: { busy: true, error: null, result: null } })
      measure(episodes, how).then(
        (result) => store.setState({ evaluation: { busy: false, error: null, result } }),
        (error: unknown) => store.setState({ evaluation: { busy: false, error: describeError(error), result: null } }),
      )
    },
  }
}
