/** The GRPO loop: sample groups of episodes, compare them, move the adapter, and tell the outside as events. */

import type { RunConfig } from '../core/config'
import type { Engine } from '../core/engine'
import type { Environment } from '../core/environment'
import type { Episode } from '../core/episode'
import type { Metrics, ScoredEpisode, StepRecord, TrainEvent } from '../core/events'
import { waitAtGate } from '../core/sleep'
import { TRAINER } from '../core/timeline'
import {
  byEnvironment,
  completionMetrics,
  countTokens,
  environmentMetrics,
  mismatchMetrics,
  rewardMetrics,
  updateMetrics,
  type EntropyController,
  type GroupStatistics,
} from '../rl'
import type { ChatFormat } from '../rollout/chat'
import { Lanes } from '../rollout/lanes'
import { rollout, type Rollout } from '../rollout/rollout'
import { assertComparable, assertNotStopped } from './guard'
import { sampleThroughOutages, waitSeconds, type Wait } from './outage'
import { type Drawn, replaceSilent } from './resample'
import { advantagesOf, assertJudged, assertLimits, type CallCustom, chosenBy, groupsOf, scoreEpisodes } from './scoring'
import { groupSeeds } from './seeds'
import { Stopwatch } from './stopwatch'
import { throughputMetrics } from './throughput'
import { updatePolicy, type PolicyUpdate } from './update'

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
  /** What reward functions logged of the last episodes that they saw. */
  private logged: Metrics = {}
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
   * 'step-finished'. During an outage of the environment it waits and tries again (see outage.ts).
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
    if (!this.frozen && grpo.beta !== 0) {
      engine.freezeReference()
      this.frozen = true
    }
    const watch = new Stopwatch(this.now)
    const watched = watch.watch(gate)
    const began = watch.read()
    const lanes = new Lanes(
      () => (watch.read() - began) * 1000,
      (spans) => onEvent({ type: 'timeline', step, spans }),
    )
    const pause = (): Promise<void> => {
      lanes.report()
      return watched()
    }

    const draw = (firstGroup: number, count: number, discarded: readonly number[] | null): Promise<Episode[]> =>
      sampleThroughOutages(async () => this.score(await this.sample(step, firstGroup, count, discarded, lanes, pause, signal), step, signal), {
        step,
        environment: environment.name,
        onEvent,
        wait: (...wait) => {
          for (let slot = 0; slot < engine.slots; slot++) lanes.begin(slot, 'waiting', -1, -1)
          return this.wait(...wait)
        },
        gate: pause,
        ...(signal ? { signal } : {}),
      })
    const drawn = await this.draw(draw)
    const { episodes: all } = drawn
    lanes.endAll()
    lanes.report(true)
    const sampled = watch.read()

    const isUsed = ({ group }: Episode): boolean => !drawn.discarded.includes(group)
    const episodes = all.filter(isUsed)
    const rewards = episodes.map((episode) => episode.reward)
    const groups = groupsOf(all, grpo).map((group): StepRecord['groups'][number] =>
      drawn.discarded.includes(group.group) ? { ...group, discarded: true } : group,
    )
    const advantages = advantagesOf(episodes, grpo)
    assertComparable(rewards, advantages, environment.name)
    const places = new Map(episodes.map((episode, place) => [episode, place]))
    // Those that were replaced stand with 0 where the outside numbers all that were played.
    const advantageOf = (episode: Episode): number => advantages[places.get(episode) ?? -1] ?? 0
    onEvent({ type: 'scored', step, advantages: all.map(advantageOf), groups, ...partsOf(all) })
    this.noticeMissingSignal(step, groups.filter((group) => !group.discarded))

    await waitAtGate(pause, signal)
    assertNotStopped(signal)
    const update = await updatePolicy({
      engine,
      grpo,
      episodes,
      advantages,
      optimizerSteps: this.done * grpo.num_iterations * grpo.steps_per_generation,
      ...(this.controller && { controller: this.controller }),
      maskEnvironment: this.maskEnvironment,
      onProgress: (done, total) => {
        onEvent({ type: 'training', step, done, total })
        lanes.report()
      },
      onPart: (part, iteration) => lanes.begin(TRAINER, 'training', -1, iteration, lanes.now(), part),
      ...(signal ? { signal } : {}),
    })
    const timeline = lanes.finish()
    const ended = watch.read()

    const seconds = { sampling: sampled - began, training: ended - sampled }

    this.done = step
    this.controller = update.controller
    this.tokens += countTokens(all)
    const record: StepRecord = {
      step,
      episodes: all.map((episode) => scored(episode, advantageOf(episode), update, places.get(episode) ?? -1)),
      groups,
      metrics: {
        ...this.metrics(all, episodes, groups, advantages, update, seconds),
        ...this.logged,
        ...(grpo.dynamic_sampling && { 'groups/resampled': drawn.resampled }),
      },
      seconds,
      version: engine.version,
      ...(timeline.length > 0 && { timeline }),
    }
    onEvent({ type: 'step-finished', record })
    return record
  }

  /** The step's groups; with dynamic sampling, others in place of those without a signal. */
  private async draw(sample: (firstGroup: number, count: number, discarded: readonly number[] | null) => Promise<Episode[]>): Promise<Drawn> {
    const { prompts_per_step, dynamic_sampling, max_resampled_groups, ...grpo } = this.options.config.grpo
    const first = await sample(0, prompts_per_step, null)
    return replaceSilent(first, { ...grpo, max_resampled_groups: dynamic_sampling ? max_resampled_groups : 0 }, sample)
  }

  private async score(episodes: Episode[], step: number, signal: AbortSignal | undefined): Promise<Episode[]> {
    const { config, environment, callCustom } = this.options
    this.logged = await scoreEpisodes(episodes, { grpo: config.grpo, environment: environment.name, chosen: chosenBy(this.options), step, ...(callCustom && { callCustom }), ...(signal && { signal }) })
    return episodes
  }

  /** Groups from `firstGroup` on; `discarded` are those that they replace, null for the first draw. */
  private sample(
    step: number,
    firstGroup: number,
    count: number,
    discarded: readonly number[] | null,
    lanes: Lanes,
    gate: () => Promise<void>,
    signal: AbortSignal | undefined,
  ): Promise<Episode[]> {
    const { config, engine, environment, chat, onEvent } = this.options
    const { grpo, system_prompt, user_prompt } = config
    const size = { groups: firstGroup + count, episodes: (firstGroup + count) * grpo.num_generations }
    onEvent(discarded ? { type: 'resampled', step, ...size, discarded: [...discarded] } : { type: 'step-started', step, ...size })
    return (this.options.rollout ?? rollout)({
      step,
      groupSeeds: groupSeeds(grpo.seed, step, count, firstGroup),
      num_generations: grpo.num_generations,
      firstGroup,
      // Groups that replace others are out of the dataset's order, which goes on with the next step.
      ...(discarded === null && { firstPrompt: (step - 1) * grpo.prompts_per_step }),
      split: 'train',
      config: grpo,
      system_prompt,
      user_prompt,
      environment,
      sampler: engine,
      chat,
      onEvent,
      gate,
      lanes,
      ...(signal ? { signal } : {}),
    })
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

  /** Rewards, lengths and time are of all that was played, replaced groups included; what the update measured is of those that it saw. */
  private metrics(
    all: readonly Episode[],
    episodes: readonly Episode[],
    groups: readonly GroupStatistics[],
    advantages: Float64Array,
    update: PolicyUpdate,
    seconds: StepRecord['seconds'],
  ): Metrics {
    const { config, environment } = this.options
    return {
      ...rewardMetrics(all, groups, advantages, {
        name: environment.name,
        scale_rewards: config.grpo.scale_rewards,
        isSuccess: (reward) => environment.isSuccess(reward),
      }),
      ...byEnvironment(all),
      ...completionMetrics(all),
      ...environmentMetrics(all),
      ...updateMetrics(update.updates, config.grpo),
      ...mismatchMetrics(
        episodes.flatMap(({ mask, logprobs }, i) => {
          const train = update.trainLogprobs[i]
          return train ? [{ mask, sampler: logprobs, train }] : []
        }),
        config.grpo,
      ),
      num_tokens: this.tokens,
      step_time: seconds.sampling + seconds.training,
      ...throughputMetrics(all, episodes.filter((_, i) => update.trainLogprobs[i]), config.grpo.num_iterations, seconds),
    }
  }
}

function scored(episode: Episode, advantage: number, update: PolicyUpdate, position: number): ScoredEpisode {
  const plain = (values: Float64Array | null | undefined) => (values ? [...values] : null)
  const refLogprobs = plain(update.refLogprobs[position])
  const lastLogprobs = plain(update.lastLogprobs[position])
  return {
    ...episode,
    advantage,
    trainLogprobs: plain(update.trainLogprobs[position]),
    entropies: plain(update.entropies[position]),
    ...(refLogprobs && { refLogprobs }),
    ...(lastLogprobs && { lastLogprobs }),
  }
}

/** What each reward function gave, where there are several. */
function partsOf(episodes: readonly Episode[]) {
  if (!episodes.some(({ rewards }) => rewards)) return null
  return { rewards: episodes.map(({ reward, rewards, rewardless, success }) => ({ reward, parts: rewards ?? {}, ...(rewardless && success !== undefined && { success }) })) }
}
