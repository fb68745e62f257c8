/** Writes the run that is going on into the archive, step by step, and says so once when that is not possible. */

import type { RunConfig } from '../core/config'
import type { Engine } from '../core/engine'
import type { Environment } from '../core/environment'
import { describeError } from '../core/errors'
import type { StepRecord } from '../core/events'
import { type EvaluationRecord, type RunRecord, summarise } from '../core/run-record'
import { VERSION } from '../core/version'
import type { PeftAdapter } from '../hub/peft-adapter'
import type { ChatFormat } from '../rollout/chat'
import type { Checkpoint, RunArchive } from './archive'
import { keptEpisode } from './kept-episode'
import { holdRun } from './run-lock'

/** A checkpoint of at most so many bytes is written at every step, a larger one every few steps and when the page is hidden. */
const SMALL_STATE = 16e6
const LARGE_EVERY = 5

/** What a run is written down with. */
export interface JournalRun {
  config: RunConfig
  sha: string | null
  engine: Pick<Engine, 'info' | 'lora'>
  environment: Pick<Environment, 'name' | 'tools' | 'prompts' | 'discovered'>
  chat: Pick<ChatFormat, 'tokenText' | 'plainText'>
  /** The adapter that step 0 has, where it is not a fresh one. */
  start: PeftAdapter | null
}

export class RunJournal {
  private run: JournalRun | null = null
  private record: RunRecord | null = null
  private last: Checkpoint | null = null
  private release: (() => void) | null = null
  private complained = false
  private writes: Promise<void> = Promise.resolve()

  /**
   * @param openArchive asked once, when the first step is to be written or a run is read
   * @param onChange the archive's list is another now
   * @param onProblem a sentence for the person: what is not kept, and what to do
   */
  constructor(
    private readonly openArchive: () => Promise<RunArchive>,
    private readonly onChange: () => void,
    private readonly onProblem: (sentence: string) => void,
  ) {}

  /** The run that is going on, once a step of it is kept. */
  get current(): RunRecord | null {
    return this.record
  }

  /**
   * A run begins, or goes on with a kept record. Nothing is written before its first step, but what a kept run has beyond its
   * checkpoint, which will be trained again, is forgotten (not when it is only to be `measured`).
   */
  open(run: JournalRun, resumed: { record: RunRecord; checkpoint: Checkpoint } | null = null, measured = false): void {
    this.close()
    this.run = run
    this.record = resumed?.record ?? this.newRecord(run)
    this.last = resumed?.checkpoint ?? null
    if (!resumed) return
    const { record, checkpoint } = resumed
    this.hold(record.id)
    void this.write(async (archive) => {
      if (measured || record.step <= checkpoint.step) return
      const written = await archive.truncate(record.id, checkpoint.step)
      if (written && this.record?.id === record.id) this.record = written
    })
  }

  /** The run ended or another takes its place: what is being written is written to its end. */
  close(): void {
    const { release } = this
    void this.writes.then(() => release?.())
    this.run = null
    this.record = null
    this.last = null
    this.release = null
  }

  /** The kept run is deleted: the one that is loaded goes on, and its next step begins a record of its own. */
  async forget(): Promise<void> {
    await this.writes
    this.release?.()
    this.release = null
    this.record = this.run && this.newRecord(this.run)
    this.last = null
  }

  /** Writes a finished step; resolves when it is kept, or has been complained of. */
  step(record: StepRecord, checkpoint: Checkpoint): Promise<void> {
    const { run } = this
    if (!run || !this.record) return Promise.resolve()
    this.last = checkpoint
    const { id } = this.record
    const episodes = record.episodes.map((episode) => keptEpisode(episode, run.chat))
    const due = this.isDue(checkpoint) ? checkpoint : null
    return this.write(async (archive) => {
      if (this.record?.id !== id) return
      const written = await archive.addStep(this.record, summarise(record), episodes, due, run.start)
      if (this.record?.id === id) this.record = written
      this.hold(id)
    })
  }

  /** Writes a checkpoint of the last finished step, if it has none. Resolves when it is kept. */
  save(): Promise<void> {
    return this.write(async (archive) => {
      const { record, last } = this
      if (!record || !last || record.checkpoint === last.step || record.step < last.step) return
      const written = await archive.addCheckpoint(record.id, last)
      if (written && this.record?.id === record.id) this.record = written
    })
  }

  /** Figures of an evaluation, kept with the run; those before the first step are written with it. */
  evaluated(records: readonly EvaluationRecord[]): Promise<void> {
    if (!this.record) return Promise.resolve()
    this.record = { ...this.record, evaluations: [...this.record.evaluations, ...records] }
    return this.edit({ evaluations: this.record.evaluations })
  }

  finished(): Promise<void> {
    if (this.record) this.record = { ...this.record, finished: true }
    return this.edit({ finished: true })
  }

  /** The record was renamed or annotated in the archive. */
  edited(record: RunRecord): void {
    if (this.record?.id === record.id) this.record = { ...this.record, name: record.name, notes: record.notes }
  }

  private edit(change: Parameters<RunArchive['edit']>[1]): Promise<void> {
    const id = this.record?.id
    if (id === undefined) return Promise.resolve()
    return this.write(async (archive) => void (await archive.edit(id, change)))
  }

  private write(work: (archive: RunArchive) => Promise<void>): Promise<void> {
    this.writes = this.writes.then(async () => {
      try {
        await work(await this.openArchive())
        this.complained = false
        this.onChange()
      } catch (error) {
        if (!this.complained) this.onProblem(sentenceOf(error))
        this.complained = true
      }
    })
    return this.writes
  }

  private isDue({ step, state }: Checkpoint): boolean {
    const floats = state.parameters.reduce((sum, { data }) => sum + data.length, 0)
    return 12 * floats <= SMALL_STATE || step % LARGE_EVERY === 0
  }

  private hold(id: string): void {
    this.release ??= holdRun(id)
  }

  private newRecord({ config, sha, engine, environment }: JournalRun): RunRecord {
    const now = Date.now()
    const { name, tools, prompts, discovered = null } = environment
    return {
      id: crypto.randomUUID(),
      name: `${name} · ${config.model.split('/').at(-1) ?? config.model}`,
      notes: '',
      createdAt: now,
      updatedAt: now,
      config,
      modelSha: sha,
      lora: engine.lora,
      engine: engine.info,
      environment: { name, tools: [...tools], prompts, discovered },
      step: 0,
      checkpoint: null,
      finished: false,
      evaluations: [],
      bytes: 0,
      droppedSteps: 0,
      version: VERSION,
    }
  }
}

function sentenceOf(error: unknown): string {
  const full = error instanceof DOMException && error.name === 'QuotaExceededError'
  const why = full ? 'this browser’s storage for the page is full' : describeError(error)
  const advice = full ? 'Delete kept runs or stored models.' : 'Take the adapter away before you close the tab.'
  return `The run goes on, but its last step could not be kept: ${why.replace(/\.$/, '')}. ${advice}`
}
