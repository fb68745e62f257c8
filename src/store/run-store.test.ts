import { describe, expect, it } from 'vitest'
import { createRunStore } from './run-store'
import { restoredMessage } from './testing/kept'
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

describe('a recording', () => {
  const recording = restoredMessage(2, { name: 'theirs.jsonl', checkpoint: null })
  const open = () => {
    const store = createRunStore({ now: () => 0, schedule: (callback) => callback() })
    return { store, view: store.getState }
  }

  it('stands before the run, which comes back as it was, with its tokens and what the worker told meanwhile', () => {
    const { store, view } = open()
    stepMessages(1).forEach(store.receive)
    const { steps, history } = view()
    const tokens = store.tokens.read(1, 0)
    expect(tokens.length).toBeGreaterThan(0)
    store.receive(recording)
    expect([view().recording, view().behind, view().history.length]).toEqual(['theirs.jsonl', true, 2])
    store.receive({ ...recording, run: { ...recording.run, name: 'another.jsonl' } })
    expect([view().recording, view().behind]).toEqual(['another.jsonl', true])
    store.receive({ type: 'state', state: { state: 'paused', step: 1 } })
    store.back()
    expect(view()).toMatchObject({ recording: null, recorded: null, behind: false, run: { state: 'paused' } })
    expect([view().steps, view().history]).toEqual([steps, history])
    expect(store.tokens.read(1, 0)).toEqual(tokens)
    stepMessages(2).forEach(store.receive)
    expect([view().history.map(({ step }) => step), store.tokens.read(2, 0).length > 0]).toEqual([[1, 2], true])
  })

  it('closes over an empty page where no run was begun', () => {
    const { store, view } = open()
    store.receive(recording)
    expect(view().behind).toBe(false)
    store.back()
    expect([view().recording, view().steps, view().history]).toEqual([null, [], []])
  })

  it('is over once a run is reset or gone on with: there is nothing to come back to', () => {
    for (const message of [{ type: 'cleared' } as const, restoredMessage(3)]) {
      const { store, view } = open()
      stepMessages(1).forEach(store.receive)
      store.receive(recording)
      store.receive(message)
      const now = view()
      store.back()
      expect([now.recording, view()]).toEqual([null, now])
    }
  })
})
