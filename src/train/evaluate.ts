/** Success rate over fixed episodes, always the same ones, so that two adapters or two runs can be compared. */

import type { RunConfig } from '../core/config'
import type { Sampler } from '../core/engine'
import type { Environment } from '../core/environment'
import { PlaygroundError } from '../core/errors'
import type { TrainEvent } from '../core/events'
import { hash } from '../core/random'
import { mean } from '../rl/statistics'
import type { ChatFormat } from '../rollout/chat'
import { rollout } from '../rollout/rollout'
import { assertNotStopped } from './guard'
import { groupSeeds } from './seeds'

/** Seeds scenarios and sampling of every evaluation, whatever the run's own seed. */
export const EVALUATION_SEED = 20_240_611

export interface EvaluationRequest {
  engine: Sampler
  /** Connected. */
  environment: Environment
  chat: ChatFormat
  config: RunConfig
  split: 'train' | 'heldout'
  /** One scenario each. At least 256 for a rate that is good to about ±3 points. */
  episodes: number
  /** The likeliest token each time, instead of one that is drawn. */
  greedy?: boolean
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
}

/**
 * Plays `episodes` scenarios once each, sampled at temperature 1 (or greedy) with top-k, top-p and min-p off, batched over the engine's
 * slots. Nothing is trained; scenarios and randomness depend on the split and the episode's number alone.
 *
 * @throws PlaygroundError 'environment' when no episode can be scored, 'stopped' when the signal aborts
 */
export async function evaluate(request: EvaluationRequest): Promise<Evaluation> {
  const { engine, environment, chat, config, split, episodes: total, greedy = false, onEvent, gate, signal } = request
  const seed = hash(EVALUATION_SEED, split === 'train' ? 0 : 1)
  let done = 0
  onEvent({ type: 'evaluation', split, done, total })
  const episodes = await rollout({
    step: 0,
    groupSeeds: groupSeeds(seed, 0, total),
    num_generations: 1,
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
  assertNotStopped(signal, 'The evaluation was stopped.')
  const rewards = episodes.flatMap(({ reward }) => (reward === null ? [] : [reward]))
  const success = mean(rewards.map((reward) => (environment.isSuccess(reward) ? 1 : 0)))
  const reward = mean(rewards)
  if (success === null || reward === null) {
    const error = episodes.find((episode) => episode.error !== null)?.error ?? 'it gave no reward'
    throw new PlaygroundError(
      'environment',
      `None of ${total} evaluation episodes in "${environment.name}" could be scored: ${error.replace(/\.$/, '')}.`,
      'Check that the environment is running, then evaluate again.',
    )
  }
  const unscorable = episodes.length - rewards.length
  if (unscorable > 0) {
    const why = episodes.find(({ reward, error }) => reward === null && error !== null)?.error ?? 'the environment gave no reward'
    const text = `${unscorable} of ${total} evaluation episodes could not be scored (${why.replace(/\.$/, '')}): the rate is of the other ${rewards.length}.`
    onEvent({ type: 'notice', level: 'warning', text })
  }
  return { success, reward, episodes: episodes.length, unscorable }
}
