/** The runs that this browser keeps, as the page shows them: the list, which of them are compared, what is being gone on with. No React, no DOM. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import type { Precision } from '../core/config'
import type { DeviceReport } from '../core/plan'
import type { RunRecord, StepSummary } from '../core/run-record'
import type { Message, UnkeptRun } from '../worker/protocol'
import type { EnginePort } from './controller'
import { isRecording } from './restore'

/** Runs whose curves can be told apart in one chart. */
export const MOST_COMPARED = 5

/** A run's steps as they were read, or null while they come; `step`: how many the run had when they were asked for. */
interface ReadHistory {
  step: number
  steps: readonly StepSummary[] | null
}

export interface RunsView {
  /** Newest first; null until the worker has told. */
  runs: readonly RunRecord[] | null
  /** The run that is loaded. */
  current: string | null
  /** Those that go on in other tabs, as they were when the list was told. */
  held: readonly string[]
  storage: DeviceReport['storage']
  /** Why nothing can be kept, or ''. */
  problem: string
  /** The loaded run, where its newest weights are in the tab's memory alone. */
  unkept: UnkeptRun | null
  histories: Readonly<Record<string, ReadHistory>>
  /** Runs whose curves are drawn over the present ones, in the order in which they were chosen. */
  compared: readonly string[]
  /** The run that is being loaded again. */
  resuming: string | null
  /** The base that the loaded run stands on to be measured only; null while it can be trained on. */
  measuring: Precision | null
  /** Why the run that was last asked for is not gone on with. */
  refused: string | null
  /** Why a run was not deleted. */
  removeProblem: string | null
  /** The run that the page offered to go on with when it was opened; null once it was answered. */
  offered: string | null
  /** Trajectories that are being read from a file, and what was wrong with the last ones. */
  importing: string | null
  importProblem: string | null
}

export interface Runs {
  readonly store: StoreApi<RunsView>
  /** Asks for the list. */
  list(): void
  /** Loads a kept run and goes on at its newest checkpoint; on a base of another precision it can be measured only. */
  resume(id: string, precision?: Precision): void
  edit(id: string, change: { name?: string; notes?: string }): void
  remove(id: string): void
  /** Reads the steps of every listed run that are not known yet. */
  readHistories(): void
  /** Draws a run's curves over the present ones, or no longer. */
  compare(id: string, on: boolean): void
  /** Shows trajectories of a file, JSONL or Parquet, as a recording. */
  importFile(name: string, file: Blob): void
  /** The offer to go on is answered with no. */
  discardOffer(): void
  /** Why a run is not gone on with has been read. */
  forgetRefusal(): void
}

const NOTHING: RunsView = {
  runs: null,
  current: null,
  held: [],
  storage: null,
  problem: '',
  unkept: null,
  histories: {},
  compared: [],
  resuming: null,
  measuring: null,
  refused: null,
  removeProblem: null,
  offered: null,
  importing: null,
  importProblem: null,
}

/** Whether the run has steps to come and is not the one that is loaded. */
function isUnfinished(run: RunRecord, current: string | null): boolean {
  return !run.finished && run.checkpoint !== null && (run.checkpoint > 0 || (run.stages ?? []).length > 0) && run.id !== current
}

export function createRuns(port: EnginePort): Runs {
  const store = createStore<RunsView>(() => NOTHING)
  let requests = 0
  const reading = new Map<number, string>()
  let wanted: Precision | undefined
  let removing = false
  /** What is to be offered once no other tab has it. */
  let candidate: string | null = null

  function listed({ runs, current, held, storage, problem, unkept }: Extract<Message, { type: 'runs' }>) {
    const ids = new Set(runs.map(({ id }) => id))
    // Only what was there when the page was opened is offered.
    const offer = store.getState().runs === null ? runs[0] : runs.find(({ id }) => id === candidate)
    candidate = offer && isUnfinished(offer, current) ? offer.id : null
    store.setState((view) => ({
      runs,
      current,
      held,
      storage,
      problem,
      unkept,
      histories: Object.fromEntries(Object.entries(view.histories).filter(([id]) => ids.has(id))),
      compared: view.compared.filter((id) => ids.has(id)),
      offered: candidate !== null && !held.includes(candidate) ? candidate : null,
    }))
    if (store.getState().compared.length > 0) readHistories(store.getState().compared)
  }

  function readHistories(ids: readonly string[]) {
    const { runs, histories } = store.getState()
    const stale = (runs ?? []).filter(({ id, step }) => ids.includes(id) && histories[id]?.step !== step)
    for (const { id, step } of stale) {
      reading.set(++requests, id)
      store.setState((view) => ({ histories: { ...view.histories, [id]: { step, steps: view.histories[id]?.steps ?? null } } }))
      port.send({ type: 'read-history', requestId: requests, id })
    }
  }

  port.onMessage((message) => {
    switch (message.type) {
      case 'runs':
        removing = false
        return listed(message)
      case 'run-history': {
        const id = reading.get(message.requestId)
        reading.delete(message.requestId)
        const known = id === undefined ? undefined : store.getState().histories[id]
        if (id === undefined || !known) return
        return store.setState(({ histories }) => ({ histories: { ...histories, [id]: { ...known, steps: message.history } } }))
      }
      case 'restored':
        // Behind a recording the run that is loaded stays as it is, and so does the offer.
        if (isRecording(message.run)) return store.setState({ importing: null, importProblem: null })
        candidate = null
        return store.setState(({ resuming }) => ({
          measuring: resuming === message.run.id && wanted !== undefined && wanted !== message.run.config.precision ? wanted : null,
          resuming: null,
          importing: null,
          importProblem: null,
          offered: null,
        }))
      case 'resume-refused':
        return store.setState({ resuming: null, refused: message.why })
      case 'cleared':
        return store.setState({ measuring: null, unkept: null })
      case 'event':
        // A file that cannot be shown is answered by a notice, and so is a run that cannot be deleted.
        if (message.event.type === 'notice' && store.getState().importing !== null) {
          store.setState({ importing: null, importProblem: message.event.text })
        } else if (message.event.type === 'notice' && removing) {
          store.setState({ removeProblem: message.event.text })
        }
        return
      case 'state':
        if (message.state.state === 'failed') {
          const { error } = message.state
          store.setState(({ importing, importProblem }) => ({ resuming: null, importing: null, importProblem: importing === null ? importProblem : error }))
        }
        return
      default:
        return
    }
  })

  return {
    store,
    list: () => port.send({ type: 'list-runs' }),
    resume(id, precision) {
      wanted = precision
      store.setState({ resuming: id, refused: null })
      port.send({ type: 'resume', id, ...(precision ? { precision } : {}) })
    },
    edit: (id, change) => port.send({ type: 'edit-run', id, ...change }),
    remove(id) {
      removing = true
      store.setState({ removeProblem: null })
      port.send({ type: 'delete-run', id })
    },
    readHistories: () => readHistories((store.getState().runs ?? []).map(({ id }) => id)),
    compare(id, on) {
      store.setState(({ compared }) => ({ compared: on ? [...compared.filter((c) => c !== id), id].slice(-MOST_COMPARED) : compared.filter((c) => c !== id) }))
      if (on) readHistories([id])
    },
    importFile(name, file) {
      store.setState({ importing: name, importProblem: null })
      port.send({ type: 'import-trajectories', name, file })
    },
    discardOffer() {
      candidate = null
      store.setState({ offered: null })
    },
    forgetRefusal: () => store.setState({ refused: null }),
  }
}

/** The runs that can be taken away, the newest first: those that are kept, and the loaded one as it is in memory where that is newer. */
export function takeable({ runs, unkept }: Pick<RunsView, 'runs' | 'unkept'>): readonly RunRecord[] {
  const kept = runs ?? []
  return unkept ? [unkept.run, ...kept.filter(({ id }) => id !== unkept.run.id)] : kept
}

/** The run that is loaded, kept or not; null for none. */
export const loadedId = ({ current, unkept }: Pick<RunsView, 'current' | 'unkept'>): string | null => unkept?.run.id ?? current

/** The record of the run that is loaded; null while it has no step that was kept. */
export function currentRun({ runs, current }: Pick<RunsView, 'runs' | 'current'>): RunRecord | null {
  return runs?.find(({ id }) => id === current) ?? null
}
