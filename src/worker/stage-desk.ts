/** Stages before and between GRPO steps, as the page drives them: look at the data, train, pause, stop. */

import { type RunConfig, trainedLora } from '../core/config'
import type { TrainerState } from '../core/engine'
import type { Environment } from '../core/environment'
import type { Episode } from '../core/episode'
import { describeError, PlaygroundError } from '../core/errors'
import type { StepRecord } from '../core/events'
import { stageLine, type StageRecord } from '../core/stage'
import { waitAtGate } from '../core/sleep'
import type { PeftAdapter } from '../hub/peft-adapter'
import type { ChatFormat } from '../rollout/chat'
import type { HubClient } from '../hub/client'
import { demonstration, demonstrations, preferences, type PlayedIn, whyNoChat } from '../train/datasets'
import type { Checkpoint } from './archive'
import type { Doing } from './examine'
import { Gate } from './gate'
import { checkpointOf, type Progress, putBack, restoreInto } from './kept-run'
import type { PlayedEpisode } from './play'
import type { Command, Message, StageState } from './protocol'
import type { KeptStart, RunEngine } from './setup'
import { lookAt, prepareStage, sourceOf, type StageData } from './stage-data'
import { StagePlan } from './stage-plan'
import { trainStage } from './stage-training'

type StageCommand = Extract<Command, { type: 'stage' | 'stage-look' | 'stage-rows' | 'stage-play' | 'stage-control' }>

export const isForStage = (command: Command): command is StageCommand => ['stage', 'stage-look', 'stage-rows', 'stage-play', 'stage-control'].includes(command.type)

/** What an adapter fits to, and the plan that its stages are of. */
const base = ({ model, model_revision, precision, adapter, lora, use_peft, stages = [] }: RunConfig): string => JSON.stringify([model, model_revision, precision, adapter, trainedLora({ lora, use_peft }), stages])

/** What a stage is trained on: a loaded run. */
export interface Staged {
  engine: RunEngine
  chat: ChatFormat
  config: RunConfig
  trainer: Progress
  at: KeptStart
}

/** Where data come from beside what the page sends. */
export interface StageMaterial {
  hub: HubClient
  /** The episode that a person played last; null while none has ended. */
  played(): PlayedEpisode | null
}

/** The run around it. */
export interface StageHost {
  run(): Staged | null
  material: StageMaterial | null
  /** Of the GRPO loop. */
  doing(): Doing
  /** Where the run stands after its last finished step or stage; null before the first. */
  kept(): Checkpoint | null
  /** Whoever holds the model's slots lets them go. Throws where the run must not be trained. */
  makeRoom(): Promise<void>
  /** One after the other, with whatever else needs the run. */
  enqueue(work: () => Promise<void>): void
  /** The run goes on from here, and is loaded again from `start`. */
  ended(checkpoint: Checkpoint, stage: StageRecord, start: PeftAdapter | null): Promise<void>
  /** The engine is gone. */
  lost(error: PlaygroundError): Promise<void>
}

/** So often the page is told how much of a dataset has come. */
const TELL_MS = 100

const BUSY = {
  held: 'The run is paused in the middle of a step. Choose GRPO step beside Step and press it, to finish the step first.',
  working: 'The model is busy with a step. Press Pause first, and Step if the pause is in the middle of a step.',
}
/** Said where something else is wanted of the model meanwhile. */
export const STAGE_BUSY = 'A stage is being trained. Wait for its end, or press Stop at the stage.'

/** Of the engine. */
const isGone = (error: unknown): error is PlaygroundError => error instanceof PlaygroundError && (error.kind === 'device-lost' || error.kind === 'memory')

export class StageDesk {
  private running: Promise<void> | null = null
  private stop = new AbortController()
  private gate = new Gate(() => this.tell({ state: 'paused' }))
  private kind: StageRecord['kind'] = 'sft'
  private records: readonly StageRecord[] = []
  /** The last finished GRPO step. */
  private played: { step: number; episodes: readonly Episode[]; venue: PlayedIn; thinking: boolean } | null = null
  /** The stages that the run makes by itself. */
  readonly plan: StagePlan
  private seen: { key: string; chat: ChatFormat; data: Promise<StageData>; reading: AbortController } | null = null

  constructor(
    private readonly host: StageHost,
    private readonly post: (message: Message) => void,
  ) {
    this.plan = new StagePlan(this, post)
  }

  get busy(): boolean {
    return this.running !== null
  }

  /** What the loaded run's adapter was trained with beside GRPO. */
  get done(): readonly StageRecord[] {
    return this.records
  }

  /** A run is loaded that has been through these, or none. */
  know(records: readonly StageRecord[]): void {
    if (records.length === 0 && this.records.length === 0) return
    this.records = records
    this.post({ type: 'stages', stages: [...records] })
  }

  /**
   * A run with other settings takes the place of one that has had no GRPO step: its stages go on into it where model and LoRA are the same.
   * To be called while the old run is there; what it returns, once the new one is. null where there is no stage.
   */
  carried(config: RunConfig, checkpoint: Checkpoint | null, start: PeftAdapter | null): ((engine: RunEngine) => Promise<void>) | null {
    const run = this.host.run()
    const { records } = this
    if (records.length === 0 || !run) return null
    const line = stageLine(records, 0)
    const notice = (text: string): void => this.post({ type: 'event', event: { type: 'notice', level: 'warning', text } })
    if (!checkpoint || run.trainer.stepNumber > 0 || base(run.config) !== base(config)) return () => Promise.resolve(notice(`A new run has begun, without the stages of the one before (${line}).`))
    return async (engine) => {
      await restoreInto(engine, checkpoint)
      this.know(records)
      for (const stage of records) await this.host.ended(checkpoint, stage, start)
      notice(`The run with the new settings goes on from the stages that were trained (${line}). Reset undoes them.`)
    }
  }

  /** Takes a command of its own; never throws: failures become messages. */
  handle(command: StageCommand): void {
    if (command.type === 'stage-look') void this.look(command)
    else if (command.type === 'stage-rows') this.makeRows(command)
    else if (command.type === 'stage-play') this.makePlayRow(command)
    else if (command.type === 'stage-control') this.control(command.do)
    else this.host.enqueue(() => Promise.resolve(this.begin(command)))
  }

  /** Ends the stage that runs after its present step; what was trained is kept. */
  async halt(): Promise<void> {
    this.stop.abort()
    this.seen?.reading.abort()
    this.gate.open()
    await this.running
  }

  /** A GRPO step ended: its episodes can become data. */
  saw({ step, episodes }: StepRecord, { environment: { tools, members }, config }: { environment: Pick<Environment, 'tools' | 'members'>; config: Pick<RunConfig, 'enable_thinking'> }): void {
    this.played = { step, episodes, venue: { tools, ...(members && { members }) }, thinking: config.enable_thinking }
  }

  private makeRows({ requestId, kind, least }: Extract<Command, { type: 'stage-rows' }>): void {
    const answer = (result: Extract<Message, { type: 'stage-rows' }>['result']): void => this.post({ type: 'stage-rows', requestId, result })
    if (!this.played) return answer({ ok: false, error: 'No step of a run of your own has been finished yet. Press Train, and take its episodes then.' })
    const { step, episodes, venue, thinking } = this.played
    const rows = kind === 'sft' ? demonstrations(episodes, venue, thinking, least) : preferences(episodes, venue, thinking)
    const best = Math.max(...episodes.map(({ reward }) => reward ?? -Infinity))
    if (rows.length > 0) return answer({ ok: true, name: `step ${step}, ${kind === 'sft' ? 'episodes' : 'pairs'}`, text: rows.map((row) => JSON.stringify(row)).join('\n'), rows: rows.length })
    const odd = whyNoChat(episodes)
    if (odd !== null) return answer({ ok: false, error: odd })
    if (kind === 'dpo') return answer({ ok: false, error: `No group of step ${step} has a better and a worse episode. Take another step.` })
    answer({ ok: false, error: `No episode of step ${step} has a reward of ${least} or more; the best has ${best}. Lower the reward, or take another step.` })
  }

  private makePlayRow({ requestId }: Extract<Command, { type: 'stage-play' }>): void {
    const answer = (result: Extract<Message, { type: 'stage-rows' }>['result']): void => this.post({ type: 'stage-rows', requestId, result })
    const played = this.host.material?.played()
    if (!played) return answer({ ok: false, error: 'No episode of yours has ended yet. Play one to its end first.' })
    const row = demonstration(played.episode, played.tools, played.enable_thinking)
    if (!row) return answer({ ok: false, error: 'You called no tool in your last episode, so there is nothing to imitate. Play another one.' })
    answer({ ok: true, name: 'my play', text: JSON.stringify(row), rows: 1 })
  }

  private control(what: 'pause' | 'go-on' | 'stop'): void {
    if (what === 'stop') this.seen?.reading.abort()
    if (!this.running) return
    if (what === 'stop') return void this.halt()
    this.tell({ state: what === 'pause' ? 'pausing' : 'training' })
    if (what === 'pause') this.gate.close()
    else this.gate.open()
  }

  private async look({ requestId, kind, dataset, settings, from, count }: Extract<Command, { type: 'stage-look' }>): Promise<void> {
    const answer = (result: Extract<Message, { type: 'stage-looked' }>['result']): void => this.post({ type: 'stage-looked', requestId, result })
    try {
      const run = this.host.run()
      if (!run) return answer({ ok: false, error: 'There is no model to read the data with yet. Wait until it is loaded.' })
      const data = await this.data(kind, dataset, settings, run)
      answer({ ok: true, look: lookAt(data, settings, run.chat, run.engine.contextLength, from, count) })
    } catch (error) {
      answer({ ok: false, error: describeError(error) })
    }
  }

  /** Tokenised once for a look, the next page of it, and the training. */
  private data(kind: StageRecord['kind'], dataset: Extract<Command, { type: 'stage' }>['dataset'], settings: StageRecord['settings'], { chat, engine }: Staged): Promise<StageData> {
    const content = 'text' in dataset ? dataset.text : 'hub' in dataset ? dataset.hub : [dataset.file.size, dataset.file instanceof File ? dataset.file.lastModified : 0]
    const key = JSON.stringify([kind, dataset.name, content, settings.max_length, settings.assistant_only_loss, engine.contextLength])
    if (this.seen?.key === key && this.seen.chat === chat) return this.seen.data
    this.seen?.reading.abort()
    const reading = new AbortController()
    const { signal } = reading
    const wish = { hub: this.host.material?.hub ?? null, signal, onProgress: this.counted() }
    const seen = { key, chat, reading, data: prepareStage(kind, dataset, settings, chat, engine.contextLength, wish) }
    this.seen = seen
    // What could not be read now may be later.
    seen.data.catch(() => {
      if (this.seen === seen) this.seen = null
    })
    return seen.data
  }

  /** Adds up what comes of a dataset, and tells the page now and then. */
  private counted(): (bytes: number) => void {
    let [sum, told] = [0, -Infinity]
    return (bytes) => {
      sum += bytes
      if (performance.now() - told < TELL_MS) return
      told = performance.now()
      this.post({ type: 'stage-reading', bytes: sum })
    }
  }

  private begin(command: Extract<Command, { type: 'stage' }>): void {
    if (this.running) return this.post({ type: 'event', event: { type: 'notice', level: 'warning', text: STAGE_BUSY } })
    this.kind = command.kind
    this.stop = new AbortController()
    this.gate.open()
    this.tell({ state: 'preparing' })
    this.running = this.train(command, this.stop.signal).then((end) => {
      // First gone, then said so: who hears it may start the next one.
      this.running = null
      this.tell(end)
    })
  }

  private async train({ kind, dataset, settings }: Extract<Command, { type: 'stage' }>, signal: AbortSignal): Promise<StageState> {
    const done: Record<string, number | null>[] = []
    let error: unknown = null
    /** Until its first step is done. */
    let before: TrainerState | null = null
    let rows = 0
    let source: Pick<StageRecord, 'source'> = {}
    const run = this.host.run()
    try {
      const doing = this.host.doing()
      if (!run) throw new PlaygroundError('config', 'There is no model to train yet.', 'Wait until it is loaded.')
      if (doing !== 'nothing') throw new PlaygroundError('config', BUSY[doing])
      await this.host.makeRoom()
      const data = await this.data(kind, dataset, settings, run)
      rows = data.prepared.examples.length
      if (data.hub) source = { source: sourceOf(data.hub) }
      this.tell({ state: 'training' })
      const kept = this.host.kept()?.state
      before = kept?.version === run.engine.version ? kept : await run.engine.exportState()
      await trainStage({
        engine: run.engine,
        data,
        settings,
        gate: () => waitAtGate(this.gate.pass, signal),
        signal,
        onScored: (batches, of) => this.tell({ state: 'scoring', batches, of }),
        onStep: (step, steps, metrics) => {
          if (done.length === 0 && !run.engine.lora) this.tell({ state: 'training' })
          done.push(metrics)
          before = null
          this.post({ type: 'stage-progress', kind, step, steps, metrics })
        },
      })
    } catch (failure) {
      error = failure
    }
    // As if it had never been begun: an engine that is gone is made again from what is kept.
    if (run && before && !isGone(error)) await putBack(run, before).catch((failure: unknown) => (error = failure))
    if (isGone(error)) {
      await this.host.lost(error)
      return { state: 'ended', steps: 0, error: describeError(error) }
    }
    if (run && done.length > 0) await this.keep(run, { kind, dataset: dataset.name, ...source, rows, steps: done.length, settings, afterStep: run.trainer.stepNumber, first: done[0] ?? {}, last: done.at(-1) ?? {} })
    const stopped = error === null || (error instanceof PlaygroundError && error.kind === 'stopped')
    return { state: 'ended', steps: done.length, error: stopped ? '' : describeError(error) }
  }

  /** A stage of the run's plan ended. */
  async keepPlanned(stage: Omit<StageRecord, 'afterStep'>): Promise<void> {
    const run = this.host.run()
    if (run) await this.keep(run, { ...stage, afterStep: run.trainer.stepNumber })
  }

  /** The policy as it is now is what GRPO goes on from, and its reference; the optimizer begins anew. */
  private async keep({ engine, config, trainer }: Staged, stage: StageRecord): Promise<void> {
    const tensors = await engine.exportParameters()
    await engine.importParameters(tensors)
    if (engine.lora) engine.freezeReference()
    const checkpoint = await checkpointOf({ engine, trainer })
    this.know([...this.records, stage])
    await this.host.ended(checkpoint, stage, engine.lora && { lora: engine.lora, baseModel: config.model, tensors })
  }

  private tell(state: StageState): void {
    this.post({ type: 'stage-state', kind: this.kind, state })
  }
}
