/** In words, with the numbers in place: how an episode's reward became its advantage, and why a group has no signal. */

import type { GrpoConfig } from '../../core/config'
import { ADVANTAGE_EPSILON } from '../../rl'
import type { Silence } from '../../store/signal'
import type { EpisodeView, GroupStats } from '../../store/view'
import { S } from '../../ui/strings'
import { isUnjudged, outcomeOf } from '../group/outcome'
import { rewardParts } from './axis'

export interface Scoring {
  stats: GroupStats | null
  scale: GrpoConfig['scale_rewards']
  /** Standard deviation of all rewards of the step. */
  batchStd: number | null
  /** multi_objective_aggregation is normalize_then_sum: there is no sum over the whole reward. */
  byFunction?: boolean
}

const { rewards: W } = S

/** What is to be said of one episode's reward and advantage. */
export function explainEpisode(episode: EpisodeView | null, scoring: Scoring): string[] {
  if (episode === null) return [W.pending]
  if (!episode.finished) return [episode.rewardless ? W.unjudged : W.writing]
  const { reward, advantage } = episode
  if (isUnjudged(episode)) return [W.unjudged]
  if (reward === null) return [W.unscorable(outcomeOf(episode).why), ...faultWords(episode)]
  const parts = rewardParts(episode)
  return [
    ...(episode.parts ? [W.functions(episode.parts, reward)] : standWords(episode)),
    ...(parts.length > 0 ? [W.turns(parts)] : []),
    ...faultWords(episode),
    ...(advantage === null ? [W.scored(reward)] : advantageWords(reward, advantage, scoring)),
  ]
}

function advantageWords(reward: number, advantage: number, scoring: Scoring): string[] {
  const sum = workedOut(reward, advantage, scoring)
  const meaning = W.meaning(advantage > 0 ? W.better : advantage < 0 ? W.worse : W.equal)
  return sum === null ? [meaning] : [sum, meaning]
}

/** '(1.00 − 0.625) ÷ (0.518 + 0.0001) = +0.724'; null where the advantage is 0 for want of a signal. */
export function workedOut(reward: number, advantage: number, { stats, scale, batchStd, byFunction = false }: Scoring): string | null {
  if (!stats?.signal || stats.mean === null || byFunction) return null
  const difference = W.minus(reward, stats.mean)
  if (scale === 'none') return W.sum(difference, advantage)
  const std = scale === 'batch' ? batchStd : stats.std
  return std === null ? null : W.sum(W.divided(difference, std, ADVANTAGE_EPSILON), advantage)
}

/** Whose word the reward is, where that is not plain. */
function standWords({ verdict, reward, exit }: EpisodeView): string[] {
  if (verdict === 'no_call') return [W.stands.no_call]
  if (verdict === 'budget') return [exit === 'turn_limit' ? W.stands.turns : W.stands.tokens]
  return verdict === 'said' && reward === 0 ? [W.stands.zero] : []
}

function faultWords({ parseErrors, toolErrors }: EpisodeView): string[] {
  return [...(parseErrors > 0 ? [`${S.group.parseErrors(parseErrors)}.`] : []), ...(toolErrors > 0 ? [`${S.group.toolErrors(toolErrors)}.`] : [])]
}

/** Why the group has no signal, and what that means for the gradient. */
export function explainSilence(silence: Silence, beta: number): string[] {
  const { kind } = silence
  const why = kind === 'none' ? W.silence.none : kind === 'one' ? W.silence.one(silence.reward) : W.silence.equal(silence.reward, silence.count)
  // Unscorable episodes are not trained on: the KL term reads only what has a reward.
  return [why, beta === 0 || kind === 'none' ? W.gradient : W.gradientKl(beta)]
}

/** Episodes of the group without a reward, and whether a class of the person's own played them. */
export interface LeftOut {
  count: number
  ownClass: boolean
}

/** What may help, the likeliest first; names the settings and what they are now. */
export function remedies(silence: Silence, { num_generations, temperature, prompts_per_step }: Pick<GrpoConfig, 'num_generations' | 'temperature' | 'prompts_per_step'>, left: LeftOut = { count: 0, ownClass: false }): string[] {
  const { remedy } = W
  if (left.count > 0 && left.ownClass) return [remedy.ownClass(left.count), ...remedies(silence, { num_generations, temperature, prompts_per_step })]
  const more = [remedy.num_generations(num_generations), remedy.temperature(temperature), remedy.prompts_per_step(prompts_per_step)]
  if (silence.kind !== 'equal') return [remedy.unscorable, ...more]
  if (silence.solved === null) return more
  return silence.solved ? [remedy.solved, ...more] : [...more, remedy.unsolved]
}
