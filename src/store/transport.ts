/** Play, pause, step and reset as one set of controls: what each would do now, to the run or to the recorded run while that is shown. */

import { S } from '../ui/strings'
import type { Grain, RunState } from '../worker/protocol'
import { isFresh } from './controller'
import type { Stores } from './hooks'
import { needsLoad } from './model-settings'
import { isDistrusted } from './model-store'
import type { RunsView } from './runs-store'
import { planRefusal } from './plan-state'
import { hasChanges, isToMeasure, onlyEndDiffers, type SetupView } from './setup-store'
import { isActive, isBroken, isMeasuring } from './view'

export interface Control {
  can: boolean
  name: string
  hint: string
}

export interface Transport {
  /** Of a recorded run that is shown, all but Train are its own. */
  replay: boolean
  train: Control
  /** `plays`: it goes on what it held. */
  pause: Control & { plays: boolean }
  step: Control
  /** `urged`: settings were changed that only it takes over. `rewinds`: it is of the recorded run. */
  reset: Control & { urged: boolean; rewinds: boolean }
}

type Read = Pick<Stores, 'run' | 'setup' | 'models' | 'runs' | 'replay'>

const C = S.controls

/** The controls as they stand. */
export function transportOf(stores: Read): Transport {
  const live = liveOf(stores)
  const { state, playing, position, rewards } = stores.replay.store.getState()
  if (state !== 'on') return live
  const hold = playing ? { name: C.pause, hint: C.replay.pause } : { name: C.play, hint: position >= rewards.length ? C.replay.again : C.replay.play }
  const { run } = stores.run.getState()
  // What only Reset can mend of the run stays its own.
  const mends = isBroken(run) || run.state === 'load-paused'
  return {
    replay: true,
    train: { ...live.train, hint: live.train.can ? C.replay.train : live.train.hint },
    // What was pressed before the model is there can be taken back first.
    pause: stores.setup.getState().pressed ? live.pause : { can: true, plays: !playing, ...hold },
    step: { can: true, name: C.step, hint: C.replay.step },
    reset: mends ? live.reset : { can: position > 0, name: C.reset, hint: C.replay.reset, urged: false, rewinds: true },
  }
}

function liveOf({ run: runStore, setup: setupStore, models, runs }: Read): Transport {
  const view = runStore.getState()
  const setup = setupStore.getState()
  const { run } = view
  const [fresh, waits] = [isFresh(view), needsLoad(setup)]
  const changed = hasChanges(setup) && !onlyEndDiffers(setup)
  const endsLater = laterEnd(setup, run) !== null
  const { resuming } = setup
  const measuring = resuming ? isMeasured(resuming, runs.store.getState().runs) : runs.store.getState().measuring !== null
  const refused = resuming ? null : planRefusal(setup, view)
  const stands = blockedBy(view.recording !== null, measuring, isDistrusted(view.engine, models.getState()), !resuming && fresh && waits)
  const blocked = stands ?? (refused && C.planRefused(refused.place, refused.why))
  const loading = run.state === 'loading' || (resuming !== null && !isActive(run))
  const evaluates = isMeasuring(view)
  const pressed = (loading || evaluates) && setup.pressed
  const rests = run.state === 'ready' || run.state === 'paused' || endsLater || (run.state === 'failed' && run.recoverable)
  const idle = loading ? (fresh || resuming !== null) && !pressed : rests && !pressed
  const canRun = idle && !setup.awaitsConsent && blocked === null
  // A server, or a Space that wakes, is waited for: that can be stopped, and begun again by Reset.
  const connecting = run.state === 'loading' && run.what === 'environment'
  const stopped = run.state === 'load-paused' && run.what !== 'environment'
  return {
    replay: false,
    train: {
      can: canRun,
      name: run.state === 'paused' || endsLater ? C.resume : C.train,
      hint: blocked ?? (pressed ? (evaluates ? C.evaluating.pressed : C.pressedHint) : run.state === 'finished' && !endsLater ? (waits ? S.model.loadFirst : changed ? C.finishedChanged : C.finishedHint) : C.trainHint),
    },
    pause: { can: connecting || pressed || evaluates || run.state === 'running', plays: false, name: C.pause, hint: connecting ? S.environment.stopWaiting : evaluates ? (pressed ? C.evaluating.takeBack : C.evaluating.end) : pressed ? C.takeBack : C.pauseHint },
    step: { can: canRun, name: C.step, hint: blocked ?? C.stepHint },
    reset: {
      can: !loading && !stopped && !setup.awaitsConsent && !waits,
      name: C.reset,
      hint: waits ? S.model.loadFirst : changed ? C.resetChanged : fresh ? C.resetFresh : C.resetHint,
      urged: changed && !waits && !fresh,
      rewinds: false,
    },
  }
}

/** The step to which Resume goes on from a run that has ended, where its end was raised alone; else null. */
export function laterEnd(setup: SetupView, run: RunState): number | null {
  const { max_steps } = setup.config.grpo
  return run.state === 'finished' && onlyEndDiffers(setup) && max_steps > run.step ? max_steps : null
}

function isMeasured(resuming: NonNullable<SetupView['resuming']>, runs: RunsView['runs']): boolean {
  const record = runs?.find(({ id }) => id === resuming.id)
  return record !== undefined && isToMeasure(resuming, record.config)
}

function blockedBy(recording: boolean, measuring: boolean, distrusted: boolean, unloaded: boolean): string | null {
  if (recording) return S.runs.recording.blocked
  if (measuring) return S.runs.measuring
  return distrusted ? S.model.test.blocked : unloaded ? S.model.loadFirst : null
}

type Driven = Read & Pick<Stores, 'controller' | 'display'>

/** Train: begins or goes on with the run, whatever is shown. The recorded run rests: what is loaded may need the processor. */
export function pressTrain(stores: Driven): void {
  if (!transportOf(stores).train.can) return
  stores.replay.pause()
  stores.controller.train()
}

/** Holds what runs; what it held of the recorded run it plays on. */
export function pressPause(stores: Driven): void {
  const { replay, pause } = transportOf(stores)
  if (!pause.can) return
  if (!replay || stores.setup.getState().pressed) stores.controller.pause()
  else if (pause.plays) stores.replay.play()
  else stores.replay.pause()
}

/** One key for both: holds what runs, goes on with what rests. */
export function pressPlayPause(stores: Driven): void {
  const { replay } = transportOf(stores)
  if (replay || isActive(stores.run.getState().run)) pressPause(stores)
  else pressTrain(stores)
}

/** Goes on by the grain that is chosen, or by another. */
export function pressStep(stores: Driven, grain: Grain = stores.display.getState().grain): void {
  const { replay, step } = transportOf(stores)
  if (!step.can) return
  if (replay) stores.replay.step(grain)
  else stores.controller.step(grain)
}

/** Back to step 0: of the run, or to where the recorded one begins. */
export function pressReset(stores: Driven): void {
  const { reset } = transportOf(stores)
  if (!reset.can) return
  if (reset.rewinds) {
    stores.replay.pause()
    stores.replay.seek(0)
  } else stores.controller.reset()
}
