import { describe, expect, it } from 'vitest'
import { createRunStore } from './run-store'
import { stepMessages } from './testing/script'

/** A clock whose frames come when the test says so. */
function manualClock() {
  let frames: (() => void)[] = []
  return {
    now: () => 0,
    schedule: (callback: () => void) => void frames.push(callback),
    pending: () => frames.length,
    frame() {
      const due = frames
      frames = []
      for (const callback of due) callback()
    },
  }
}

describe('run store', () => {
  it('commits once per frame however many messages came', () => {
    const clock = manualClock()
    const store = createRunStore(clock)
    let commits = 0
    store.subscribe(() => commits++)
    const messages = stepMessages(1)
    messages.forEach(store.receive)
    expect(messages.length).toBeGreaterThan(100)
    expect([commits, clock.pending()]).toEqual([0, 1])
    clock.frame()
    expect([commits, clock.pending()]).toEqual([1, 0])
    expect(store.getState().history).toHaveLength(1)
  })

  it('flushes on demand, and the frame that follows has nothing to do', () => {
    const clock = manualClock()
    const store = createRunStore(clock)
    store.receive({ type: 'state', state: { state: 'ready' } })
    store.flush()
    expect(store.getState().run.state).toBe('ready')
    let commits = 0
    store.subscribe(() => commits++)
    clock.frame()
    expect(commits).toBe(0)
  })
})
