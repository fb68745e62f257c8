/** The run as the page drives it: configure, train, one step, pause, reset, evaluate. One thing at a time. */

import type { RunConfig } from '../core/config'
import type { Engine } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import type { RunState, StepRecord, TrainEvent } from '../core/events'
import type { StageRecord } from '../core/stage'
import type { PauseGate } from '../core/sleep'
import { isHubModel } from '../env/models'
import type { ChatFormat } from '../rollout/chat'
import { GrpoTrainer } from '../train/grpo'
import { shouldStop } from '../train/stop'
import type { Checkpoint } from './archive'
import { ChatSession, ENDS_CHAT } from './chat'
import { Evaluating } from './evaluating'
import type { RunJournal } from './journal'
import { checkpointOf, differences, type KeptRun, putBack, restoreInto, wholly } from './kept-run'
import { RunLoader } from './loader'
import type { PlayDesk } from './play'
import type { Command, Message } from './protocol'
import { assertTrainable, engineMessage, environmentMessage, failedState, pausedLoad, recoveredState, WAIT_STOPPED } from './run-messages'
import { isAsked, RunAnswers } from './run-answers'
import { isReset, type KeptStart, type RunSetup, type SetupKeeper } from './setup'
import { isForStage, STAGE_BUSY, StageDesk, type StageMaterial } from './stage-desk'
import { type Trained, TrainingLoop, type Until, UNTIL } from './training-loop'

interface Run extends RunSetup {
  config: RunConfig
  /** Where it began, to be loaded again. */
  at: KeptStart
  trainer: GrpoTrainer
  talk: ChatSession
}

export class Runner {
  private run: Run | null = null
  /** The last finished step: what is left of a run whose engine dies. */
  private lastGood: Checkpoint | null = null
  private records: Pick<StepRecord, 'step' | 'metrics'>[] = []
  private readonly loop: TrainingLoop
  private readonly answers: RunAnswers
  private readonly stages: StageDesk
  private readonly evaluating = new Evaluating((event) => this.post({ type: 'event', event }), async (records) => this.journal?.evaluated(records))
  /** What is being loaded. */
  private loading: RunConfig | null = null
  /** A person wants the run before the load back. */
  private cancelling = false
  /** A run is being loaded again after a failure. */
  private restoring = false
  /** A person paused the load that is going on. */
  private loadPaused = false
  private readonly loader: RunLoader
  /** The engine whose failed self-test a person overruled. */
  private trusted: Engine | null = null
  /** The settings of a kept run that stands on another base than these say: to be measured, not to be trained. */
  private measured: RunConfig | null = null
  /** The newest command that loads. */
  private latest: Command | null = null
  /** Commands that load or reset run after each other. */
  private queue: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly keeper: Pick<SetupKeeper, 'prepare' | 'discardEngine' | 'abandon' | 'holds'>,
    private readonly post: (message: Message) => void,
    /** Whoever plays by hand: gives way when the run needs the environment's sessions. */
    play: Pick<PlayDesk, 'giveWay'> | null = null,
    /** Keeps the run, step by step. */
    private readonly journal: RunJournal | null = null,
    material: StageMaterial | null = null,
  ) {
    this.loader = new RunLoader(keeper, post, play)
    this.loop = new TrainingLoop(this.trained(), (state) => this.tell(state))
    const host = { run: () => this.run, enqueue: (work: () => Promise<void>) => this.enqueue(work), makeRoom: () => this.makeRoom() }
    this.answers = new RunAnswers({ ...host, doing: () => (this.stages.busy ? 'working' : this.loop.doing), paused: () => this.loop.paused, measured: async (records) => this.journal?.evaluated(records) }, post)
    const lost = async (error: unknown): Promise<void> => this.tell(await this.recover(error))
    this.stages = new StageDesk({ ...host, material, doing: () => this.loop.doing, kept: () => this.lastGood, ended: (checkpoint, stage, start) => this.staged(checkpoint, stage, start), lost }, post)
  }

  /** The loaded model's chat format; null while none is loaded. */
  get chatFormat(): ChatFormat | null {
    return this.run?.chat ?? null
  }

  /** Takes a command; never throws: failures become messages. */
  handle(command: Command): void {
    if (ENDS_CHAT.includes(command.type)) this.answers.end(command.type)
    if (isAsked(command)) return this.answers.handle(command)
    switch (command.type) {
      case 'configure':
        return this.load(command, () => this.configure(command.config))
      case 'reset':
        return this.enqueue(() => this.reset())
      case 'extend':
        return this.enqueue(async () => {
          Object.assign(this.run?.config.grpo ?? {}, { max_steps: command.max_steps, target_reward: command.target_reward })
          if (this.run) await this.journal?.extended(this.run.config)
        })
      case 'train':
        return this.enqueue(() => this.start('limit'))
      case 'step':
        return this.enqueue(() => this.start(UNTIL[command.grain ?? 'step']))
      case 'pause':
        return this.loop.pause()
      case 'pace':
        return this.loop.pace(command.tokensPerSecond)
      case 'pause-load':
        // What is loaded again after a failure holds the only copy of an adapter: it is not given up.
        if (this.restoring) return
        this.loadPaused = this.loading !== null
        return this.keeper.abandon()
      case 'cancel-load':
        if (this.restoring) return
        // The load that is given up has nothing to say any more.
        this.latest = command
        this.loadPaused = false
        this.cancelling = true
        this.keeper.abandon()
        return this.enqueue(() => this.cancelLoad(command.back))
      case 'trust-device':
        this.trusted = this.run?.engine ?? null
        return
      default:
        // Other commands are taken before they come here.
        return isForStage(command) ? this.stages.handle(command) : undefined
    }
  }

  /** Goes on with a kept run; `read` finds it once the run before it has ended. Never throws. */
  resume(command: Command, read: () => Promise<KeptRun>): void {
    this.answers.end(command.type)
    this.load(command, async () => {
      await this.halt()
      // What is read must hold the last step of the run that is there, should it be the same one.
      await this.journal?.save()
      try {
        const kept = await read()
        await this.configure(kept.config, kept)
      } finally {
        this.journal?.unreserve()
      }
    })
  }

  private load(command: Command, work: () => Promise<void>): void {
    this.latest = command
    this.loadPaused = false
    // What is still being connected for an older choice is given up, and its failure is nobody's business.
    this.keeper.abandon()
    this.enqueue(async () => {
      try {
        await work()
      } catch (error) {
        if (this.latest !== command) return
        if (!this.loadPaused) throw error
        const paused = pausedLoad(this.loader.progress)
        if (paused.what === undefined || !this.run) return this.tell(paused)
        // Nothing has come that could be gone on with: the run before it can.
        this.goBack(this.run)
        this.warn(WAIT_STOPPED)
      }
    })
  }

  private enqueue(work: () => Promise<void>): void {
    this.queue = this.queue.then(work).catch((error: unknown) => this.tell(this.failure(error)))
  }

  /** `at`: where the adapter and the base of step 0 are to be taken from, if not from what the config names. */
  private async configure(config: RunConfig, kept: KeptRun | null = null, at: KeptStart | null = kept?.at ?? null): Promise<void> {
    await this.halt()
    const before = this.run
    await before?.talk.release()
    const began = performance.now()
    this.loading = config
    let setup: RunSetup
    try {
      setup = await this.loader.prepare(config, at)
    } catch (error) {
      const givenUp = error instanceof PlaygroundError && error.kind === 'stopped'
      await this.keep(before, givenUp && !this.cancelling)
      throw error
    } finally {
      this.loading = null
    }
    if (kept) await this.fill(setup, kept, before)
    await before?.environment.close()
    const carry = kept || at ? null : this.stages.carried(config, this.lastGood, before?.at.start ?? null)
    this.clear()
    // The old run's notices went with it, and these too.
    for (const text of this.loader.notices) this.warn(text)
    if (kept) this.goOn(kept, setup)
    else await this.begin(config, setup)
    await carry?.(setup.engine)
    this.post(engineMessage(setup, (performance.now() - began) / 1000))
    if (kept) this.post({ type: 'restored', run: kept.record, history: kept.history, episodes: kept.episodes })
    this.tell(kept ? { state: 'paused', step: kept.checkpoint.step } : { state: 'ready' })
  }

  /** A new run at step 0. */
  private async begin(config: RunConfig, setup: RunSetup): Promise<void> {
    const { lora } = setup.engine
    const start = config.adapter && lora ? { lora, baseModel: config.model, tensors: await setup.engine.exportParameters() } : null
    this.adopt(config, setup, { sha: setup.sha, start })
    this.journal?.open({ ...setup, config, start })
  }

  /** Puts a kept run's state into an engine that stands at its step 0; when it does not fit, the run before it goes on. */
  private async fill(setup: RunSetup, kept: KeptRun, before: Run | null): Promise<void> {
    try {
      await restoreInto(setup.engine, kept.checkpoint)
    } catch (error) {
      await setup.environment.close()
      if (before && this.keeper.holds(before.engine)) await putBack(before, this.lastGood?.state ?? null)
      await this.keep(before, false)
      throw error
    }
  }

  /** A kept run at its checkpoint. */
  private goOn({ record, checkpoint, history, config, at }: KeptRun, setup: RunSetup): void {
    this.post({ type: 'configured', config: record.config })
    this.adopt(config, setup, at, checkpoint)
    this.records = history
    this.stages.know(record.stages ?? [])
    this.evaluating.know(record.evaluations, checkpoint.step)
    this.lastGood = checkpoint
    if (config.precision !== record.config.precision) this.measured = record.config
    for (const text of differences(record, setup, checkpoint)) this.warn(text)
    this.journal?.open({ ...setup, config, start: at.start }, { record, checkpoint }, this.measured !== null)
  }

  private async cancelLoad(back: RunConfig): Promise<void> {
    this.cancelling = false
    if (this.run) this.goBack(this.run)
    else await this.configure(back)
  }

  private goBack({ config, trainer: { stepNumber: step } }: Run): void {
    this.post({ type: 'configured', config })
    this.tell(step > 0 ? { state: 'paused', step } : { state: 'ready' })
  }

  /** After a load that failed or was given up: the run before it goes on. An engine that had to make room is loaded again after a failure. */
  private async keep(before: Run | null, givenUp: boolean): Promise<void> {
    if (before && this.keeper.holds(before.engine)) {
      if (!this.loadPaused) this.post({ type: 'configured', config: before.config })
      return
    }
    this.run = null
    await before?.environment.close()
    if (!before || givenUp) return
    // Where this fails, too, why the load failed is what a person needs to hear.
    const isBack = await this.restore(before.config, before.at).then(() => true, () => false)
    if (isBack) this.warn(`${before.config.model} was loaded again as it was after step ${this.lastGood?.step ?? 0}.`)
  }

  /** Loads a run anew at the same commit, as it was after its last finished step. */
  private async restore(config: RunConfig, at: KeptStart): Promise<void> {
    const kept = this.lastGood
    this.restoring = true
    const setup = await this.loader.prepare(config, at).finally(() => {
      this.restoring = false
    })
    if (kept) await restoreInto(setup.engine, kept)
    // First whose settings hold: what follows is about them.
    this.post({ type: 'configured', config })
    this.adopt(config, setup, at, kept ?? undefined)
    this.journal?.movedTo(setup.engine.info)
    this.post(engineMessage(setup, 0))
  }

  private adopt(config: RunConfig, setup: RunSetup, at: KeptStart, resume?: Checkpoint): void {
    const onEvent = (event: TrainEvent): void => {
      this.loop.hear(event)
      this.post({ type: 'event', event })
    }
    const trainer = new GrpoTrainer({ ...setup, config, onEvent, ...(resume ? { resume } : {}) })
    this.run = { ...setup, config, at, trainer, talk: new ChatSession({ ...setup, config }, this.post) }
    this.post(environmentMessage(config.environment, setup.environment))
  }

  private async reset(): Promise<void> {
    await this.halt()
    const { run } = this
    if (!run) return
    await run.talk.release()
    // Its start was the adapter that its stages made.
    if (this.stages.done.length > 0) return this.configure(run.config, null, { sha: run.at.sha, start: null })
    if (this.measured || !isReset(run, run.config)) return this.configure(this.measured ?? run.config, null, run.at)
    this.clear()
    await this.begin(run.config, run)
    this.tell({ state: 'ready' })
  }

  private async start(until: Until): Promise<void> {
    if (this.stages.busy) return this.warn(STAGE_BUSY)
    await this.makeRoom()
    if (this.run) this.loop.start(until)
  }

  /** Before anything is trained. Throws PlaygroundError where the run must not be. */
  private async makeRoom(): Promise<void> {
    assertTrainable(this.run, this.trusted, this.measured !== null)
    await this.run?.talk.release()
  }

  private async staged(checkpoint: Checkpoint, stage: StageRecord, start: KeptStart['start']): Promise<void> {
    if (this.run) this.run.at.start = start
    this.lastGood = checkpoint
    await this.journal?.staged(stage, checkpoint, start)
  }

  private async halt(): Promise<void> {
    await this.stages.halt()
    await this.loop.halt()
  }

  private trained(): Trained {
    return {
      stepNumber: () => this.run?.trainer.stepNumber ?? 0,
      over: () => {
        const { run } = this
        const over = run && shouldStop(this.records, run.config.grpo)
        return over && !this.evaluating.isDue(run, true) ? { state: 'finished', step: run.trainer.stepNumber, reason: over } : null
      },
      step: (gate, signal) => this.step(gate, signal),
      recover: (error) => this.recover(error),
    }
  }

  private async step(gate: PauseGate, signal: AbortSignal): Promise<void> {
    const run = this.run as Run
    if (this.stages.plan.isDue(run)) return this.stages.plan.makeNext(run, gate, signal)
    const isOver = (): boolean => shouldStop(this.records, run.config.grpo) !== null
    await this.evaluating.around(() => this.train(run, gate, signal), run, isOver, gate, signal)
    if (isOver()) await this.journal?.finished()
  }

  private async train(run: Run, gate: PauseGate, signal: AbortSignal): Promise<void> {
    const record = await wholly(run, this.lastGood?.state ?? null, () => run.trainer.step(gate, signal))
    this.records.push({ step: record.step, metrics: record.metrics })
    this.stages.saw(record, run)
    this.lastGood = await checkpointOf(run)
    await this.journal?.step(record, this.lastGood)
  }

  private clear(): void {
    this.records = []
    this.lastGood = null
    this.measured = null
    this.journal?.close()
    this.stages.know([])
    this.evaluating.know([], 0)
    this.post({ type: 'cleared' })
  }

  /**
   * After a failure in the loop: a lost GPU is replaced by WASM, with the adapter of the last finished step. A model of the Hub would take
   * seconds a token there: its GPU is asked for again.
   */
  private async recover(error: unknown): Promise<RunState> {
    const { run } = this
    if (!run || !(error instanceof PlaygroundError) || (error.kind !== 'device-lost' && error.kind !== 'memory')) return this.failure(error)
    const config: RunConfig = isHubModel(run.config.model) ? run.config : { ...run.config, backend: 'wasm' }
    try {
      await run.environment.close()
      await this.keeper.discardEngine()
      await this.restore(config, run.at)
    } catch {
      // The old engine is gone and there is no new one: only a new configuration helps.
      this.run = null
      return this.failure(error)
    }
    return recoveredState(error, this.lastGood?.step ?? 0, config.backend)
  }

  private warn(text: string): void {
    this.post({ type: 'event', event: { type: 'notice', level: 'warning', text } })
  }

  private tell(state: RunState): void {
    this.post({ type: 'state', state })
  }

  private failure(error: unknown): RunState {
    return failedState(error, this.run !== null)
  }
}
