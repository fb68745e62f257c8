/** Opens and closes lessons: what stood on the page before comes back when the last one is closed. No React, no DOM. */

import { defaultConfig } from './presets'
import { type Controller, isFresh } from './controller'
import { DEFAULT_DISPLAY, type Display, type DisplayStore } from './display'
import { HIDE_KEYS } from './hide'
import { type LinkPlace, readLink } from './link'
import { LESSON_STARTS, type LessonId } from './lessons'
import { needsLoad } from './model-settings'
import type { Replay } from './replay'
import type { RunStore } from './run-store'
import type { Runs } from './runs-store'
import type { SelectionStore, SelectionView } from './selection-store'
import { sameConfig, type SetupStore, type SetupView } from './setup-store'

/** What stood on the page. */
interface Before {
  config: SetupView['config']
  selection: SelectionView
  display: Display
  /** The recorded run: its place, null while it played; absent where it was not shown. */
  recording?: LinkPlace | null
  /** Nothing had been trained. */
  fresh: boolean
  /** The run that was loaded. */
  run: string | null
}

export interface Lessons {
  open(id: LessonId): void
  close(): void
  /** To a card, from 1. */
  goTo(card: number): void
  /** A link is about to be taken over: what it holds beside its lesson is what is to come back. */
  arrive(hash: string, lesson: string | null): void
  /** How the recorded run is brought back after a run took its place. */
  recordingBy(show: (place: LinkPlace) => Promise<void>): void
}

interface Parts {
  run: RunStore
  replay: Replay
  setup: SetupStore
  selection: SelectionStore
  display: DisplayStore
  runs: Runs
  controller: Controller
}

export function createLessons({ run, replay, setup, selection, display, runs, controller }: Parts): Lessons {
  let before: Before | null = null
  let showRecording: ((place: LinkPlace) => Promise<void>) | null = null

  const fresh = () => {
    run.flush()
    return isFresh(run.getState())
  }

  function remember(): Before {
    const { state, playing, position } = replay.store.getState()
    return {
      config: setup.getState().config,
      selection: selection.getState(),
      display: display.getState(),
      ...(state !== 'off' && { recording: playing || state === 'coming' ? null : { at: position } }),
      fresh: fresh(),
      run: runs.store.getState().current,
    }
  }

  /** What the address says without its lesson. */
  function linked(hash: string): Before {
    const params = new URLSearchParams(hash.replace(/^#/, ''))
    for (const key of ['lesson', 'card']) params.delete(key)
    const { config, episode, token = null, display: shown, step, at = step } = readLink(`#${params.toString()}`)
    const here = setup.getState().config
    return {
      config: sameConfig(here, config) ? here : config,
      selection: { step: null, episode, token },
      display: { ...DEFAULT_DISPLAY, ...shown },
      recording: at === undefined ? null : { at },
      fresh: fresh(),
      run: runs.store.getState().current,
    }
  }

  function moveRecording(to: LinkPlace | null) {
    if (replay.store.getState().state !== 'on') return
    if (to?.at === undefined) replay.play()
    else {
      replay.pause()
      replay.seek(to.at)
    }
  }

  /** Waits until Reset is done: the worker's word that it cleared the page would end the recording again. */
  function recordingAgain(place: LinkPlace) {
    const go = () => {
      if (run.getState().run.state !== 'ready' || !isFresh(run.getState())) return
      stop()
      void showRecording?.(place)
    }
    const stop = run.subscribe(go)
    go()
  }

  return {
    open(id) {
      before ??= remember()
      const { environment, settings = {}, at, episode = 0, display: shown } = LESSON_STARTS[id]
      const { config } = setup.getState()
      const other = config.environment.kind !== 'builtin' || config.environment.name !== environment
      // A run that goes on is looked at as it is; an environment that the lesson needs is taken at once if that destroys no run.
      const spec = { kind: 'builtin', name: environment } as const
      // The recorded run comes back only to its own settings.
      const recorded = at !== undefined && replay.store.getState().state === 'off' && fresh()
      if (recorded) controller.chooseEnvironment(spec, { ...settings, seed: defaultConfig(spec).grpo.seed })
      else if (other && (environment === 'echo' || fresh())) controller.chooseEnvironment(spec, settings)
      const hide = HIDE_KEYS.filter((key) => before?.display.hide.includes(key) || shown.hide?.includes(key))
      display.setState({ ...before.display, ...shown, hide, grain: 'step', lesson: id, card: 1 })
      selection.setState({ step: null, episode, token: null })
      if (recorded) recordingAgain({ at })
      else if (at !== undefined) moveRecording({ at })
    },
    close() {
      const back = before
      before = null
      if (!back) {
        display.setState({ lesson: null, card: 1 })
        return
      }
      display.setState({ ...back.display, lesson: null, card: 1 }, true)
      const { config } = setup.getState()
      const { current } = runs.store.getState()
      if (!sameConfig(config, back.config)) setup.setState({ config: back.config, problems: [] })
      const trained = back.fresh && !fresh()
      const replaced = !back.fresh && current !== null && back.run !== null && current !== back.run
      if (replaced && back.run !== null) runs.resume(back.run)
      else if (trained || (!sameConfig(config, back.config) && fresh() && !needsLoad(setup.getState()))) {
        // Other settings, or a run that only the lesson began; it stays under Runs.
        controller.reset()
      }
      selection.setState({ ...back.selection, step: trained || replaced ? null : back.selection.step })
      if (back.recording === undefined) return
      if (replay.store.getState().state === 'on') moveRecording(back.recording)
      else if (replay.store.getState().state === 'off') recordingAgain(back.recording ?? {})
    },
    goTo: (card) => display.setState({ card }),
    arrive(hash, lesson) {
      if (lesson !== null) before ??= display.getState().lesson === lesson ? linked(hash) : remember()
      else before = null
    },
    recordingBy(show) {
      showRecording = show
    },
  }
}
