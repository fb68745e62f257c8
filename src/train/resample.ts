/**
 * Dynamic sampling (DAPO, arXiv 2503.14476): a group whose rewards are all equal teaches nothing, so another is sampled in its place, from
 * a seed that was not used yet, until every place holds a group with a signal or the cap is reached. What was replaced is kept to be seen.
 */

import type { GrpoConfig } from '../core/config'
import type { Episode } from '../core/episode'
import { groupsOf } from './scoring'

export interface Drawn {
  /** All that were sampled, by index: those of the first draw, then those of the groups that were added. */
  episodes: Episode[]
  /** Numbers of the groups that were replaced, rising. They are in no update. */
  discarded: number[]
  /** Groups that were sampled beyond the first draw. */
  resampled: number
}

export interface ResampleOptions extends Pick<GrpoConfig, 'num_generations' | 'multi_objective_aggregation' | 'reward_weights'> {
  /** Most groups beyond the first draw; 0 replaces none. */
  max_resampled_groups: number
}

/**
 * @param first the whole first draw, by index
 * @param sample draws `count` groups that are numbered from `firstGroup` on; `discarded`: all that will have been replaced by then
 */
export async function replaceSilent(
  first: readonly Episode[],
  { max_resampled_groups, ...grpo }: ResampleOptions,
  sample: (firstGroup: number, count: number, discarded: readonly number[]) => Promise<Episode[]>,
): Promise<Drawn> {
  const { num_generations } = grpo
  const episodes = [...first]
  const planned = Math.floor(first.length / num_generations)
  const discarded: number[] = []
  /** Numbers of groups without a signal that hold a place. */
  const silentFrom = (from: number): number[] =>
    groupsOf(episodes.slice(from * num_generations), grpo).flatMap(({ group, signal }) => (signal ? [] : [from + group]))
  let silent = silentFrom(0)
  let next = planned
  while (silent.length > 0 && next - planned < max_resampled_groups) {
    const replaced = silent.slice(0, max_resampled_groups - (next - planned))
    discarded.push(...replaced)
    discarded.sort((a, b) => a - b)
    const drawn = await sample(next, replaced.length, [...discarded])
    episodes.push(...drawn)
    silent = [...silent.slice(replaced.length), ...silentFrom(next)]
    next += replaced.length
  }
  return { episodes, discarded, resampled: next - planned }
}
