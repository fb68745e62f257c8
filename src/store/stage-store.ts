/** Stages before GRPO as the page sees them: the data that were chosen, what of them would train, how far it is. Made when first wanted. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import { DEFAULT_STAGE, STAGE_KINDS, type StageKind, type StageRecord, type StageSettings } from '../core/stage'
import { TINY_MODEL } from '../env/presets'
import type { StageDataset, StageLook, StageState } from '../worker/protocol'
import type { EnginePort } from './controller'
import { isBroken } from './view'

/** Rows whose tokens are shown at once. */
export const SHOWN_ROWS = 5

/** The shipped model wants a far higher rate than a large one. */
const TINY_RATES: Readonly<Record<StageKind, number>> = { sft: 1e-3, dpo: 3e-4 }

export interface StageView {
  kind: StageKind
  /** null while there is none. */
  dataset: StageDataset | null
  settings: Readonly<Record<StageKind, StageSettings>>
  /** What would be trained on with these data and settings; null before they were looked at, or once something was changed. */
  look: StageLook | null
  looking: boolean
  /** Why the last thing asked for came to nothing; '' when it did not. */
  error: string
  /** null while nothing is trained. */
  state: Exclude<StageState['state'], 'ended'> | null
  /** Of the stage that is trained, or was last. */
  progress: { kind: StageKind; steps: number; metrics: readonly Readonly<Record<string, number | null>>[] } | null
  /** Stages of the loaded run. */
  done: readonly StageRecord[]
}

export interface Stage {
  readonly store: StoreApi<StageView>
  choose(kind: StageKind): void
  give(dataset: StageDataset | null): void
  set(change: Partial<StageSettings>): void
  /** Asks for the tokens of the rows from `from` on. */
  look(from: number): void
  /** Takes the last step's episodes as data. */
  fromPlay(least: number): void
  train(): void
  control(what: 'pause' | 'go-on' | 'stop'): void
}

const made = new WeakMap<EnginePort, Stage>()

/** The one store of this worker. */
export function stageOf(port: EnginePort, model: string): Stage {
  const stage = made.get(port) ?? createStage(port, model)
  made.set(port, stage)
  return stage
}

/** `model`: the one that is chosen, for the first learning rates. */
export function createStage(port: EnginePort, model: string): Stage {
  const first = (kind: StageKind): StageSettings => ({ ...DEFAULT_STAGE[kind], ...(model === TINY_MODEL ? { learning_rate: TINY_RATES[kind] } : {}) })
  const [sft, dpo] = STAGE_KINDS
  const store = createStore<StageView>(() => ({
    kind: 'sft',
    dataset: null,
    settings: { sft: first(sft), dpo: first(dpo) },
    look: null,
    looking: false,
    error: '',
    state: null,
    progress: null,
    done: [],
  }))
  let requests = 0
  /** The one that is answered next. */
  let pending: number | null = null

  /** Something was changed: what was seen of it holds no longer. */
  function change(next: Partial<StageView>) {
    pending = null
    store.setState({ look: null, looking: false, error: '', ...next })
  }

  port.onMessage((message) => {
    switch (message.type) {
      case 'stage-looked':
        if (message.requestId !== pending) return
        pending = null
        return store.setState(message.result.ok ? { look: message.result.look, looking: false, error: '' } : { look: null, looking: false, error: message.result.error })
      case 'stage-rows': {
        if (message.requestId !== pending) return
        const { result } = message
        if (!result.ok) return change({ error: result.error })
        change({ dataset: { name: result.name, text: result.text } })
        return look(0)
      }
      case 'stage-state': {
        const { state } = message
        if (state.state === 'ended') return store.setState({ state: null, error: state.error })
        return store.setState({ state: state.state, ...(state.state === 'preparing' ? { progress: { kind: message.kind, steps: 0, metrics: [] }, error: '' } : {}) })
      }
      case 'stage-progress': {
        const { progress } = store.getState()
        return store.setState({ progress: { kind: message.kind, steps: message.steps, metrics: [...(progress?.metrics ?? []), message.metrics] } })
      }
      case 'stages':
        return store.setState({ done: message.stages })
      case 'engine':
        // Another model, or another template: the tokens are others.
        return change({})
      case 'restored':
        return store.setState({ done: message.run.stages ?? [] })
      case 'state':
        // A worker that died answers nothing more.
        if (isBroken(message.state)) store.setState({ state: null, looking: false })
        return
      default:
        return
    }
  })

  function look(from: number) {
    const { kind, dataset, settings } = store.getState()
    if (!dataset) return
    pending = ++requests
    store.setState({ looking: true, error: '' })
    port.send({ type: 'stage-look', requestId: pending, kind, dataset, settings: settings[kind], from, count: SHOWN_ROWS })
  }

  return {
    store,
    look,
    choose: (kind) => change({ kind }),
    give: (dataset) => change({ dataset }),
    set(next) {
      const { kind, settings } = store.getState()
      change({ settings: { ...settings, [kind]: { ...settings[kind], ...next } } })
    },
    fromPlay(least) {
      pending = ++requests
      store.setState({ looking: true, error: '' })
      port.send({ type: 'stage-rows', requestId: pending, kind: store.getState().kind, least })
    },
    train() {
      const { kind, dataset, settings, look: seen, state } = store.getState()
      // What trains was seen before.
      if (!dataset || !seen || seen.rows === 0 || state !== null) return
      port.send({ type: 'stage', kind, dataset, settings: settings[kind] })
    },
    control: (what) => port.send({ type: 'stage-control', do: what }),
  }
}
