/** Stages before GRPO as the page sees them: the data that were chosen, what of them would train, how far it is. Made when first wanted. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import { isSame } from '../core/same'
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
  /** What the look at the Hub's dataset found, also while another part of it is read; null for other data. */
  hub: StageLook['hub']
  /** What a played episode took the place of, to be taken back. */
  aside: StageDataset | null
  /** Rows that were added from a person's own play, as JSON; what became of them in the text is the text's business. */
  played: readonly string[]
  settings: Readonly<Record<StageKind, StageSettings>>
  /** What would be trained on with these data and settings; null before they were looked at, or once something was changed. */
  look: StageLook | null
  looking: boolean
  /** Bytes of a dataset on the Hub that have come while it is read; 0 when none is. */
  reading: number
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
  /** Adds the episode that a person played last to the rows of SFT. */
  fromMyPlay(): void
  /** Brings back what a played episode took the place of. */
  takeBack(): void
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
    hub: null,
    aside: null,
    played: [],
    settings: { sft: first(sft), dpo: first(dpo) },
    look: null,
    looking: false,
    reading: 0,
    error: '',
    state: null,
    progress: null,
    done: [],
  }))
  let requests = 0
  /** The one that is answered next. */
  let pending: number | null = null
  /** A played episode is asked for, not a step's. */
  let mine = false

  /** Something was changed: what was seen of it holds no longer. */
  function change(next: Partial<StageView>) {
    pending = null
    store.setState((view) => {
      const { dataset = view.dataset } = next
      return { look: null, looking: false, reading: 0, error: '', hub: isOf(dataset, view.hub) ? view.hub : null, ...next }
    })
  }

  /** A row of a person's own goes to the end of a text; anything else makes room for it, and can be taken back. */
  function addMine(name: string, row: string) {
    const { kind, dataset, aside, played } = store.getState()
    const text = kind === 'sft' && dataset && 'text' in dataset ? dataset.text.trimEnd() : ''
    const other = dataset && text === '' ? dataset : aside
    change({ kind: 'sft', dataset: { name: dataset && text !== '' ? dataset.name : name, text: text === '' ? row : `${text}\n${row}` }, aside: other, played: [...played, row] })
  }

  /** Of another run: the curves of a stage that it has not been through are not its own. */
  function know(stages: readonly StageRecord[]) {
    const { done, progress } = store.getState()
    const goesOn = done.every((stage, i) => isSame(stage, stages[i]))
    store.setState({ done: stages, progress: goesOn ? progress : null })
  }

  port.onMessage((message) => {
    switch (message.type) {
      case 'stage-looked':
        if (message.requestId !== pending) return
        pending = null
        return store.setState({ looking: false, reading: 0, ...(message.result.ok ? { look: message.result.look, hub: message.result.look.hub, error: '' } : { look: null, error: message.result.error }) })
      case 'stage-reading': {
        const { looking, state } = store.getState()
        return looking || state === 'preparing' ? store.setState({ reading: message.bytes }) : undefined
      }
      case 'stage-rows': {
        if (message.requestId !== pending) return
        const { result } = message
        if (!result.ok) return change({ error: result.error })
        if (mine) addMine(result.name, result.text)
        else change({ dataset: { name: result.name, text: result.text } })
        return look(0)
      }
      case 'stage-state': {
        const { state } = message
        if (state.state === 'ended') return store.setState({ state: null, reading: 0, error: state.error })
        return store.setState({ state: state.state, ...(state.state === 'preparing' ? { progress: { kind: message.kind, steps: 0, metrics: [] }, error: '' } : {}) })
      }
      case 'stage-progress': {
        const { progress } = store.getState()
        return store.setState({ progress: { kind: message.kind, steps: message.steps, metrics: [...(progress?.metrics ?? []), message.metrics] } })
      }
      case 'stages':
        return know(message.stages)
      case 'engine':
        // Another model, or another template: the tokens are others.
        return change({})
      case 'restored':
        return know(message.run.stages ?? [])
      case 'state':
        // A worker that died answers nothing more.
        if (isBroken(message.state)) store.setState({ state: null, looking: false, reading: 0 })
        return
      default:
        return
    }
  })

  function look(from: number) {
    const { kind, dataset, settings } = store.getState()
    if (!dataset) return
    pending = ++requests
    store.setState({ looking: true, reading: 0, error: '' })
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
      mine = false
      store.setState({ looking: true, error: '' })
      port.send({ type: 'stage-rows', requestId: pending, kind: store.getState().kind, least })
    },
    fromMyPlay() {
      pending = ++requests
      mine = true
      store.setState({ looking: true, error: '' })
      port.send({ type: 'stage-play', requestId: pending })
    },
    takeBack() {
      const { aside, dataset } = store.getState()
      change({ dataset: aside, aside: dataset })
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

const isOf = (dataset: StageDataset | null, hub: StageLook['hub']): boolean =>
  dataset !== null && 'hub' in dataset && hub !== null && dataset.hub.repo === hub.repo && dataset.hub.revision === hub.revision

/** How many rows of the data came from a person's own play and are still there. */
export function playedRows({ dataset, played }: Pick<StageView, 'dataset' | 'played'>): number {
  if (!dataset || !('text' in dataset) || played.length === 0) return 0
  const mine = new Set(played)
  return dataset.text.split('\n').filter((line) => mine.has(line.trim())).length
}
