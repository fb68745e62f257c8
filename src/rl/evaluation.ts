/** What is worth a curve of episodes that are played to be measured and not to be trained on; TRL's names with `eval_` before them. */

import type { Episode } from '../core/episode'
import type { Metrics } from '../core/events'
import { byEnvironment, completionMetrics, environmentMetrics, rewardMetrics } from './metrics'

/** What only groups have: each scenario of an evaluation is played once. */
const OF_GROUPS = ['frac_reward_zero_std', 'groups/useful', 'completions/effective']

/** eval_reward, eval_reward_std, eval_rewards/{name}/mean, eval_success, eval_completions/…, eval_tools/… over scored episodes, as in training. */
export function evaluationMetrics(episodes: readonly Episode[], options: { name: string; isSuccess: (reward: number) => boolean }): Metrics {
  const metrics = {
    ...rewardMetrics(episodes, [], [], { ...options, scale_rewards: 'batch' }),
    ...completionMetrics(episodes),
    ...environmentMetrics(episodes),
    ...byEnvironment(episodes),
  }
  return evaluated(Object.fromEntries(Object.entries(metrics).filter(([name]) => !OF_GROUPS.includes(name))))
}

/** Metrics under the names that the Trainer gives them in an evaluation. */
export function evaluated(metrics: Metrics): Metrics {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [`eval_${name}`, value]))
}
