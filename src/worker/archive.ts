/** Where runs are kept: IndexedDB, one transaction a step, so that a tab that dies leaves either the whole step or nothing of it. */

import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB } from 'idb'
import type { TrainerState } from '../core/engine'
import { type KeptEpisode, type RunRecord, type StepSummary, withEarlierSettings } from '../core/run-record'
import type { PeftAdapter } from '../hub/peft-adapter'
import { gunzipJson, gzipJson } from '../core/gzip'
import type { EntropyController } from '../rl'

/** Everything that a run goes on from, with its record. */
export interface Checkpoint {
  step: number
  num_tokens: number
  state: TrainerState
  /** The adaptive entropy bonus after that step; absent before the first one, and in what earlier versions of the page kept. */
  entropy?: EntropyController
}

interface StoredStep {
  run: string
  step: number
  summary: StepSummary
  /** Gzipped JSON of KeptEpisode[]; null once it was dropped for the quota. */
  episodes: ArrayBuffer | null
}

interface Schema extends DBSchema {
  runs: { key: string; value: RunRecord }
  /** The adapter that a run began with, where it was not a fresh one. */
  starts: { key: string; value: PeftAdapter }
  checkpoints: { key: [string, number]; value: Checkpoint & { run: string } }
  steps: { key: [string, number]; value: StoredStep }
}

type Writing = IDBPTransaction<Schema, ('runs' | 'starts' | 'checkpoints' | 'steps')[], 'readwrite'>

const NAME = 'grpo-playground'
const STORES = ['runs', 'starts', 'checkpoints', 'steps'] as const
/** Checkpoints of a run that stay. */
export const KEPT_CHECKPOINTS = 2
/** Bytes of one run's episodes, compressed; the oldest steps' make room. */
export const EPISODE_QUOTA = 200e6

/** All keys of one run in the stores by [run, step]. */
const ofRun = (id: string, from = 0, to = Infinity): IDBKeyRange => IDBKeyRange.bound([id, from], [id, to])

const stateBytes = ({ parameters, m, v }: TrainerState): number =>
  [...parameters.map(({ data }) => data), ...m, ...v].reduce((sum, { byteLength }) => sum + byteLength, 0)

const summaryBytes = (summary: StepSummary): number => JSON.stringify(summary).length

export class RunArchive {
  private constructor(
    private readonly database: IDBPDatabase<Schema>,
    private readonly quota: number,
  ) {}

  /**
   * Rejects where the browser keeps nothing (IndexedDB is refused). `onClosed`: the connection is gone (the site's data were cleared, another
   * tab needs a newer layout) and the archive must be opened again.
   */
  static async open(name = NAME, quota = EPISODE_QUOTA, onClosed: () => void = () => undefined): Promise<RunArchive> {
    // Some browsers have none in a private window, and `openDB` would name a property of undefined.
    if (typeof indexedDB === 'undefined') throw new Error('the browser offers no IndexedDB here')
    const database = await openDB<Schema>(name, 1, {
      upgrade(made) {
        made.createObjectStore('runs', { keyPath: 'id' })
        made.createObjectStore('starts')
        made.createObjectStore('checkpoints', { keyPath: ['run', 'step'] })
        made.createObjectStore('steps', { keyPath: ['run', 'step'] })
      },
      // Another tab wants to delete or upgrade the database: it is not this one's to block.
      blocking: (_current, _blocked, event) => {
        ;(event.target as IDBDatabase).close()
        onClosed()
      },
      terminated: onClosed,
    })
    return new RunArchive(database, quota)
  }

  /** Newest first. */
  async list(): Promise<RunRecord[]> {
    return (await this.database.getAll('runs')).map(readable).sort((a, b) => b.updatedAt - a.updatedAt)
  }

  async get(id: string): Promise<RunRecord | undefined> {
    const record = await this.database.get('runs', id)
    return record && readable(record)
  }

  start(id: string): Promise<PeftAdapter | undefined> {
    return this.database.get('starts', id)
  }

  /** The newest one. */
  async checkpoint(id: string): Promise<Checkpoint | null> {
    const cursor = await this.database.transaction('checkpoints').store.openCursor(ofRun(id), 'prev')
    return cursor?.value ?? null
  }

  /** Steps 1 to `upTo`, in order. */
  async history(id: string, upTo = Infinity): Promise<StepSummary[]> {
    return (await this.database.getAll('steps', ofRun(id, 0, upTo))).map(({ summary }) => summary)
  }

  /** The episodes of each kept step from `from` to `upTo`, in order; one step in memory at a time. */
  async *episodes(id: string, upTo = Infinity, from = 0): AsyncGenerator<KeptEpisode[]> {
    for (const key of await this.database.getAllKeys('steps', ofRun(id, from, upTo))) {
      const stored = await this.database.get('steps', key)
      if (stored?.episodes) yield await gunzipJson<KeptEpisode[]>(stored.episodes)
    }
  }

  /**
   * Writes one finished step, with a checkpoint where one is due, and the run's record as it is then; makes the run if it is
   * new. `episodes` null: they are given up, and counted as dropped. Returns the record as it was written. Rejects
   * (QuotaExceededError) and writes nothing when storage is full.
   */
  async addStep(record: RunRecord, summary: StepSummary, episodes: readonly KeptEpisode[] | null, checkpoint: Checkpoint | null, start?: PeftAdapter | null): Promise<RunRecord> {
    const packed = episodes && (await gzipJson(episodes))
    const tx = this.writing()
    const before = await tx.objectStore('runs').get(record.id)
    const kept = { ...record, ...(before && inArchive(before)) }
    if (!before && start) await tx.objectStore('starts').put(start, record.id)
    await tx.objectStore('steps').put({ run: record.id, step: summary.step, summary, episodes: packed })
    const added = packed?.byteLength ?? 0
    const updated: RunRecord = {
      ...kept,
      step: summary.step,
      updatedAt: Date.now(),
      bytes: kept.bytes + added + summaryBytes(summary),
      episodeBytes: (kept.episodeBytes ?? 0) + added,
      droppedSteps: kept.droppedSteps + (packed ? 0 : 1),
    }
    await this.makeRoom(tx, updated)
    if (checkpoint) await putCheckpoint(tx, updated, checkpoint)
    await tx.objectStore('runs').put(updated)
    await tx.done
    return updated
  }

  /**
   * Writes a stage that ended after the run's last step: its record with the checkpoint, and the adapter that GRPO goes on from, which is
   * what the run is loaded with again. Makes the run if it is new. Returns the record as it was written.
   */
  async addStage(record: RunRecord, checkpoint: Checkpoint, start: PeftAdapter | null): Promise<RunRecord> {
    const tx = this.writing()
    const before = await tx.objectStore('runs').get(record.id)
    const updated: RunRecord = { ...record, ...(before ? { name: before.name, notes: before.notes, bytes: before.bytes } : {}), updatedAt: Date.now(), finished: false }
    if (start) await tx.objectStore('starts').put(start, record.id)
    await putCheckpoint(tx, updated, checkpoint)
    await tx.objectStore('runs').put(updated)
    await tx.done
    return updated
  }

  /** Writes a checkpoint of a step that is kept already. Returns the record as it was written; null when the run is gone. */
  async addCheckpoint(id: string, checkpoint: Checkpoint): Promise<RunRecord | null> {
    return this.change(id, (record, tx) => putCheckpoint(tx, record, checkpoint))
  }

  /** Takes a run's oldest checkpoint out, for one that found no room beside it; null where there is none. */
  async giveUpCheckpoint(id: string): Promise<Checkpoint | null> {
    let given: Checkpoint | null = null
    await this.change(id, async (record, tx) => {
      const store = tx.objectStore('checkpoints')
      const [oldest, ...newer] = await store.getAllKeys(ofRun(id))
      given = (oldest && (await store.get(oldest))) ?? null
      if (!oldest || !given) return
      await store.delete(oldest)
      record.bytes -= stateBytes(given.state)
      record.checkpoint = newer.at(-1)?.[1] ?? null
    })
    return given
  }

  /** Changes a run's record alone; null when the run is gone. */
  async edit(id: string, change: Partial<Pick<RunRecord, 'name' | 'notes' | 'config' | 'evaluations' | 'finished'>>): Promise<RunRecord | null> {
    return this.change(id, (record) => void Object.assign(record, change))
  }

  /** Forgets every step after `step`: the run goes on from there. */
  async truncate(id: string, step: number): Promise<RunRecord | null> {
    return this.change(id, async (record, tx) => {
      for (let cursor = await tx.objectStore('steps').openCursor(ofRun(id, step + 1)); cursor; cursor = await cursor.continue()) {
        const { episodes, summary } = cursor.value
        const freed = episodes?.byteLength ?? 0
        record.bytes -= freed + summaryBytes(summary)
        record.episodeBytes = (record.episodeBytes ?? 0) - freed
        if (!episodes) record.droppedSteps--
        await cursor.delete()
      }
      for (let cursor = await tx.objectStore('checkpoints').openCursor(ofRun(id, step + 1)); cursor; cursor = await cursor.continue()) {
        record.bytes -= stateBytes(cursor.value.state)
        await cursor.delete()
      }
      record.step = step
      record.checkpoint = Math.min(record.checkpoint ?? step, step)
      record.evaluations = record.evaluations.filter((evaluation) => evaluation.step <= step)
      if (record.stages) record.stages = record.stages.filter(({ afterStep }) => afterStep <= step)
      record.finished = false
    })
  }

  async delete(id: string): Promise<void> {
    const tx = this.writing()
    await Promise.all([
      tx.objectStore('runs').delete(id),
      tx.objectStore('starts').delete(id),
      tx.objectStore('steps').delete(ofRun(id)),
      tx.objectStore('checkpoints').delete(ofRun(id)),
      tx.done,
    ])
  }

  close(): void {
    this.database.close()
  }

  private writing(): Writing {
    const tx = this.database.transaction([...STORES], 'readwrite', { durability: 'strict' })
    // Who writes hears of a failure by the request that failed, and never comes to wait for the end.
    tx.done.catch(() => undefined)
    return tx
  }

  private async change(id: string, work: (record: RunRecord, tx: Writing) => Promise<void> | void): Promise<RunRecord | null> {
    const tx = this.writing()
    const record = await tx.objectStore('runs').get(id)
    if (!record) {
      await tx.done
      return null
    }
    await work(record, tx)
    await tx.objectStore('runs').put(record)
    await tx.done
    return record
  }

  /** Drops the oldest steps' episodes while the run's hold more than their quota; its last step stays. */
  private async makeRoom(tx: Writing, record: RunRecord): Promise<void> {
    const isOver = (): boolean => (record.episodeBytes ?? 0) > this.quota
    let cursor = isOver() ? await tx.objectStore('steps').openCursor(ofRun(record.id, 0, record.step - 1)) : null
    while (cursor && isOver()) {
      const { episodes } = cursor.value
      if (episodes) {
        record.bytes -= episodes.byteLength
        record.episodeBytes = (record.episodeBytes ?? 0) - episodes.byteLength
        record.droppedSteps++
        await cursor.update({ ...cursor.value, episodes: null })
      }
      cursor = await cursor.continue()
    }
  }
}

/** What the archive knows better than whoever writes a step. */
function inArchive({ name, notes, evaluations, bytes, episodeBytes, droppedSteps, checkpoint }: RunRecord): Partial<RunRecord> {
  return { name, notes, evaluations, bytes, droppedSteps, checkpoint, ...(episodeBytes !== undefined && { episodeBytes }) }
}

/** As this version of the page reads it. */
const readable = (record: RunRecord): RunRecord => ({ ...record, config: withEarlierSettings(record.config) })

/** Puts a checkpoint, drops the oldest beyond the kept ones, and says so in the record. */
async function putCheckpoint(tx: Writing, record: RunRecord, checkpoint: Checkpoint): Promise<void> {
  const store = tx.objectStore('checkpoints')
  const held = await store.getAllKeys(ofRun(record.id))
  const isNew = !held.some(([, step]) => step === checkpoint.step)
  await store.put({ run: record.id, ...checkpoint })
  const bytes = stateBytes(checkpoint.state)
  if (isNew) record.bytes += bytes
  for (const key of isNew ? held.slice(0, Math.max(0, held.length + 1 - KEPT_CHECKPOINTS)) : []) {
    await store.delete(key)
    record.bytes -= bytes
  }
  record.checkpoint = checkpoint.step
}
