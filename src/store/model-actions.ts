/** What the model panel's controls do: choose, look up, load, pause, token, stored models, starting LoRA. No React, no DOM. */

import { type AdapterSource, type Precision, type RunConfig, trainedLora } from '../core/config'
import type { Command, Message } from '../worker/protocol'
import { type ModelChoice, weightsKey, withModel } from './model-settings'
import { inspectionOf, type ModelStore, type ModelView, subjectOf, testKey } from './model-store'
import { defaultConfig } from './presets'
import type { SetupStore } from './setup-store'

/** Rest after a changed setting before its memory is asked for again, in ms. */
const INSPECTION_SETTLES = 400

export type GivenAdapter = Omit<Extract<Command, { type: 'give-adapter' }>, 'type'> & { facts: ModelView['givenAdapters'][string] }

export interface ModelActions {
  /** Takes a model with the settings that suit it and looks it up. Weights of the Hub wait for `load`. */
  choose(choice: ModelChoice): void
  setPrecision(precision: Precision): void
  /** The LoRA that step 0 has; null makes a fresh one. */
  setAdapter(adapter: AdapterSource | null): void
  /** A PEFT adapter's files become the start. */
  giveAdapter(adapter: GivenAdapter): void
  /** What would loading the model take? The answer comes to the model store; asked again when a setting changes that matters. */
  inspect(): void
  /** Downloads what is missing and loads. */
  load(): void
  pauseLoad(): void
  /** Goes on with a paused download. */
  resumeLoad(): void
  /** Gives the loading up, keeps what has come, and goes back to the model that was loaded before. */
  cancelLoad(): void
  /** Hands a Hub token to the worker, the only place that keeps it; null forgets it. */
  setToken(token: string | null): void
  listStored(): void
  deleteStored(key: string): void
  /** Train although the self-test failed. */
  trustDevice(): void
  /** Computes on WASM instead; at once if that destroys no run. */
  useWasm(): void
  /** Takes a message of the worker in. */
  receive(message: Message): void
}

interface Page {
  send(command: Command): void
  setup: SetupStore
  models: ModelStore
  /** Configures at once if that destroys no run. */
  configureIfFresh(): void
  /** The failed self-test of the engine that is loaded, if any. */
  engine(): Parameters<typeof testKey>[0]
}

/** The settings that the memory plan follows from. */
function planKey(config: RunConfig): string {
  const { num_generations, prompts_per_step, max_completion_length } = config.grpo
  return [weightsKey(config), config.backend, JSON.stringify(trainedLora(config)), num_generations, prompts_per_step, max_completion_length].join(' ')
}

export function createModelActions({ send, setup, models, configureIfFresh, engine }: Page): ModelActions {
  let lastRequest = 0
  let askedPlan = ''
  let deleting = false
  let timer: ReturnType<typeof setTimeout> | undefined

  function inspect() {
    clearTimeout(timer)
    const { config } = setup.getState()
    const requestId = ++lastRequest
    const known = inspectionOf(models.getState(), config)?.result
    askedPlan = planKey(config)
    models.setState({ inspection: { subject: subjectOf(config), requestId, pending: true, result: known?.ok ? known : null } })
    send({ type: 'inspect', requestId, config })
  }

  // Only what a person looked up is looked up again: a link that names another model must not reach the Hub by itself.
  setup.subscribe(({ config }) => {
    if (!inspectionOf(models.getState(), config) || planKey(config) === askedPlan) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (inspectionOf(models.getState(), setup.getState().config)) inspect()
    }, INSPECTION_SETTLES)
  })

  /** A changed choice: looked up, and loaded at once where nothing comes from the Hub and no run is lost. */
  function change(edit: (config: RunConfig) => RunConfig) {
    setup.setState((state) => ({ config: edit(state.config) }))
    inspect()
    if (!setup.getState().awaitsConsent) configureIfFresh()
  }

  const configure = (config: RunConfig) => send({ type: 'configure', config })
  const setAdapter = (adapter: AdapterSource | null) => change((config) => ({ ...config, adapter }))

  return {
    choose: (choice) => change((config) => withModel(config, choice)),
    setPrecision: (precision) => change((config) => ({ ...config, precision })),
    setAdapter,
    giveAdapter({ facts, ...files }) {
      models.setState(({ givenAdapters }) => ({ givenAdapters: { ...givenAdapters, [files.name]: facts } }))
      send({ type: 'give-adapter', ...files })
      setAdapter({ kind: 'file', name: files.name })
    },
    inspect,
    load() {
      const { config, awaitsConsent } = setup.getState()
      // Loading also connects the environment.
      if (!awaitsConsent) configure(config)
    },
    pauseLoad: () => send({ type: 'pause-load' }),
    resumeLoad() {
      const { applied, config } = setup.getState()
      // Other settings may have changed meanwhile; another model waits for its own Load.
      configure(applied && weightsKey(applied) !== weightsKey(config) ? applied : config)
    },
    cancelLoad() {
      const { applied, config } = setup.getState()
      const { lastLoaded } = models.getState()
      const back = lastLoaded && applied && weightsKey(lastLoaded) !== weightsKey(applied) ? lastLoaded : defaultConfig(config.environment)
      setup.setState({ config: back, applied: back })
      send({ type: 'cancel-load', back })
    },
    setToken(token) {
      send({ type: 'token', token })
      models.setState({ hasToken: token !== null })
      const asked = inspectionOf(models.getState(), setup.getState().config)
      if (token !== null && asked?.result?.ok === false) inspect()
    },
    listStored: () => send({ type: 'list-stored' }),
    deleteStored(key) {
      deleting = true
      send({ type: 'delete-stored', key })
    },
    trustDevice() {
      models.setState({ trusted: testKey(engine()) })
      send({ type: 'trust-device' })
    },
    useWasm() {
      setup.setState((state) => ({ config: { ...state.config, backend: 'wasm' } }))
      configureIfFresh()
    },
    receive(message) {
      if (message.type === 'inspection') {
        const { requestId, result } = message
        // Only the newest question has an answer.
        models.setState(({ inspection }) => ({ inspection: inspection?.requestId === requestId ? { ...inspection, pending: false, result } : inspection }))
      } else if (message.type === 'stored-models') {
        models.setState({ stored: { models: message.models, storage: message.storage } })
        // What is gone has to be downloaded again.
        if (deleting && inspectionOf(models.getState(), setup.getState().config)?.result?.ok) inspect()
        deleting = false
      } else if (message.type === 'engine') {
        models.setState({ lastLoaded: setup.getState().applied })
        // A person's word holds for this GPU and model, also when the engine is loaded again.
        const key = testKey(message.report)
        if (key !== null && key === models.getState().trusted) send({ type: 'trust-device' })
        if (models.getState().stored) send({ type: 'list-stored' })
      }
    },
  }
}
