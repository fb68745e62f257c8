/** Asks the worker what the adapter as it is now and the base model think of an episode, once for each adapter; what comes back goes into the token log. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import type { Message } from '../worker/protocol'
import type { EnginePort } from './controller'
import type { RunStore } from './run-store'
import type { TokenLog } from './token-log'
import { isBroken } from './view'

export interface AskedExamination {
  /** Of the adapter when it was asked, and the episode's length then: another one is another question. */
  version: number
  length: number
  state: 'computing' | 'done' | 'failed'
  /** A sentence where it failed, else ''. */
  error: string
}

/** By episode, as `examinationKey` writes it. */
export type ExaminationsView = Readonly<Record<string, AskedExamination>>

export interface Examinations {
  readonly store: StoreApi<ExaminationsView>
  /** Asks for an episode of the run; nothing if this adapter was asked already. */
  ask(step: number, index: number): void
}

export const examinationKey = (step: number, index: number): string => `${step}/${index}`

/** The adapter's version as the last finished step left it. */
const versionOf = (run: RunStore) => run.getState().history.at(-1)?.version ?? 0

export function createExaminations(port: EnginePort, run: RunStore): Examinations {
  const store = createStore<ExaminationsView>(() => ({}))
  const pending = new Map<number, { key: string; step: number; index: number; log: TokenLog }>()
  let requests = 0

  const settle = (key: string, change: Pick<AskedExamination, 'state' | 'error'>) => {
    const asked = store.getState()[key]
    if (asked) store.setState({ [key]: { ...asked, ...change } })
  }

  function answer({ requestId, result }: Extract<Message, { type: 'examined' }>) {
    const asked = pending.get(requestId)
    if (!asked) return
    pending.delete(requestId)
    const { key, step, index, log } = asked
    const examination = result.ok ? result.examinations[0] : undefined
    if (examination) log.examine(step, index, examination)
    settle(key, examination ? { state: 'done', error: '' } : { state: 'failed', error: result.ok ? '' : result.error })
  }

  function forget() {
    pending.clear()
    store.setState({}, true)
  }

  port.onMessage((message) => {
    switch (message.type) {
      case 'examined':
        return answer(message)
      case 'cleared':
      case 'restored':
      case 'engine':
        return forget()
      case 'state': {
        const { state } = message
        if (isBroken(state)) {
          for (const { key } of pending.values()) settle(key, { state: 'failed', error: state.error })
          return pending.clear()
        }
        // What could not be answered then may be answered now.
        const asked = Object.entries(store.getState())
        const kept = asked.filter(([, { state }]) => state !== 'failed')
        if (kept.length < asked.length) store.setState(Object.fromEntries(kept), true)
        return
      }
      default:
        return
    }
  })

  return {
    store,
    ask(step, index) {
      const log = run.tokens
      const tokens = log.read(step, index)
      const key = examinationKey(step, index)
      const [version, length] = [versionOf(run), tokens.length]
      const before = store.getState()[key]
      if (length === 0 || (before?.version === version && before.length === length)) return
      const requestId = ++requests
      pending.set(requestId, { key, step, index, log })
      store.setState({ [key]: { version, length, state: 'computing', error: '' } })
      port.send({ type: 'examine', requestId, sequences: [{ ids: tokens.map(({ id }) => id), mask: tokens.map(({ mask }) => mask) }] })
    },
  }
}
