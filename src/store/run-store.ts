/** The run's store: messages are queued as they come and drawn together, once per animation frame. */

import { createStore } from 'zustand/vanilla'
import type { Message } from '../worker/protocol'
import { reduce } from './reduce'
import { isRecording } from './restore'
import { TokenLog } from './token-log'
import { EMPTY_RUN, type RunView } from './view'

/** A hidden tab has no animation frames; messages are then taken in at this pace, in ms. */
const HIDDEN_INTERVAL = 250

export interface RunStore {
  getState(): RunView
  subscribe(listener: (view: RunView, previous: RunView) => void): () => void
  /** Of what is shown now: a recording has a log of its own. */
  readonly tokens: TokenLog
  /** Takes a message in; it shows at the next frame. */
  receive(message: Message): void
  /** Takes in everything that is queued, now. */
  flush(): void
  /** Closes the recording, if one is shown: what stood there before comes back as it was. */
  back(): void
}

export interface Clock {
  /** Milliseconds. */
  now(): number
  /** Calls back once, at the next good moment to draw. */
  schedule(callback: () => void): void
}

/** The browser's clock: animation frames while the tab is visible. */
export const browserClock: Clock = {
  now: () => performance.now(),
  schedule(callback) {
    if (document.visibilityState === 'hidden') setTimeout(callback, HIDDEN_INTERVAL)
    else {
      let done = false
      const once = () => {
        if (done) return
        done = true
        callback()
      }
      requestAnimationFrame(once)
      // A tab hidden right after the request would never get its frame.
      setTimeout(once, HIDDEN_INTERVAL)
    }
  },
}

/** A store over an empty run. */
export function createRunStore(clock: Clock): RunStore {
  const store = createStore<RunView>(() => EMPTY_RUN)
  let tokens = new TokenLog()
  /** What a recording was put before; null while none is shown. */
  let aside: { view: RunView; tokens: TokenLog } | null = null
  let queue: { message: Message; at: number }[] = []
  let scheduled = false

  function take(view: RunView, message: Message, at: number): RunView {
    const opens = message.type === 'restored' && isRecording(message.run)
    if (opens && aside === null) {
      aside = { view, tokens }
      tokens = new TokenLog()
    }
    const next = reduce(view, message, tokens, at)
    if (next.recording === null) aside = null
    return opens ? { ...next, behind: aside !== null && (aside.view.steps.length > 0 || aside.view.history.length > 0) } : next
  }

  function back() {
    flush()
    if (aside === null) return
    // What the worker told meanwhile is of the run, not of the recording.
    const { run, engine, environment, notices, evaluation } = store.getState()
    const { view } = aside
    ;({ tokens } = aside)
    aside = null
    store.setState({ ...view, run, engine, environment, notices, evaluation }, true)
  }

  function flush() {
    if (queue.length === 0) return
    const taken = queue
    queue = []
    let view = store.getState()
    for (const { message, at } of taken) view = take(view, message, at)
    store.setState(view, true)
  }

  return {
    getState: store.getState,
    subscribe: store.subscribe,
    get tokens() {
      return tokens
    },
    flush,
    back,
    receive(message) {
      queue.push({ message, at: clock.now() })
      if (scheduled) return
      scheduled = true
      clock.schedule(() => {
        scheduled = false
        flush()
      })
    },
  }
}
