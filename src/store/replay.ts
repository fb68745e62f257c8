/** Plays the recorded run through the reduction that live messages go through; it can be held, moved to any moment, stepped and sped up. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import type { PolicyComparison } from '../core/examination'
import type { Grain, Message, RunState } from '../worker/protocol'
import type { RecordedRun, RecordedStep } from './recorded-run'
import { reduce } from './reduce'
import { endOf, nextStop, type StepScript, scriptOf } from './replay-script'
import { TokenLog } from './token-log'
import { EMPTY_RUN, KEPT_EPISODE_STEPS, type RunView } from './view'

export interface ReplayView {
  /** 'coming': it is being fetched. 'on': it is what the panels show. 'off': they show the run. */
  state: 'coming' | 'on' | 'off'
  playing: boolean
  /** A person stopped it at this place, or moved it here. */
  held: boolean
  /** Finished steps, and the share of the one that goes on: 3.5 is in the middle of step 4. */
  position: number
  /** Mean reward of each step. */
  rewards: readonly (number | null)[]
  /** Base and LoRA on the same scenarios, after some of the steps. */
  comparisons: readonly PolicyComparison[]
  view: RunView
}

export interface Replay {
  readonly store: StoreApi<ReplayView>
  readonly tokens: TokenLog
  /** A recording is on its way; `end` may come first. */
  expect(): void
  /** Shows it, unless the person has gone on to a run meanwhile. `still`: its end, and it moves on request only. */
  open(recording: RecordedRun, still: boolean): void
  play(): void
  pause(): void
  /** To a position as in the view, held or playing as before. */
  seek(position: number): void
  /** To the end of a step, to look at it: the curves stay as long as they were. */
  peek(step: number): void
  /** Forward by one token of every episode that writes, to the next end of an episode, or to the end of a GRPO step; it is held there. */
  step(grain: Grain): void
  /** The run takes its place, for good. */
  end(): void
}

export interface FrameClock {
  now(): number
  /** Calls back once, when the page next draws; never while it is hidden. */
  frame(callback: () => void): void
}

/** Frames of a hidden tab do not come: the replay rests with it. */
export const browserFrames: FrameClock = { now: () => performance.now(), frame: (callback) => void requestAnimationFrame(callback) }

/** It begins after these steps, so that every panel has something to show. */
const FIRST_STEPS = 3
/** A longer gap between two frames was a rest of the page, not of the reader. Ms. */
const LONGEST_FRAME = 200
/** Least time between two changes, ms: more would cost more than it shows. */
const SHORTEST_FRAME = 30

const NOTHING: ReplayView = { state: 'off', playing: false, held: false, position: 0, rewards: [], comparisons: [], view: EMPTY_RUN }

const lastOf = (steps: readonly RecordedStep[], count: number) => steps.slice(Math.max(0, count - KEPT_EPISODE_STEPS), count)

/** `speed` is asked at every frame: 1 is the pace of the script. */
export function createReplay(clock: FrameClock, speed: () => number = () => 1): Replay {
  const store = createStore<ReplayView>(() => NOTHING)
  const tokens = new TokenLog()
  let recording: RecordedRun | null = null
  const scripts = new Map<number, StepScript>()
  /** Finished steps, ms in the one that goes on, beats of it that were applied. */
  let [done, time, applied] = [0, 0, 0]
  let last: number | null = null
  /** The view's curves go on beyond its place. */
  let peeked = false
  /** The view when that step began. */
  let base = EMPTY_RUN
  /** The grain that it was last stepped by, while it stands there in mid-step. */
  let at: Exclude<Grain, 'step'> | null = null

  const steps = () => recording?.steps.length ?? 0
  function script(index: number): StepScript | null {
    const [step, summary] = [recording?.steps[index], recording?.history[index]]
    if (!step || !summary) return null
    const made = scripts.get(index) ?? scriptOf(summary, step)
    scripts.set(index, made)
    return made
  }

  /** The view at the end of the first `count` steps, as the archive would give it. */
  function restored({ run, history, steps }: RecordedRun, count: number): RunView {
    const { environment, engine } = run
    const empty: RunView = {
      ...EMPTY_RUN,
      engine: { info: engine, selfTest: null, loadSeconds: 0 },
      environment: { ...environment, spec: run.config.environment, ownTools: environment.tools, maxSessions: null, discovered: null },
    }
    const message: Message = { type: 'restored', run, history: history.slice(0, count), episodes: lastOf(steps, count).map(({ episodes }) => [...episodes]) }
    // The settings in the controls are not the ones it was made with.
    return { ...reduce(empty, message, tokens, clock.now()), recorded: run.config }
  }

  function runAt(playing: boolean): RunState {
    if (done >= steps()) return { state: 'finished', step: done, reason: 'step-limit' }
    return playing ? { state: 'running', until: 'limit' } : { state: 'paused', step: done, ...(at && { at }) }
  }

  /** What is drawn from now on. */
  function show(view: RunView, playing: boolean, change: Partial<ReplayView> = {}) {
    store.setState({ view: { ...view, run: runAt(playing) }, position: position(), playing, ...change })
  }

  /** Applies the beats of the step that goes on up to now. */
  function catchUp(view: RunView): RunView {
    const beats = script(done)?.beats ?? []
    let next = view
    for (let beat = beats[applied]; beat && beat.at <= time; beat = beats[++applied]) {
      next = reduce(next, { type: 'event', event: beat.event }, tokens, clock.now())
    }
    return next
  }

  const position = () => done + time / (script(done)?.length ?? 1)

  function advance(ms: number) {
    let { view } = store.getState()
    time += ms
    for (let now = script(done); now && time >= now.length; now = script(done)) {
      view = catchUp(view)
      ;[done, time, applied] = [done + 1, time - now.length, 0]
      base = view
    }
    const ended = done >= steps()
    if (ended) time = 0
    view = catchUp(view)
    show(view, !ended, ended ? { held: false } : {})
  }

  function frame() {
    if (!store.getState().playing) return
    const now = clock.now()
    const passed = last === null ? 0 : now - last
    if (last === null || passed >= SHORTEST_FRAME) {
      last = now
      advance(Math.min(passed, LONGEST_FRAME) * speed())
    }
    clock.frame(frame)
  }

  /** The view `ms` after step `finished` was over. */
  function viewAt(finished: number, ms: number): RunView {
    const now = recording
    if (!now) return EMPTY_RUN
    at = null
    const fresh = peeked
    peeked = false
    if (!fresh && finished === done && ms >= time) {
      time = ms
      return catchUp(store.getState().view)
    }
    // Once the step has begun, it alone is made anew: its first beat forgets what it held. What came before is as it was.
    const begun = !fresh && finished === done && applied > 0 && ms >= (script(done)?.beats[0]?.at ?? Infinity)
    ;[done, time, applied] = [finished, ms, 0]
    if (!begun) base = restored(now, done)
    return catchUp(base)
  }

  function seek(wanted: number, held = true) {
    if (!recording) return
    const to = Math.min(Math.max(0, wanted), steps())
    const finished = Math.floor(to)
    const view = viewAt(finished, (to - finished) * (script(finished)?.length ?? 0))
    // The position as it was asked for: a handle that is drawn a hair beside where it was put would be put there again.
    show(view, store.getState().playing && finished < steps(), { position: to, held })
  }

  function peek(wanted: number) {
    const { history } = store.getState().view
    seek(wanted)
    const { view } = store.getState()
    if (history.length <= view.history.length) return
    peeked = true
    store.setState({ view: { ...view, history } })
  }

  function step(grain: Grain) {
    if (store.getState().state !== 'on') return
    let now = script(done)
    // Its end is where it begins anew; in the rest after a step, that step is over.
    let from = now ? done : 0
    if (now && time >= endOf(now)) from++
    now = script(from)
    const stop = now && nextStop(now, from === done ? time : 0, grain)
    const view = stop === null ? viewAt(Math.min(from + 1, steps()), 0) : viewAt(from, stop)
    if (stop !== null && grain !== 'step') at = grain
    show(view, false, { held: true })
  }

  function play() {
    const { playing, position, state } = store.getState()
    if (playing || state !== 'on') return
    if (position >= steps()) seek(0)
    last = null
    at = null
    show(peeked ? viewAt(done, time) : store.getState().view, true, { held: false })
    clock.frame(frame)
  }

  return {
    store,
    tokens,
    expect: () => store.setState({ state: 'coming' }),
    open(opened, still) {
      if (store.getState().state !== 'coming') return
      recording = opened
      const { comparisons } = opened
      store.setState({ state: 'on', comparisons, rewards: opened.history.map(({ metrics }) => metrics['reward'] ?? null) })
      seek(still ? steps() : Math.min(FIRST_STEPS, steps() - 1), false)
      if (!still) play()
    },
    play,
    pause() {
      const { view, playing } = store.getState()
      if (playing) show(view, false, { held: true })
    },
    seek: (to) => seek(to),
    peek,
    step,
    end() {
      if (store.getState().state === 'off') return
      store.setState(NOTHING, true)
      tokens.clear()
      scripts.clear()
      recording = null
    },
  }
}
