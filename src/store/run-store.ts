/** The run's store: messages are queued as they come and drawn together, once per animation frame. */

import { createStore } from 'zustand/vanilla'
import type { Message } from '../worker/protocol'
import { reduce } from './reduce'
import { TokenLog } from './token-log'
import { EMPTY_RUN, type RunView } from './view'

/** A hidden tab has no animation frames; messages are then taken in at this pace, in ms. */
const HIDDEN_INTERVAL = 250

export interface RunStore {
  getState(): RunView
  subscribe(listener: (view: RunView, previous: RunView) => void): () => void
  readonly tokens: TokenLog
  /** Takes a message in; it shows at the next frame. */
  receive(message: Message): void
  /** Takes in everything that is queued, now. */
  flush(): void
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
  const tokens = new TokenLog()
  let queue: { message: Message; at: number }[] = []
  let scheduled = false

  function flush() {
    if (queue.length === 0) return
    const taken = queue
    queue = []
    let view = store.getState()
    for (const { message, at } of taken) view = reduce(view, message, tokens, at)
    store.setState(view, true)
  }

  return {
    getState: store.getState,
    subscribe: store.subscribe,
    tokens,
    flush,
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
