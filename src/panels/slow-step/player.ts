/** Goes through parts of given lengths by itself; it can be held, moved by a part and ended. No React, no DOM. */

export interface PlayerView {
  beat: number
  playing: boolean
  /** After the last part. */
  ended: boolean
}

export interface Player {
  getView(): PlayerView
  subscribe(listener: () => void): () => void
  play(): void
  hold(): void
  /** A part further, or back; further than the last ends it. */
  move(by: 1 | -1): void
  end(): void
}

export interface PlayerClock {
  now(): number
  /** Calls back after so many ms; the result takes that back. */
  after(ms: number, callback: () => void): () => void
}

export const browserTimers: PlayerClock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

/** Holds at the first part until it is played. */
export function createPlayer(lengths: readonly number[], clock: PlayerClock): Player {
  let view: PlayerView = { beat: 0, playing: false, ended: false }
  const listeners = new Set<() => void>()
  /** Ms of the present part that have passed, and since when it runs. */
  let [passed, since] = [0, 0]
  let cancel = () => {}

  function set(next: Partial<PlayerView>) {
    view = { ...view, ...next }
    for (const listener of listeners) listener()
  }

  function run() {
    since = clock.now()
    cancel = clock.after((lengths[view.beat] ?? 0) - passed, () => go(view.beat + 1))
  }

  function go(beat: number) {
    cancel()
    passed = 0
    if (beat >= lengths.length) return set({ playing: false, ended: true })
    set({ beat: Math.max(0, beat) })
    if (view.playing) run()
  }

  return {
    getView: () => view,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    play() {
      if (view.playing || view.ended) return
      set({ playing: true })
      run()
    },
    hold() {
      if (!view.playing) return
      cancel()
      passed += clock.now() - since
      set({ playing: false })
    },
    move: (by) => !view.ended && go(view.beat + by),
    end() {
      cancel()
      if (!view.ended) set({ playing: false, ended: true })
    },
  }
}
