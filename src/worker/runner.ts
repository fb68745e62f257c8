/** The run as the page drives it: configure, train, one step, pause, reset, evaluate. One thing at a time. */

import type { RunConfig } from '../core/config'
import type { Engine, NamedTensor } from '../core/engine'
import { describeError, PlaygroundError } from '../core/errors'
import type { RunState, StepRecord, TrainEvent } from '../core/events'
import { isHubModel } from '../env/models'
import type { ChatFormat } from '../rollout/chat'
import { evaluate } from '../train/evaluate'
import { GrpoTrainer } from '../train/grpo'
import { shouldStop } from '../train/stop'
import { ChatSession } from './chat'
import { Gate } from './gate'
import type { PlayDesk } from './play'
import type { Command, EvaluationResult, Message } from './protocol'
import { engineMessage, environmentMessage } from './run-messages'
import type { RunSetup, SetupKeeper } from './setup'

/** What a run leaves behind when its engine dies. */
interface LastGood {
  step: number
  num_tokens: number
  adapter: NamedTensor[]
}

interface Run extends RunSetup {
  config: RunConfig
  trainer: GrpoTrainer
  talk: ChatSession
}

/** What needs the engine for itself: it does not wait until a chat has been said to its end. */
const ENDS_CHAT: readonly Command['type'][] = ['configure', 'reset', 'train', 'step', 'evaluate']

/** Gives the engine a fresh adapter; false when the engine died while nothing ran. */
function isReset({ engine }: RunSetup, { grpo }: RunConfig): boolean {
  try {
    engine.resetAdapter(grpo.seed)
    return true
  } catch {
    return false
  }
}

export class Runner {
  private run: Run | null = null
  private lastGood: LastGood | null = null
  private records: Pick<StepRecord, 'step' | 'metrics'>[] = []
  /** The loop that is training, until it ends. */
  private loop: Promise<void> | null = null
  private stop: AbortController | null = null
  private chatStop = new AbortController()
  private oneStep = false
  private paused = false
  /** What is being loaded. */
  private loading: RunConfig | null = null
  /** A person wants the run before the load back. */
  private cancelling = false
  /** A run is being loaded again after a failure. */
  private restoring = false
  /** A person paused the load that is going on. */
  private loadPaused = false
  /** What the load that is going on had to say that holds when it is over. */
  private loadNotices: string[] = []
  private lastProgress: { done: number; total: number | null } = { done: 0, total: null }
  /** The engine whose failed self-test a person overruled. */
  private trusted: Engine | null = null
  private readonly gate = new Gate(() => this.tell({ state: 'paused', step: this.run?.trainer.stepNumber ?? 0 }))
  /** The newest configure command. */
  private latest: Command | null = null
  /** Commands that load or reset run after each other. */
  private queue: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly keeper: Pick<SetupKeeper, 'prepare' | 'discardEngine' | 'abandon' | 'holds'>,
    private readonly post: (message: Message) => void,
    /** Whoever plays by hand: gives way when the run needs the environment's sessions. */
    private readonly play: Pick<PlayDesk, 'giveWay'> | null = null,
  ) {}

  /** The loaded model's chat format; null while none is loaded. */
  get chatFormat(): ChatFormat | null {
    return this.run?.chat ?? null
  }

  /** Takes a command; never throws: failures become messages. */
  handle(command: Command): void {
    if (ENDS_CHAT.includes(command.type)) this.chatStop.abort()
    switch (command.type) {
      case 'configure':
        this.latest = command
        this.loadPaused = false
        // What is still being connected for an older choice is given up, and its failure is nobody's business.
        this.keeper.abandon()
        return this.enqueue(async () => {
          try {
            await this.configure(command.config)
          } catch (error) {
            if (this.latest !== command) return
            if (!this.loadPaused) throw error
            const { done, total } = this.lastProgress
            this.tell({ state: 'load-paused', done, total })
          }
        })
      case 'reset':
        return this.enqueue(() => this.reset())
      case 'train':
        return this.enqueue(() => this.start(false))
      case 'step':
        return this.enqueue(() => this.start(true))
      case 'pause':
        return this.pause()
      case 'evaluate':
        return this.enqueue(() => this.evaluate(command.requestId, command.episodes))
      case 'chat': {
        if (this.chatStop.signal.aborted) this.chatStop = new AbortController()
        const { signal } = this.chatStop
        return this.enqueue(() => this.chat(command, signal))
      }
      case 'chat-stop':
        return this.chatStop.abort()
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
        // Commands of models are taken before they come here.
        return
    }
  }

  private enqueue(work: () => Promise<void>): void {
    this.queue = this.queue.then(work).catch((error: unknown) => this.tell(this.failure(error)))
  }

  private async configure(config: RunConfig): Promise<void> {
    await this.halt()
    const before = this.run
    await before?.talk.release()
    const began = performance.now()
    this.loading = config
    this.loadNotices = []
    let setup: RunSetup
    try {
      setup = await this.prepare(config)
    } catch (error) {
      const givenUp = error instanceof PlaygroundError && error.kind === 'stopped'
      await this.keep(before, givenUp && !this.cancelling)
      throw error
    } finally {
      this.loading = null
    }
    await before?.environment.close()
    this.clear()
    // The old run's notices went with it, and these too.
    for (const text of this.loadNotices) this.warn(text)
    this.adopt(config, setup)
    this.post(engineMessage(setup, (performance.now() - began) / 1000))
    this.tell({ state: 'ready' })
  }

  private async cancelLoad(back: RunConfig): Promise<void> {
    this.cancelling = false
    if (!this.run) return this.configure(back)
    this.post({ type: 'configured', config: this.run.config })
    const { stepNumber } = this.run.trainer
    this.tell(stepNumber > 0 ? { state: 'paused', step: stepNumber } : { state: 'ready' })
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
    try {
      await this.restore(before.config, before.sha)
    } catch {
      // Why the load failed is what a person needs to hear.
      return
    }
    this.warn(`${before.config.model} was loaded again with the adapter of step ${this.lastGood?.step ?? 0}; its optimizer starts anew.`)
  }

  /** Loads a run anew at the same commit, with the adapter of its last finished step. */
  private async restore(config: RunConfig, sha: string | null): Promise<void> {
    const kept = this.lastGood
    this.restoring = true
    const setup = await this.prepare(sha === null ? config : { ...config, model_revision: sha }).finally(() => {
      this.restoring = false
    })
    if (kept) {
      // A fresh adapter of the same seed is what the run began with.
      setup.engine.freezeReference()
      await setup.engine.importParameters(kept.adapter)
    }
    // First whose settings hold: what follows is about them.
    this.post({ type: 'configured', config })
    this.adopt(config, setup, kept ?? undefined)
    this.post(engineMessage(setup, 0))
  }

  /** A setup whose adapter is fresh. */
  private async prepare(config: RunConfig): Promise<RunSetup> {
    const load = () =>
      this.keeper.prepare(config, {
        onProgress: (progress) => {
          this.lastProgress = progress.overall ?? progress
          this.tell({ state: 'loading', ...progress })
        },
        onCrowded: () => void this.play?.giveWay('The server has no other free session, and the run needs this one: the episode was ended.'),
        onNotice: (text, passing) => {
          this.warn(text)
          if (!passing) this.loadNotices.push(text)
        },
      })
    const setup = await load()
    if (isReset(setup, config)) return setup
    await setup.environment.close()
    await this.keeper.discardEngine()
    const again = await load()
    again.engine.resetAdapter(config.grpo.seed)
    return again
  }

  private adopt(config: RunConfig, setup: RunSetup, resume?: { step: number; num_tokens: number }): void {
    const { environment } = setup
    const trainer = new GrpoTrainer({
      ...setup,
      config,
      onEvent: (event) => this.post({ type: 'event', event }),
      ...(resume ? { resume } : {}),
    })
    this.run = { ...setup, config, trainer, talk: new ChatSession({ ...setup, config }, this.post) }
    this.post(environmentMessage(config.environment, environment))
  }

  private async reset(): Promise<void> {
    await this.halt()
    const { run } = this
    if (!run) return
    await run.talk.release()
    if (!isReset(run, run.config)) return this.configure(run.config)
    this.clear()
    this.adopt(run.config, run)
    this.tell({ state: 'ready' })
  }

  private async start(oneStep: boolean): Promise<void> {
    const { run } = this
    if (!run) return
    if (run.selfTest && !run.selfTest.ok && this.trusted !== run.engine) {
      throw new PlaygroundError('engine', run.selfTest.problem, 'Choose WASM, or press Train anyway.')
    }
    await run.talk.release()
    this.oneStep = oneStep
    this.paused = false
    this.tell({ state: 'running', until: oneStep ? 'one-step' : 'limit' })
    this.gate.open()
    if (this.loop) return
    this.stop = new AbortController()
    const { signal } = this.stop
    this.loop = this.train(signal)
      .catch((error: unknown) => (error instanceof PlaygroundError && error.kind === 'stopped' ? null : this.recover(error)))
      .then((state) => {
        // First gone, then said so: who hears it may start the next one.
        this.loop = null
        if (state) this.tell(state)
      })
  }

  /** Trains until something ends it; returns the state that the run is in then. */
  private async train(signal: AbortSignal): Promise<RunState> {
    for (;;) {
      const run = this.run as Run
      const { grpo } = run.config
      const over = shouldStop(this.records, grpo)
      if (over) return { state: 'finished', step: run.trainer.stepNumber, reason: over }
      const record = await run.trainer.step(this.gate.pass, signal)
      this.records.push({ step: record.step, metrics: record.metrics })
      this.lastGood = { step: record.step, num_tokens: run.trainer.tokensSeen, adapter: await run.engine.exportParameters() }
      const reached = shouldStop(this.records, grpo)
      if (reached) return { state: 'finished', step: record.step, reason: reached }
      if (this.oneStep || this.paused) return { state: 'paused', step: record.step }
    }
  }

  private pause(): void {
    if (!this.loop || this.paused) return
    this.paused = true
    this.tell({ state: 'pausing' })
    this.gate.close()
  }

  /** Ends the loop, whatever it is doing; the step that runs is dropped. */
  private async halt(): Promise<void> {
    this.stop?.abort()
    this.gate.open()
    await this.loop
    this.stop = null
  }

  private clear(): void {
    this.records = []
    this.lastGood = null
    this.paused = false
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
      await this.restore(config, run.sha)
    } catch {
      // The old engine is gone and there is no new one: only a new configuration helps.
      this.run = null
      return this.failure(error)
    }
    const step = this.lastGood?.step ?? 0
    const advice = `The adapter of step ${step} is kept: press Train to go on from it${config.backend === 'wasm' ? ' on WASM' : ''}, or lower num_generations or max_completion_length and press Reset.`
    return { state: 'failed', error: error.message, advice, recoverable: true }
  }

  private async evaluate(requestId: number, episodes: number): Promise<void> {
    const { run } = this
    try {
      if (!run) throw new PlaygroundError('config', 'There is no model to evaluate yet.', 'Wait until it is loaded.')
      if (this.loop) throw new PlaygroundError('config', 'A step is being trained.', 'Evaluate when the step is finished: press Step instead of Train.')
      await run.talk.release()
      const rate = async (split: 'train' | 'heldout'): Promise<number> => {
        const request = { ...run, split, episodes, onEvent: (event: TrainEvent) => this.post({ type: 'event', event }) }
        return (await evaluate(request)).success
      }
      const result: EvaluationResult = {
        train: await rate('train'),
        heldOut: run.config.environment.kind === 'builtin' ? await rate('heldout') : null,
        episodes,
      }
      this.post({ type: 'evaluation', requestId, result })
    } catch (error) {
      this.post({ type: 'evaluation-failed', requestId, error: describeError(error) })
    }
  }

  private async chat(command: Extract<Command, { type: 'chat' }>, signal: AbortSignal): Promise<void> {
    const { run } = this
    if (run && !this.loop) return run.talk.turn(command, signal)
    // A step in its middle holds the slots.
    const error = !run
      ? 'There is no model to talk to yet. Wait until it is loaded.'
      : this.paused
        ? 'The run is paused in the middle of a step. Press Step to finish the step first.'
        : 'The model is being trained. Press Pause first, and Step if the pause is in the middle of a step.'
    this.post({ type: 'chat-ended', requestId: command.requestId, reason: 'failed', error })
  }

  private warn(text: string): void {
    this.post({ type: 'event', event: { type: 'notice', level: 'warning', text } })
  }

  private tell(state: RunState): void {
    this.post({ type: 'state', state })
  }

  private failure(error: unknown): RunState {
    const known = error instanceof PlaygroundError
    const advice = known ? error.advice : 'Press Reset; if it happens again, reload the page.'
    return { state: 'failed', error: known ? error.message : describeError(error), advice, recoverable: this.run !== null }
  }
}
