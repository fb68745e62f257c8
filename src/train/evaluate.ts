/** Success rate over fixed episodes, always the same ones, so that two adapters or two runs can be compared. */

import type { RunConfig } from '../core/config'
import type { Sampler } from '../core/engine'
import type { Environment } from '../core/environment'
import { UNSCORABLE_EXITS } from '../core/episode'
import { PlaygroundError } from '../core/errors'
import { evaluationSeed } from '../core/evaluation'
import type { Metrics, TrainEvent } from '../core/events'
import { evaluated, evaluationMetrics } from '../rl'
import type { ChatFormat } from '../rollout/chat'
import { rollout } from '../rollout/rollout'
import { assertNotStopped } from './guard'
import { besideOwn } from './logged'
import { type CallCustom, chosenBy, scoreEpisodes } from './scoring'
import { groupSeeds } from './seeds'
import { nobodySaid, unjudged, unrewarded } from './unjudged'

export interface EvaluationRequest {
  engine: Sampler
  /** Connected. */
  environment: Environment
  chat: ChatFormat
  config: RunConfig
  split: 'train' | 'heldout'
  /** One scenario each; of a dataset at most as many as it has rows. At least 256 for a rate that is good to about ±3 points. */
  episodes: number
  /** The likeliest token each time, instead of one that is drawn. */
  greedy?: boolean
  /** Finished steps, for reward functions that ask for them; 0 where absent. */
  step?: number
  /** Runs reward functions of the person's own; absent where there is no sandbox. */
  callCustom?: CallCustom
  /** Gets 'evaluation' progress and notices; the episodes themselves are not shown as training. */
  onEvent: (event: TrainEvent) => void
  gate?: () => Promise<void>
  signal?: AbortSignal
}

export interface Evaluation {
  /** Solved ÷ scorable episodes, 0..1. */
  success: number
  /** Mean reward of the scorable episodes. */
  reward: number
  episodes: number
  unscorable: number
  /** All that was measured, under TRL's names with eval_. */
  metrics: Metrics
}

/**
 * Plays `episodes` scenarios once each, sampled at temperature 1 (or greedy) with top-k, top-p and min-p off, batched over the engine's
 * slots, and scores them with the run's reward functions. Nothing is trained; scenarios and randomness depend on the split and the
 * episode's number alone.
 *
 * @throws PlaygroundError 'environment' when no episode can be scored, 'stopped' when the signal aborts
 */
export async function evaluate(request: EvaluationRequest): Promise<Evaluation> {
  const { engine, environment, chat, config, split, greedy = false, step = 0, callCustom, onEvent, gate, signal } = request
  const seed = evaluationSeed(split)
  const total = Math.min(request.episodes, rowsOf(environment, split))
  let done = 0
  onEvent({ type: 'evaluation', split, done, total })
  const episodes = await rollout({
    step: 0,
    groupSeeds: groupSeeds(seed, 0, total),
    num_generations: 1,
    // Of a dataset the first rows, each once.
    firstPrompt: 0,
    split,
    config: { ...config.grpo, seed, temperature: greedy ? 0 : 1, top_k: 0, top_p: 1, min_p: null },
    system_prompt: config.system_prompt,
    user_prompt: config.user_prompt,
    environment,
    sampler: engine,
    chat,
    onEvent: (event) => {
      if (event.type === 'episode-finished') onEvent({ type: 'evaluation', split, done: ++done, total })
      else if (event.type === 'notice') onEvent(event)
    },
    ...(gate ? { gate } : {}),
    ...(signal ? { signal } : {}),
  })
  assertNotStopped(signal, STOPPED)
  const scored = await scoreEpisodes(episodes, { grpo: config.grpo, environment: environment.name, chosen: chosenBy(request), step: step + 1, ...(callCustom && { callCustom }), ...(signal && { signal }) })
  assertNotStopped(signal, STOPPED)
  const own = evaluationMetrics(episodes, { name: environment.name, isSuccess: (reward) => environment.isSuccess(reward) })
  const logged = besideOwn(scored.means(), Object.fromEntries(Object.keys(own).map((name) => [name.replace(/^eval_/, ''), null])))
  const metrics = { ...own, ...evaluated(logged.metrics) }
  const { eval_success: success = null, eval_reward: reward = null } = metrics
  if (success === null || reward === null) {
    const error = episodes.find((episode) => episode.error !== null)?.error ?? (episodes[0] && unrewarded(episodes[0], environment)) ?? 'it gave no reward'
    if (episodes.every(({ rewardless, rewards, exit }) => (rewardless || rewards) && !UNSCORABLE_EXITS.includes(exit))) throw unjudged(episodes, `${total} evaluation episodes`)
    throw new PlaygroundError(
      'environment',
      `None of ${total} evaluation episodes in "${environment.name}" could be scored: ${error.replace(/\.$/, '')}.`,
      'Check that the environment is running, then evaluate again.',
    )
  }
  const unscorable = metrics['eval_environment/unscorable'] ?? 0
  if (unscorable > 0) {
    const why = episodes.find(({ reward, error }) => reward === null && error !== null)?.error ?? nobodySaid(episodes.find(({ reward }) => reward === null) ?? {}, environment)
    const text = `${unscorable} of ${total} evaluation episodes could not be scored (${why.replace(/\.$/, '')}): the rate is of the other ${total - unscorable}.`
    onEvent({ type: 'notice', level: 'warning', text })
  }
  return { success, reward, episodes: episodes.length, unscorable, metrics }
}

/** A row that is played again says nothing new, and would make the figures look surer than they are. Infinity where no rows are read. */
function rowsOf({ dataset }: Pick<Environment, 'dataset'>, split: EvaluationRequest['split']): number {
  if (!dataset) return Infinity
  return split === 'heldout' && dataset.heldOut > 0 ? dataset.heldOut : dataset.rows
}

/** What an evaluation that is ended says. */
export const STOPPED = 'The evaluation was stopped.'
