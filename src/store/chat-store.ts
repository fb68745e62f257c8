/** The chat as the page shows it: its settings and transcript, and what sends a question and takes the answer. No React, no DOM. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import type { ChatOptions, ChatToken, Message } from '../worker/protocol'
import type { EnginePort } from './controller'
import { isBroken } from './view'

export type ChatSettings = Omit<ChatOptions, 'fresh'>
export type ChatEnd = Pick<Extract<Message, { type: 'chat-ended' }>, 'reason' | 'error'>

export interface ChatAnswer {
  adapter: ChatOptions['adapter']
  /** Everything that followed the person's last turn or, at the beginning, the whole prompt. */
  tokens: readonly ChatToken[]
  /** null while it is being written or waits for its turn. */
  ended: ChatEnd | null
}

/** A question and its answer; two answers where both models were asked. */
export interface ChatEntry {
  id: number
  question: string
  /** A conversation begins here: nothing above is read by the model. */
  begins: boolean
  answers: readonly ChatAnswer[]
}

export interface ChatView {
  settings: ChatSettings
  entries: readonly ChatEntry[]
  /** An answer is being written. */
  busy: boolean
  /** The next question begins a new conversation. */
  fresh: boolean
}

export interface Chat {
  readonly store: StoreApi<ChatView>
  /** Changes the settings; where the tools come or go the conversation is over. */
  set(change: Partial<ChatSettings>): void
  /** Sends a question to the model that the settings name; does nothing while an answer is being written. */
  ask(text: string): void
  /** The same question to the base model and then with the LoRA, each in a conversation of its own. */
  askBoth(text: string): void
  stop(): void
  /** Empties the transcript. */
  restart(): void
}

const START: ChatSettings = { adapter: 'current', enable_thinking: false, tools: false, temperature: 0.7, max_new_tokens: 512 }

/** Which answer a request writes. */
interface Pending {
  requestId: number
  entry: number
  answer: number
  options: ChatOptions
  /** Nothing of it has come yet. */
  silent: boolean
}

export function createChat(port: EnginePort): Chat {
  const store = createStore<ChatView>(() => ({ settings: START, entries: [], busy: false, fresh: true }))
  let pending: Pending | null = null
  let requests = 0
  let entries = 0
  /** What is asked when the present answer has ended. */
  let next: (() => void) | null = null

  function update({ entry, answer }: Pending, change: (answer: ChatAnswer) => ChatAnswer) {
    store.setState((view) => ({
      entries: view.entries.map((e) => (e.id === entry ? { ...e, answers: e.answers.map((a, i) => (i === answer ? change(a) : a)) } : e)),
    }))
  }

  function add(question: string, adapters: readonly ChatOptions['adapter'][], begins: boolean): number {
    const id = entries++
    const answers = adapters.map((adapter) => ({ adapter, tokens: [], ended: null }))
    store.setState((view) => ({ entries: [...view.entries, { id, question, begins, answers }] }))
    return id
  }

  function send(text: string, options: ChatOptions, entry: number, answer: number) {
    pending = { requestId: ++requests, entry, answer, options, silent: true }
    store.setState({ busy: true })
    port.send({ type: 'chat', requestId: requests, text, options })
  }

  /** The worker has a conversation from here on, unless both were asked: of these none goes on. */
  function begin(by: Pending) {
    by.silent = false
    if (!by.options.fresh) return
    store.setState(({ entries, settings }) => ({ fresh: entries.at(-1)?.answers.length === 2 || settings.tools !== by.options.tools }))
  }

  function end(by: Pending, ended: ChatEnd) {
    pending = null
    update(by, (answer) => ({ ...answer, ended }))
    const go = next
    next = null
    if (go && (ended.reason === 'end-of-turn' || ended.reason === 'length')) return go()
    // What was to come after it comes no more.
    if (go) update({ ...by, answer: by.answer + 1 }, (answer) => ({ ...answer, ended: { reason: 'stopped', error: '' } }))
    store.setState({ busy: false })
  }

  port.onMessage((message) => {
    switch (message.type) {
      case 'chat-tokens':
        if (pending?.requestId !== message.requestId) return
        if (pending.silent) begin(pending)
        return update(pending, (answer) => ({ ...answer, tokens: [...answer.tokens, ...message.tokens] }))
      case 'chat-ended':
        if (pending?.requestId === message.requestId) end(pending, { reason: message.reason, error: message.error })
        return
      case 'environment':
        // Where there are no tools nobody can switch them off.
        if (message.tools.length === 0 && store.getState().settings.tools) store.setState(({ settings }) => ({ settings: { ...settings, tools: false }, fresh: true }))
        return
      case 'cleared':
      case 'restored':
        return store.setState({ fresh: true })
      case 'state':
        // A worker that died answers nothing more.
        if (pending && isBroken(message.state)) end(pending, { reason: 'failed', error: message.state.error })
        return
      default:
        return
    }
  })

  return {
    store,
    set(change) {
      store.setState(({ settings, fresh }) => ({
        settings: { ...settings, ...change },
        fresh: fresh || (change.tools !== undefined && change.tools !== settings.tools),
      }))
    },
    ask(text) {
      const { settings, fresh, busy } = store.getState()
      if (busy) return
      send(text, { ...settings, fresh }, add(text, [settings.adapter], fresh), 0)
    },
    askBoth(text) {
      const { settings, busy } = store.getState()
      if (busy) return
      const entry = add(text, ['off', 'current'], true)
      store.setState({ fresh: true })
      next = () => send(text, { ...settings, adapter: 'current', fresh: true }, entry, 1)
      send(text, { ...settings, adapter: 'off', fresh: true }, entry, 0)
    },
    stop() {
      if (pending) port.send({ type: 'chat-stop' })
    },
    restart() {
      if (pending) port.send({ type: 'chat-stop' })
      pending = null
      next = null
      store.setState({ entries: [], busy: false, fresh: true })
    },
  }
}
