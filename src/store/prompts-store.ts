/** A dataset of prompts as a person chooses it: where from, what was found there. Made when first wanted; nothing typed is lost while the page is open. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import type { EnvironmentSpec, PromptSource } from '../core/environment-spec'
import { datasetOf } from '../core/environment-spec'
import type { Command, PromptsLook } from '../worker/protocol'
import type { EnginePort } from './controller'

/** Where rows come from. */
export const PROMPT_ORIGINS = ['hub', 'text', 'builtin'] as const
export type PromptOrigin = (typeof PROMPT_ORIGINS)[number]

export interface PromptsView {
  origin: PromptOrigin
  /** What stands in the fields. */
  reference: string
  text: string
  /** Of the last look that came back; null once something was changed. */
  look: PromptsLook | null
  looking: boolean
  /** Of a download, so far. */
  bytes: number
  /** Why the last look came to nothing; '' when it did not. */
  error: string
}

export interface Prompts {
  readonly store: StoreApi<PromptsView>
  /** Fields were changed: what was seen holds no longer. */
  edit(change: Partial<Pick<PromptsView, 'origin' | 'reference' | 'text'>>): void
  look(dataset: Extract<Command, { type: 'prompts-look' }>['dataset']): void
  refuse(why: string): void
  stop(): void
}

const made = new WeakMap<EnginePort, Prompts>()

/** The one store of this worker. It begins with the dataset that is chosen, if any. */
export function promptsOf(port: EnginePort, spec: EnvironmentSpec): Prompts {
  const prompts = made.get(port) ?? createPrompts(port, datasetOf(spec))
  made.set(port, prompts)
  return prompts
}

/** `chosen`: fills the fields. */
export function createPrompts(port: EnginePort, chosen: PromptSource | null): Prompts {
  const store = createStore<PromptsView>(() => ({
    origin: chosen?.kind ?? 'hub',
    reference: chosen?.kind === 'hub' ? (chosen.revision === 'main' ? chosen.repo : `${chosen.repo}@${chosen.revision}`) : '',
    text: chosen?.kind === 'text' ? chosen.text : '',
    look: null,
    looking: false,
    bytes: 0,
    error: '',
  }))
  let requests = 0
  let pending: number | null = null
  port.onMessage((message) => {
    if (message.type === 'prompts-reading' && message.requestId === pending) store.setState({ bytes: message.bytes })
    if (message.type !== 'prompts-looked' || message.requestId !== pending) return
    pending = null
    const { result } = message
    store.setState(result.ok ? { look: result.look, looking: false, error: '' } : { look: null, looking: false, error: `${result.error} ${result.advice}`.trim() })
  })
  function stop() {
    if (pending === null) return
    pending = null
    store.setState({ looking: false })
    port.send({ type: 'prompts-stop' })
  }
  return {
    store,
    stop,
    edit(change) {
      stop()
      store.setState({ look: null, error: '', ...change })
    },
    look(dataset) {
      pending = ++requests
      store.setState({ look: null, looking: true, bytes: 0, error: '' })
      port.send({ type: 'prompts-look', requestId: pending, dataset })
    },
    refuse(why) {
      stop()
      store.setState({ look: null, error: why })
    },
  }
}

/** Whether two say the same dataset. */
export const sameDataset = (a: PromptSource | null, b: PromptSource | null): boolean => JSON.stringify(a) === JSON.stringify(b)
