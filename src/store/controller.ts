/** What the buttons do: joins the worker's port with the stores. No React, no DOM. */

import type { RunConfig } from '../core/config'
import type { EnvironmentSpec } from '../core/environment-spec'
import type { EvaluationHow, RunRecord } from '../core/run-record'
import { isSame } from '../core/same'
import type { Command, EvaluationResult, Grain, Message } from '../worker/protocol'
import { createModelActions, type ModelActions } from './model-actions'
import { needsLoad } from './model-settings'
import { isDistrusted, type ModelStore } from './model-store'
import { nextConfig } from './next-environment'
import { plannedConfig } from './planned'
import type { PresetName } from './presets'
import { isRecording } from './restore'
import type { RunStore } from './run-store'
import type { SelectionStore } from './selection-store'
import { type SettingKey, type SettingValue, withSettings } from './settings'
import { hasChanges, isToMeasure, onlyEndDiffers, type SetupStore, type SetupView } from './setup-store'
import { isActive, isBroken, isMeasuring, type RunView } from './view'

/** The worker as the page sees it. */
export interface EnginePort {
  send(command: Command): void
  onMessage(listener: (message: Message) => void): void
}

export interface Controller {
  readonly model: ModelActions
  /** First load of the model; does nothing while a linked environment or a linked model of the Hub waits for consent. */
  start(): void
  train(): void
  /** Goes on by a token, an episode or, without a grain, to the end of a GRPO step. */
  step(grain?: Grain): void
  pause(): void
  /** Back to step 0; with changed settings, a new run with these. */
  reset(): void
  /** Takes the changed controls back to the settings that the run has. */
  revert(): void
  /** Changes the controls. The worker hears of it at Reset, or at Train while nothing has been trained. */
  edit(change: (config: RunConfig) => RunConfig): void
  /** Hands a changed max_steps or target_reward to the run that goes on, which ends there; a run that rests hears of it at Train or Step. */
  takeEnd(): void
  /** Takes an environment: a preset with its settings, another with the present ones (next-environment.ts); and others on top. At once if that destroys no run. */
  chooseEnvironment(spec: EnvironmentSpec, settings?: Partial<Record<SettingKey, SettingValue>>): void
  /** Takes a preset that has stages; at once if that destroys no run. */
  choosePlan(name: PresetName): void
  /** The person agrees to the servers, datasets and code that the link names. */
  consent(): void
  /** Sends a command as it is. */
  send(command: Command): void
  /** Success rates over fixed-seed episodes; rejects with the worker's sentence. */
  evaluate(episodes: number, how?: EvaluationHow): Promise<EvaluationResult>
}

const ENDS_WAIT: readonly Command['type'][] = ['configure', 'resume', 'pause-load', 'cancel-load']

/** Nothing would be lost by configuring anew: no step was begun. */
export function isFresh(view: RunView): boolean {
  return view.steps.length === 0 && view.history.length === 0 && !isActive(view.run)
}

export function createController(
  port: EnginePort,
  run: RunStore,
  setup: SetupStore,
  selection: SelectionStore,
  models: ModelStore,
): Controller {
  let afterReady: Command | null = null
  /** It waits for an evaluation, not for a load. */
  let behindEvaluation = false
  let lastRequest = 0
  /** The page's first load clears what there was before it: nothing. What is selected is the link's, or of the recording. */
  let opening = false
  const pending = new Map<number, { resolve: (result: EvaluationResult) => void; reject: (error: Error) => void }>()

  port.onMessage((message) => {
    run.receive(message)
    model.receive(message)
    if (message.type === 'resume-refused' || (message.type === 'state' && (message.state.state === 'failed' || message.state.state === 'load-paused'))) giveUp()
    if (message.type === 'state' && (message.state.state === 'ready' || message.state.state === 'paused') && afterReady && !setup.getState().resuming) {
      const command = afterReady
      keep(null)
      // As if it were pressed now: the settings may have been changed since.
      if (!setup.getState().awaitsConsent) go(command)
    }
    if (message.type === 'environment') offerPrompts(message)
    // A failed change: the controls keep it, the run that goes on has these.
    if (message.type === 'configured') setup.setState(({ applied }) => ({ applied: message.config, turnedDown: applied && !isSame(applied.environment, message.config.environment) ? applied.environment : null }))
    if (message.type === 'state' && message.state.state !== 'failed' && setup.getState().turnedDown !== null) setup.setState({ turnedDown: null })
    const ended = message.type === 'cleared' && !opening
    if (message.type === 'cleared') opening = false
    if (ended || message.type === 'restored') selection.setState({ step: null, token: null })
    // A run that was gone on with brings its settings; a recording leaves those of the run that is loaded.
    if (message.type === 'restored' && !isRecording(message.run)) takeOver(message.run)
    // Nothing is trained under what is only looked at.
    if (message.type === 'restored' && isRecording(message.run)) keep(null)
    if (message.type === 'evaluation') {
      pending.get(message.requestId)?.resolve(message.result)
      evaluated(message.requestId)
    }
    if (message.type === 'evaluation-failed') {
      pending.get(message.requestId)?.reject(new Error(message.error))
      evaluated(message.requestId)
    }
  })

  /** A server or a class may bring prompts: empty controls take them, and Train hands them over. */
  function offerPrompts({ spec, prompts }: Extract<Message, { type: 'environment' }>) {
    const { config } = setup.getState()
    if (spec.kind === 'builtin' || spec.kind === 'mix' || JSON.stringify(spec) !== JSON.stringify(config.environment)) return
    const system_prompt = config.system_prompt || prompts.system
    const user_prompt = config.user_prompt || prompts.user
    if (system_prompt === config.system_prompt && user_prompt === config.user_prompt) return
    setup.setState({ config: { ...config, system_prompt, user_prompt } })
  }

  const measures = () => pending.size > 0 || isMeasuring(run.getState())

  /** What was pressed meanwhile begins now. */
  function evaluated(requestId: number) {
    pending.delete(requestId)
    const command = afterReady
    if (!command || !behindEvaluation || measures()) return
    keep(null)
    go(command)
  }

  /** What begins when the model is there, or has been evaluated; null: nothing. */
  function keep(command: Command | null, evaluating = false) {
    afterReady = command
    behindEvaluation = evaluating
    if (setup.getState().pressed !== (command !== null)) setup.setState({ pressed: command !== null })
  }

  /** What was pressed before was meant for another run. */
  function giveUp(resuming: SetupView['resuming'] = null) {
    keep(null)
    if (setup.getState().resuming !== resuming) setup.setState({ resuming })
  }

  function takeOver({ config }: RunRecord) {
    const { resuming } = setup.getState()
    // What was pressed while it loaded begins once it rests, unless it came to be measured only.
    if (resuming === null || isToMeasure(resuming, config)) keep(null)
    setup.setState({ config, applied: config, awaitsConsent: false, problems: [], resuming: null })
  }

  function send(command: Command) {
    if (ENDS_WAIT.includes(command.type)) giveUp(command.type === 'resume' ? command : null)
    if (command.type === 'configure') {
      // The first time nothing is gone: the token is the link's.
      if (setup.getState().applied !== null) selection.setState({ step: null, token: null })
      else opening = true
      setup.setState({ config: command.config, applied: command.config, awaitsConsent: false })
    }
    port.send(command)
  }

  const configure = () => send({ type: 'configure', config: setup.getState().config })

  /** Configures unless that would lose a run, or fetch weights from the Hub without a person's word. */
  function configureIfFresh() {
    run.flush()
    const view = run.getState()
    if (!needsLoad(setup.getState()) && isFresh(view) && view.run.state !== 'load-paused') configure()
  }

  const model = createModelActions({ send, setup, models, configureIfFresh, engine: () => run.getState().engine })

  /** The run takes another end as it is. */
  function extend(state: SetupView) {
    if (!onlyEndDiffers(state)) return
    const { max_steps, target_reward } = state.config.grpo
    send({ type: 'extend', max_steps, target_reward })
    setup.setState({ applied: state.config })
  }

  /** Train and Step on a page whose settings were never taken over take them over first. */
  function go(command: Command) {
    const state = setup.getState()
    run.flush()
    // Nothing can be trained on from what was read from a file.
    if (run.getState().recording !== null) return
    // A new configuration would give up the kept run that loads.
    if (state.resuming !== null) {
      keep(command)
      selection.setState({ step: null })
      return
    }
    const fresh = state.applied === null || isFresh(run.getState())
    if (isDistrusted(run.getState().engine, models.getState()) || (fresh && needsLoad(state))) return
    if (state.applied === null || (hasChanges(state) && fresh)) {
      configure()
      keep(command)
    } else if (run.getState().run.state === 'loading') {
      keep(command)
    } else if (measures()) {
      keep(command, true)
    } else {
      extend(state)
      send(command)
    }
    selection.setState({ step: null })
  }

  return {
    model,
    start() {
      const state = setup.getState()
      if (state.applied === null && !state.awaitsConsent && !needsLoad(state)) configure()
    },
    train: () => go({ type: 'train' }),
    step: (grain = 'step') => go({ type: 'step', grain }),
    pause() {
      const taken = setup.getState().pressed
      keep(null)
      run.flush()
      // What was pressed behind an evaluation is taken back first; the next press ends that.
      if (isMeasuring(run.getState())) {
        if (!taken) send({ type: 'evaluate-stop' })
        return
      }
      const now = run.getState().run
      // While an environment is waited for there is no step to pause, but a wait to stop.
      send({ type: now.state === 'loading' && now.what === 'environment' ? 'pause-load' : 'pause' })
    },
    reset() {
      keep(null)
      const state = setup.getState()
      run.flush()
      const now = run.getState().run
      if (needsLoad(state)) return
      if (state.applied === null || hasChanges(state) || isBroken(now) || now.state === 'load-paused') configure()
      else send({ type: 'reset' })
    },
    revert() {
      const { applied } = setup.getState()
      if (applied) setup.setState({ config: applied, problems: [] })
    },
    edit(change) {
      setup.setState((state) => ({ config: change(state.config) }))
    },
    takeEnd() {
      run.flush()
      const view = run.getState()
      if (isActive(view.run) && view.recording === null) extend(setup.getState())
    },
    chooseEnvironment(spec, settings = {}) {
      const { config } = setup.getState()
      run.flush()
      const connected = run.getState().environment
      const offered = connected && JSON.stringify(connected.spec) === JSON.stringify(config.environment) ? connected.prompts : null
      setup.setState({ config: withSettings(nextConfig(spec, config, offered), settings), awaitsConsent: false, problems: [] })
      configureIfFresh()
    },
    choosePlan(name) {
      setup.setState(({ config }) => ({ config: plannedConfig(name, config), awaitsConsent: false, problems: [] }))
      configureIfFresh()
    },
    consent() {
      setup.setState({ awaitsConsent: false })
      if (!needsLoad(setup.getState())) configure()
    },
    send,
    evaluate(episodes, how = {}) {
      const requestId = ++lastRequest
      return new Promise((resolve, reject) => {
        pending.set(requestId, { resolve, reject })
        port.send({ type: 'evaluate', requestId, episodes, ...how })
      })
    },
  }
}
