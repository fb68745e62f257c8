/** A step's batch: its groups are played, scored and compared, which is all that an update needs to know. */

import type { Episode } from '../core/episode'
import type { Metrics, StepRecord } from '../core/events'
import type { PauseGate } from '../core/sleep'
import type { Lanes } from '../rollout/lanes'
import { rollout } from '../rollout/rollout'
import type { Rest } from '../rollout/types'
import { assertComparable } from './guard'
import type { GrpoTrainerOptions } from './grpo'
import { Logged } from './logged'
import { assertRewarded, sampleThroughOutages, type Wait } from './outage'
import { replaceSilent } from './resample'
import { advantagesOf, chosenBy, groupsOf, scoreEpisodes } from './scoring'
import { groupSeeds } from './seeds'

export interface Batch {
  step: number
  /** All that were played, by index, replaced groups included. */
  all: Episode[]
  /** Those that the update sees, and their advantages. */
  episodes: Episode[]
  advantages: Float64Array
  groups: StepRecord['groups']
  /** Groups that were sampled in place of others. */
  resampled: number
  /** What reward functions logged, of all that were played. */
  logged: Metrics
  /** The engine's version that sampled it. */
  version: number
}

/** What goes on around the drawing of a batch. */
export interface Around {
  lanes: Lanes
  /** Awaited between decode ticks. */
  gate: PauseGate
  signal?: AbortSignal
  /** Another uses the engine, too, and the step before is not over. */
  rest?: Rest
  wait: Wait
}

/** Place of an episode among those that the update sees; −1 for one that was replaced. */
export function placesOf({ episodes }: Pick<Batch, 'episodes'>): (episode: Episode) => number {
  const places = new Map(episodes.map((episode, place) => [episode, place]))
  return (episode) => places.get(episode) ?? -1
}

/** Those that were replaced stand with 0 where the outside numbers all that were played. */
export function advantageIn(batch: Pick<Batch, 'episodes' | 'advantages'>): (episode: Episode) => number {
  const place = placesOf(batch)
  return (episode) => batch.advantages[place(episode)] ?? 0
}

/**
 * Draws the batch of a step through outages of the environment; with dynamic sampling, with other groups in place of those without a signal.
 * Emits 'step-started', the rollout's events and 'scored'.
 *
 * @throws PlaygroundError 'stopped' when the signal aborts, 'environment' and what sampling throws
 */
export async function drawBatch(options: GrpoTrainerOptions, step: number, around: Around): Promise<Batch> {
  const { config, engine, environment, onEvent } = options
  const { grpo } = config
  const { lanes, gate, signal, rest, wait } = around
  const { version } = engine
  const logged = new Logged()
  let attempted = logged
  const attempt = async (firstGroup: number, count: number, discarded: readonly number[] | null): Promise<Episode[]> => {
    const episodes = await sample(options, step, { firstGroup, count, discarded }, around)
    const scoring = score(options, episodes, step, signal)
    attempted = await (rest ? rest(scoring) : scoring)
    return episodes
  }
  const resamples = grpo.dynamic_sampling && grpo.max_resampled_groups > 0
  const through = async (firstGroup: number, count: number, discarded: readonly number[] | null): Promise<Episode[]> => {
    const episodes = await sampleThroughOutages(() => attempt(firstGroup, count, discarded), {
      step,
      environment,
      // Whom no reward function judges are groups without a signal, like others.
      mayLack: discarded ? 'any' : resamples ? 'opinions' : 'none',
      onEvent,
      wait: (...waiting) => {
        for (let slot = 0; slot < engine.slots; slot++) lanes.begin(slot, 'waiting', -1, -1)
        const over = wait(...waiting)
        return rest ? rest(over) : over
      },
      gate,
      ...(signal ? { signal } : {}),
    })
    // Of the attempt that counts.
    logged.join(attempted)
    return episodes
  }
  const first = await through(0, grpo.prompts_per_step, null)
  const drawn = await replaceSilent(first, { ...grpo, max_resampled_groups: resamples ? grpo.max_resampled_groups : 0 }, through)
  lanes.endAll()
  lanes.report(true)

  const { episodes: all, discarded, resampled } = drawn
  assertRewarded(all, { step, environment })
  const episodes = all.filter(({ group }) => !discarded.includes(group))
  const groups = groupsOf(all, grpo).map((group): StepRecord['groups'][number] => (discarded.includes(group.group) ? { ...group, discarded: true } : group))
  const advantages = advantagesOf(episodes, grpo)
  assertComparable(episodes.map((episode) => episode.reward), advantages, environment.name)
  const batch: Batch = { step, all, episodes, advantages, groups, resampled, logged: logged.means(), version }
  onEvent({ type: 'scored', step, advantages: all.map(advantageIn(batch)), groups, ...(rest && { ahead: true }), ...partsOf(all) })
  return batch
}

function score(options: GrpoTrainerOptions, episodes: Episode[], step: number, signal: AbortSignal | undefined): Promise<Logged> {
  const { config, environment, callCustom, onEvent } = options
  const onRemark = (text: string): void => onEvent({ type: 'notice', level: 'warning', text })
  return scoreEpisodes(episodes, { grpo: config.grpo, environment: environment.name, chosen: chosenBy(options), step, onRemark, ...(callCustom && { callCustom }), ...(signal && { signal }) })
}

/** Groups from `firstGroup` on; `discarded` are those that they replace, null for the first draw. */
function sample(
  options: GrpoTrainerOptions,
  step: number,
  { firstGroup, count, discarded }: { firstGroup: number; count: number; discarded: readonly number[] | null },
  { lanes, gate, signal, rest }: Around,
): Promise<Episode[]> {
  const { config, engine, environment, chat, onEvent } = options
  const { grpo, system_prompt, user_prompt } = config
  const size = { groups: firstGroup + count, episodes: (firstGroup + count) * grpo.num_generations }
  onEvent(discarded ? { type: 'resampled', step, ...size, discarded: [...discarded] } : { type: 'step-started', step, ...size })
  return (options.rollout ?? rollout)({
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
    ...(rest ? { rest } : {}),
  })
}

/** What each reward function gave, where there are several. */
function partsOf(episodes: readonly Episode[]) {
  if (!episodes.some(({ rewards }) => rewards)) return null
  return { rewards: episodes.map(({ reward, rewards, rewardless, success }) => ({ reward, parts: rewards ?? {}, ...(rewardless && success !== undefined && { success }) })) }
}
