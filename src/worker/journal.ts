/** Writes the run that is going on into the archive, step by step, and says so once when that is not possible. */

import type { RunConfig } from '../core/config'
import type { Engine, EngineInfo } from '../core/engine'
import type { Environment } from '../core/environment'
import { describeError } from '../core/errors'
import type { StepRecord } from '../core/events'
import { newId } from '../core/new-id'
import { type EvaluationRecord, type KeptEpisode, type RunRecord, type StepSummary, summarise, withSpans } from '../core/run-record'
import type { StageRecord } from '../core/stage'
import { VERSION } from '../core/version'
import { isHubModel } from '../env/models'
import type { PeftAdapter } from '../hub/peft-adapter'
import type { ChatFormat } from '../rollout/chat'
import type { Checkpoint, RunArchive } from './archive'
import { inPlaceOfOlder, isFull } from './full-storage'
import { keptEpisode } from './kept-episode'
import { takeRun } from './run-lock'
import { memberFacts } from './run-messages'

/** A checkpoint of at most so many bytes is written at every step, a larger one every few steps and when the page is hidden. */
const SMALL_STATE = 16e6
const LARGE_EVERY = 5

/** What a run is written down with. */
export interface JournalRun {
  config: RunConfig
  sha: string | null
  engine: Pick<Engine, 'info' | 'lora'>
  environment: Pick<Environment, 'name' | 'tools' | 'prompts' | 'discovered' | 'dataset' | 'members'>
  chat: Pick<ChatFormat, 'tokenText' | 'plainText'>
  /** The adapter that step 0 has, where it is not a fresh one. */
  start: PeftAdapter | null
}

/** The run that is loaded, where its newest weights are in memory alone. */
export interface Unkept {
  /** As it would be kept at that step. */
  run: RunRecord
  /** Why it is not kept; '' where it only was not due. */
  why: string
  checkpoint: Checkpoint
  start: PeftAdapter | null
  /** Numbers of steps that the archive does not have. */
  missed: readonly StepSummary[]
}

interface Held {
  id: string
  release: () => void
}

export class RunJournal {
  private run: JournalRun | null = null
  private record: RunRecord | null = null
  private last: Checkpoint | null = null
  /** The newest one that the archive has, and why it has not the last. */
  private kept: Checkpoint | null = null
  private why = ''
  /** The lock of the run that is kept, and of one that is being loaded. */
  private held: Held | null = null
  private reserved: Held | null = null
  /** Steps that found no room, without their episodes. */
  private missed: StepSummary[] = []
  private complained = false
  /** What was said of a full storage since all of a step was kept. */
  private readonly said = new Set<'episodes' | 'weights'>()
  private writes: Promise<void> = Promise.resolve()

  /**
   * @param openArchive asked once, when the first step is to be written or a run is read
   * @param onChange the archive's list is another now
   * @param onProblem a sentence for the person: what is not kept, and what to do
   * @param smallState bytes of a checkpoint that is written at every step
   */
  constructor(
    private readonly openArchive: () => Promise<RunArchive>,
    private readonly onChange: () => void,
    private readonly onProblem: (sentence: string) => void,
    private readonly smallState = SMALL_STATE,
  ) {}

  /** The run that is going on, once a step of it is kept. */
  get current(): RunRecord | null {
    return this.record
  }

  /** What of the loaded run would be lost with the tab; null where the archive has its last finished step. */
  get unkept(): Unkept | null {
    const { run, record, last, missed, why } = this
    if (!run || !record || !last || last === this.kept) return null
    const { step } = last
    return { run: { ...record, step, checkpoint: step, droppedSteps: record.droppedSteps + missed.length }, why, checkpoint: last, start: run.start, missed: [...missed] }
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
    this.kept = this.last
    if (!resumed) return
    const { record, checkpoint } = resumed
    if (this.reserved?.id === record.id) this.held = this.reserved
    this.reserved = null
    this.adopt(run)
    void this.write(async (archive) => {
      if (measured || record.step <= checkpoint.step) return
      const written = await archive.truncate(record.id, checkpoint.step)
      if (written) this.take(record.id, written)
    })
  }

  /** The run goes on in another engine. */
  movedTo(info: EngineInfo): void {
    if (this.record) this.record = withEngine(this.record, info)
  }

  /** Takes a kept run's lock before it is loaded, for the next `open`; false when another tab has the run. */
  async reserve(id: string): Promise<boolean> {
    this.unreserve()
    if (this.held?.id === id) this.reserved = this.held
    else {
      const release = await takeRun(id)
      this.reserved = release && { id, release }
    }
    return this.reserved !== null
  }

  /** It was not loaded after all. */
  unreserve(): void {
    if (this.reserved !== this.held) this.reserved?.release()
    this.reserved = null
  }

  /** The run ended or another takes its place: its last step is written to its end. */
  close(): void {
    void this.save()
    const { held } = this
    if (held && held !== this.reserved) void this.writes.then(held.release)
    this.run = null
    this.record = null
    this.last = null
    this.held = null
    this.missed = []
    this.why = ''
  }

  /** The kept run is deleted: the one that is loaded goes on, and its next step begins a record of its own. */
  async forget(): Promise<void> {
    await this.writes
    this.held?.release()
    this.held = null
    const { run, record } = this
    // What it was trained on and with before does not change by that.
    if (run && record) this.record = { ...this.newRecord(run), step: record.step, ...standing(record), ...(record.stages && { stages: record.stages }) }
    this.last = null
    this.missed = []
  }

  /** Writes a finished step; resolves when it is kept, or has been complained of. */
  step(record: StepRecord, checkpoint: Checkpoint): Promise<void> {
    const { run } = this
    if (!run || !this.record) return Promise.resolve()
    this.last = checkpoint
    const { id } = this.record
    const episodes = withSpans(record.episodes.map((episode) => keptEpisode(episode, run.chat)), record.timeline)
    const due = this.isDue(checkpoint) ? checkpoint : null
    const summary = summarise(record)
    const write = async (archive: RunArchive): Promise<void> => {
      if (this.record?.id !== id) return
      for (; this.missed[0]; this.missed.shift()) this.take(id, await archive.addStep(this.record, this.missed[0], null, null, run.start))
      const written = await this.addStep(archive, this.record, summary, episodes, due)
      this.take(id, written)
      if (due && written.checkpoint === due.step) this.isKept(due)
      if (this.held) return
      const release = await takeRun(id)
      if (release) this.held = { id, release }
    }
    return this.write(write, () => {
      if (this.record?.id === id) this.missed.push(summary)
    })
  }

  /** A stage ended: the run goes on from this checkpoint, and is loaded again from `start`. Resolves when it is kept, or has been complained of. */
  staged(stage: StageRecord, checkpoint: Checkpoint, start: PeftAdapter | null): Promise<void> {
    const { run, record } = this
    if (!run || !record) return Promise.resolve()
    this.run = { ...run, start }
    this.last = checkpoint
    this.record = { ...record, stages: [...(record.stages ?? []), stage], finished: false }
    const { id } = record
    return this.write(async (archive) => {
      if (this.record?.id !== id) return
      const stands = this.record
      this.take(id, await inPlaceOfOlder(archive, id, () => archive.addStage(stands, checkpoint, start)))
      this.isKept(checkpoint)
      if (this.held) return
      const release = await takeRun(id)
      if (release) this.held = { id, release }
    })
  }

  /** Writes what found no room before, and a checkpoint of the last finished step, if it has none. Resolves when it is kept, or has been complained of. */
  save(): Promise<void> {
    const { run, record, last, missed } = this
    if (!run || !record || !last) return Promise.resolve()
    return this.write(async (archive) => {
      try {
        for (; missed[0]; missed.shift()) this.take(record.id, await archive.addStep(this.record?.id === record.id ? this.record : record, missed[0], null, null, run.start))
      } catch (error) {
        // It was complained of when the step ended.
        if (isFull(error)) return
        throw error
      }
      const now = await archive.get(record.id)
      // Its step may not have been written, and must not be written here.
      if (!now || now.step !== last.step || now.checkpoint === last.step) return
      const written = await inPlaceOfOlder(archive, record.id, () => archive.addCheckpoint(record.id, last)).catch((error: unknown) => this.noRoomFor(last.step, error))
      if (!written) return
      this.take(record.id, written)
      this.isKept(last)
    })
  }

  /** Figures of an evaluation, kept with the run; those before the first step are written with it. */
  evaluated(records: readonly EvaluationRecord[]): Promise<void> {
    if (!this.record) return Promise.resolve()
    this.record = { ...this.record, evaluations: [...this.record.evaluations, ...records] }
    return this.edit({ evaluations: this.record.evaluations })
  }

  /** The run has another end, and is not finished any more. */
  extended(config: RunConfig): Promise<void> {
    if (this.record) this.record = { ...this.record, config, finished: false }
    return this.edit({ config, finished: false })
  }

  async finished(): Promise<void> {
    await this.save()
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

  private write(work: (archive: RunArchive) => Promise<void>, failed?: () => void): Promise<void> {
    this.writes = this.writes.then(async () => {
      try {
        await work(await this.openArchive())
        this.complained = false
        this.onChange()
      } catch (error) {
        this.why = reasonOf(error)
        if (!this.complained) this.onProblem(`The run goes on, but its last step could not be kept: ${this.why}. ${this.advice(error)}`.trimEnd())
        this.complained = true
        failed?.()
        this.onChange()
      }
    })
    return this.writes
  }

  private isDue({ step, state }: Checkpoint): boolean {
    const floats = state.parameters.reduce((sum, { data }) => sum + data.length, 0)
    return 12 * floats <= this.smallState || step % LARGE_EVERY === 0
  }

  /** The archive's record, if the run is still the same; on what the run stands it may not know yet. */
  private take(id: string, written: RunRecord): void {
    if (this.record?.id === id) this.record = { ...written, ...standing(this.record) }
  }

  /** A kept run stands on what there is now. */
  private adopt({ engine, environment }: JournalRun): void {
    if (!this.record) return
    this.record = { ...withEngine(this.record, engine.info), environment: environmentOf(environment), version: VERSION }
  }

  private isKept(checkpoint: Checkpoint): void {
    this.kept = checkpoint
    if (checkpoint === this.last) this.why = ''
  }

  /** The numbers of a step are kept, its weights are not: said once. Throws what is no lack of room. */
  private noRoomFor(step: number, error: unknown): null {
    if (!isFull(error)) throw error
    this.why = reasonOf(error)
    this.say('weights', `The run goes on, but its weights after step ${step} could not be kept: ${this.why}. ${this.advice(error)}`)
    return null
  }

  private say(what: 'episodes' | 'weights', sentence: string): void {
    if (!this.said.has(what)) this.onProblem(sentence)
    this.said.add(what)
  }

  private advice(error: unknown): string {
    const { record } = this
    const file = record?.lora ? 'the adapter' : record && !isHubModel(record.config.model) ? 'the merged model' : null
    const take = file && `ake ${file} away before you close the tab.`
    if (!isFull(error)) return take ? `T${take}` : ''
    return `Delete kept runs or stored models${take ? `, or t${take}` : '.'}`
  }

  /** Where there is no room for the episodes, the numbers and the checkpoint are kept without them; where there is none for that, the numbers alone. */
  private async addStep(archive: RunArchive, record: RunRecord, summary: StepSummary, episodes: KeptEpisode[], checkpoint: Checkpoint | null): Promise<RunRecord> {
    const start = this.run?.start
    const write = (what: KeptEpisode[] | null): Promise<RunRecord> => {
      const put = (): Promise<RunRecord> => archive.addStep(record, summary, what, checkpoint, start)
      return checkpoint ? inPlaceOfOlder(archive, record.id, put) : put()
    }
    try {
      const written = await write(episodes)
      this.said.clear()
      return written
    } catch (error) {
      if (!isFull(error)) throw error
    }
    try {
      const written = await write(null)
      this.say('episodes', `The episodes of step ${summary.step} were not kept: this browser’s storage for the page is full. Delete kept runs or stored models.`)
      return written
    } catch (error) {
      if (!checkpoint || !isFull(error)) throw error
      const written = await archive.addStep(record, summary, null, null, start)
      this.noRoomFor(checkpoint.step, error)
      return written
    }
  }

  private newRecord({ config, sha, engine, environment }: JournalRun): RunRecord {
    const now = Date.now()
    const kept = environmentOf(environment)
    return {
      id: newId(),
      name: `${kept.name} · ${config.model.split('/').at(-1) ?? config.model}`,
      notes: '',
      createdAt: now,
      updatedAt: now,
      config,
      modelSha: sha,
      lora: engine.lora,
      engine: engine.info,
      environment: kept,
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

/** As a record keeps it. */
function environmentOf({ name, tools, prompts, discovered = null, dataset, members }: JournalRun['environment']): RunRecord['environment'] {
  return { name, tools: [...tools], prompts, discovered, ...(dataset && { dataset }), ...(members && { members: members.map(memberFacts) }) }
}

/** The record of a run that goes on in this engine; the one before is remembered where it was another. */
function withEngine(record: RunRecord, engine: EngineInfo): RunRecord {
  if (JSON.stringify(record.engine) === JSON.stringify(engine)) return record
  return { ...record, engine, earlierEngines: [...(record.earlierEngines ?? []), record.engine] }
}

/** On what a run stands: known here before the archive knows it, which is told with the next step. */
function standing({ engine, earlierEngines, environment, version }: RunRecord): Pick<RunRecord, 'engine' | 'earlierEngines' | 'environment' | 'version'> {
  return { engine, environment, version, ...(earlierEngines && { earlierEngines }) }
}

const reasonOf = (error: unknown): string => (isFull(error) ? 'this browser’s storage for the page is full' : describeError(error).replace(/\.$/, ''))
