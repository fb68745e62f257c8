/** The GRPO loop: sample groups of episodes, compare them, move the adapter, and tell the outside as events. */

import type { RunConfig } from '../core/config'
import type { Engine } from '../core/engine'
import type { Environment } from '../core/environment'
import type { Episode } from '../core/episode'
import type { Metrics, ScoredEpisode, StepRecord, TrainEvent } from '../core/events'
import { waitAtGate } from '../core/sleep'
import { byStart, TRAINER, type TrainingPart } from '../core/timeline'
import {
  byEnvironment,
  completionMetrics,
  countTokens,
  environmentMetrics,
  mismatchMetrics,
  mismatchOptions,
  rewardMetrics,
  updateMetrics,
  type EntropyController,
  type GroupStatistics,
} from '../rl'
import type { ChatFormat } from '../rollout/chat'
import { Lanes } from '../rollout/lanes'
import type { Rollout } from '../rollout/rollout'
import { assertBeside, type Sampled, trainAndSample, type Trained } from './ahead'
import { advantageIn, type Batch, drawBatch, placesOf } from './batch'
import { assertNotStopped } from './guard'
import { besideOwn, toldApart } from './logged'
import { waitSeconds, type Wait } from './outage'
import { assertJudged, assertLimits, type CallCustom, chosenBy } from './scoring'
import { Stopwatch } from './stopwatch'
import { throughputMetrics } from './throughput'
import { updatePolicy, type PolicyUpdate, type UpdateRequest } from './update'

export interface GrpoTrainerOptions {
  config: RunConfig
  /** Its sampler and its trainer must be the same weights. */
  engine: Engine
  /** Connected. */
  environment: Environment
  chat: ChatFormat
  onEvent: (event: TrainEvent) => void
  /**
   * For the mask test only: false also trains on tokens that the environment and the template wrote after the prompt, which
   * is the classic mistake that the mask prevents.
   */
  maskEnvironment?: boolean
  /**
   * Goes on after so many finished steps and counted tokens (an engine that was made again keeps the run's numbers); the
   * engine's reference is already the adapter that the run began with.
   */
  resume?: { step: number; num_tokens: number; entropy?: EntropyController }
  /** Runs reward functions of the person's own, in the sandbox; absent where there is none. */
  callCustom?: CallCustom
  /** Generates episodes in place of the page's loop: a rollout function of the person's own. */
  rollout?: Rollout
  /** Seconds from any origin; tests replace the clock. */
  now?: () => number
  /** Tests replace the pause between attempts during an outage. */
  wait?: Wait
}

/**
 * One training stage. The reference policy (beta ≠ 0) is the adapter as it is when the first step begins.
 *
 * A run is a function of (config, seed): environment seeds come from (seed, step, group), sampling from (seed, step, episode,
 * position), and everything is ordered by episode index. Steps count from 1.
 */
export class GrpoTrainer {
  private frozen = false
  /** No group of the last step had a signal. */
  private silent = false
  private done: number
  private tokens: number
  /** The adaptive entropy bonus after the last step. */
  private controller: EntropyController | undefined
  /** The next step's batch, where it was sampled ahead. Not kept with the run: one that goes on later samples it again, with the weights that it has. */
  private next: Sampled | null = null
  /** Names of log_metric that were told to stand apart. */
  private readonly toldApart = new Set<string>()
  private readonly maskEnvironment: boolean
  private readonly now: () => number
  private readonly wait: Wait

  constructor(private readonly options: GrpoTrainerOptions) {
    this.done = options.resume?.step ?? 0
    this.frozen = this.done > 0
    this.tokens = options.resume?.num_tokens ?? 0
    this.controller = options.resume?.entropy
    this.maskEnvironment = options.maskEnvironment ?? true
    this.now = options.now ?? (() => performance.now() / 1000)
    this.wait = options.wait ?? waitSeconds
  }

  /** Finished steps; 0 at the start. */
  get stepNumber(): number {
    return this.done
  }

  /** What the adaptive entropy bonus remembers; undefined before the first step. */
  get entropyController(): EntropyController | undefined {
    return this.controller
  }

  /** TRL's num_tokens so far. */
  get tokensSeen(): number {
    return this.tokens
  }

  /**
   * One whole step: rollout, advantages, update. Emits 'step-started', the rollout's events, 'scored', 'training' and
   * 'step-finished'. During an outage of the environment it waits and tries again (see outage.ts). With max_staleness 1 its batch is there
   * already, but at the first step, and the next step's is sampled beside the update (see ahead.ts).
   *
   * @param gate awaited between decode ticks and before the update; a pause is a promise that does not resolve yet
   * @param signal aborting before the update throws 'stopped' and leaves adapter and step number as they were
   * @throws PlaygroundError; the step then does not count, and the optimizer step that failed was not applied
   */
  async step(gate: () => Promise<void> = () => Promise.resolve(), signal?: AbortSignal): Promise<StepRecord> {
    const { config, engine, environment, onEvent } = this.options
    const { grpo } = config
    const step = this.done + 1
    assertJudged(environment, grpo)
    assertLimits(grpo, chosenBy(this.options))
    assertBeside(engine, grpo)
    if (!this.frozen && grpo.beta !== 0) {
      engine.freezeReference()
      this.frozen = true
    }
    const watch = new Stopwatch(this.now)
    const watched = watch.watch(gate)
    const ahead = this.sampledAhead(step)
    const began = watch.read()
    const lanes = new Lanes(
      () => (ahead?.length ?? 0) + (watch.read() - began) * 1000,
      (spans) => onEvent({ type: 'timeline', step, spans }),
    )
    const pause = (): Promise<void> => {
      lanes.report()
      return watched()
    }
    const alone = async (): Promise<Sampled> => {
      const batch = await drawBatch(this.options, step, { lanes, gate: pause, ...(signal ? { signal } : {}), wait: this.wait })
      const seconds = watch.read() - began
      return { batch, seconds, played: seconds, timeline: [], length: 0 }
    }
    const sampled = ahead ?? (await alone())
    const { batch } = sampled
    this.noticeMissingSignal(step, batch.groups.filter((group) => !group.discarded))

    await waitAtGate(pause, signal)
    assertNotStopped(signal)
    const staleness = engine.version - batch.version
    const request = {
      grpo,
      episodes: batch.episodes,
      advantages: batch.advantages,
      optimizerSteps: this.done * grpo.num_iterations * grpo.steps_per_generation,
      ...(this.controller && { controller: this.controller }),
      maskEnvironment: this.maskEnvironment,
      stale: staleness > 0,
      onProgress: (done: number, total: number) => {
        onEvent({ type: 'training', step, done, total })
        lanes.report()
      },
      ...(signal ? { signal } : {}),
    }
    const trained =
      grpo.max_staleness > 0 && step < grpo.max_steps
        ? await trainAndSample(this.options, step, request, { watch, gate: watched, ...(signal ? { signal } : {}), wait: this.wait })
        : await this.trainAlone(request, lanes, watch)
    const timeline = byStart([...sampled.timeline, ...lanes.finish()])
    const { update } = trained
    const seconds = { sampling: sampled.seconds, training: trained.seconds }

    this.done = step
    this.next = trained.next
    this.controller = update.controller
    this.tokens += countTokens(batch.all)
    const place = placesOf(batch)
    const advantageOf = advantageIn(batch)
    const own = { ...this.metrics(batch, update, seconds, sampled.played, staleness), ...(grpo.dynamic_sampling && { 'groups/resampled': batch.resampled }) }
    const record: StepRecord = {
      step,
      episodes: batch.all.map((episode) => scored(episode, advantageOf(episode), update, place(episode), staleness > 0)),
      groups: batch.groups,
      metrics: {
        ...own,
        ...this.logged(batch.logged, own),
      },
      seconds,
      version: engine.version,
      ...(timeline.length > 0 && { timeline }),
    }
    onEvent({ type: 'step-finished', record })
    return record
  }

  /** The batch that was sampled during the last step, unless the weights have changed otherwise since. */
  private sampledAhead(step: number): Sampled | null {
    const { next } = this
    return next && next.batch.step === step && next.batch.version === this.options.engine.version - 1 ? next : null
  }

  private async trainAlone(request: Omit<UpdateRequest, 'engine' | 'onPart'>, lanes: Lanes, watch: Stopwatch): Promise<Trained> {
    const from = watch.read()
    const onPart = (part: TrainingPart, iteration: number): void => lanes.begin(TRAINER, 'training', -1, iteration, lanes.now(), part)
    const update = await updatePolicy({ ...request, engine: this.options.engine, onPart })
    lanes.endAll()
    return { update, seconds: watch.read() - from, next: null }
  }

  private noticeMissingSignal(step: number, groups: readonly GroupStatistics[]): void {
    const silent = !groups.some((group) => group.signal)
    const first = silent && !this.silent
    this.silent = silent
    // Once is news; a solved task has no signal at every step from then on.
    if (!first) return
    const { beta } = this.options.config.grpo
    const rest = beta === 0 ? 'the gradient is zero and only Adam’s momentum moves the adapter' : 'only the KL term moves the adapter'
    const text = `No group of step ${step} has a signal: within each group every reward is the same, so ${rest}.`
    this.options.onEvent({ type: 'notice', level: 'info', text })
  }

  /** What reward functions logged never takes the place of the run's own metrics; where it would, that is told once. */
  private logged(given: Metrics, own: Metrics): Metrics {
    const { metrics, taken } = besideOwn(given, own)
    const news = taken.filter((name) => !this.toldApart.has(name))
    if (news.length > 0) this.options.onEvent({ type: 'notice', level: 'warning', text: toldApart(news) })
    for (const name of news) this.toldApart.add(name)
    return metrics
  }

  /** Rewards, lengths and time are of all that was played, replaced groups included; what the update measured is of those that it saw. */
  private metrics({ all, episodes, groups, advantages }: Batch, update: PolicyUpdate, seconds: StepRecord['seconds'], played: number, staleness: number): Metrics {
    const { config, environment } = this.options
    const { grpo } = config
    return {
      ...rewardMetrics(all, groups, advantages, {
        name: environment.name,
        scale_rewards: grpo.scale_rewards,
        isSuccess: (reward) => environment.isSuccess(reward),
      }),
      ...byEnvironment(all),
      ...completionMetrics(all),
      ...environmentMetrics(all),
      ...updateMetrics(update.updates, grpo),
      ...mismatchMetrics(
        episodes.flatMap(({ mask, logprobs }, i) => {
          const train = update.trainLogprobs[i]
          return train ? [{ mask, sampler: logprobs, train }] : []
        }),
        mismatchOptions(grpo, staleness > 0),
      ),
      ...(grpo.max_staleness > 0 && { 'sampling/staleness': staleness }),
      num_tokens: this.tokens,
      step_time: seconds.sampling + seconds.training,
      ...throughputMetrics(all, episodes.filter((_, i) => update.trainLogprobs[i]), grpo.num_iterations, { ...seconds, sampling: played }),
    }
  }
}

function scored(episode: Episode, advantage: number, update: PolicyUpdate, position: number, stale: boolean): ScoredEpisode {
  const plain = (values: Float64Array | null | undefined) => (values ? [...values] : null)
  const refLogprobs = plain(update.refLogprobs[position])
  const lastLogprobs = plain(update.lastLogprobs[position])
  const trainLogprobs = plain(update.trainLogprobs[position])
  return {
    ...episode,
    advantage,
    trainLogprobs,
    ...(stale && trainLogprobs && { stale: true as const }),
    entropies: plain(update.entropies[position]),
    ...(refLogprobs && { refLogprobs }),
    ...(lastLogprobs && { lastLogprobs }),
  }
}
