/**
 * From rewards to advantages: the "group relative" part of GRPO.
 *
 * Several attempts at the same task form a group. Nobody has to say how good a reward of 0.4 is; it is good if the
 * siblings did worse. So an attempt's advantage is its reward minus the group's mean, measured in standard deviations:
 *
 *     A_i = (R_i − mean(R of the group)) / (std + 1e-4)
 *
 * A group whose members all earned the same teaches nothing: every advantage is 0.
 */

import type { ScaleRewards } from '../core/config'
import { mean, present, standardDeviation, sum } from './statistics'

/** Added to the standard deviation, as TRL does, so that tiny spreads are not blown up without bound. */
export const ADVANTAGE_EPSILON = 1e-4

/** Spreads up to this are rounding noise, not a difference in reward (TRL's `isclose(std, 0)`). */
const NO_SPREAD = 1e-8

/** What a panel shows of one group. */
export interface GroupStatistics {
  group: number
  /** Mean reward of the scorable members; null if there are none. */
  mean: number | null
  /** Standard deviation (ddof 1) of the scorable members; null with fewer than two. */
  std: number | null
  /** Members without a reward. */
  unscorable: number
  /** Whether the rewards differ, so that the group can teach something. */
  signal: boolean
}

/**
 * Statistics per group.
 * @param rewards [groups × num_generations], group-major; null = unscorable
 * @param columns where each reward function is compared for itself (`normalize_then_sum`), its own rewards, each as `rewards`: there a
 *   group teaches something where any of them differs, also when the sums are equal
 * @throws RangeError when the rewards do not divide into groups
 */
export function groupStatistics(rewards: readonly (number | null)[], num_generations: number, columns: readonly (readonly (number | null)[])[] = [rewards]): GroupStatistics[] {
  const differs = (members: readonly (number | null)[]): boolean => (standardDeviation(members) ?? 0) > NO_SPREAD
  return splitIntoGroups(rewards, num_generations).map((members, group) => {
    const unscorable = members.filter((reward) => reward === null).length
    const own = columns.map((column) => column.slice(group * num_generations, (group + 1) * num_generations))
    return { group, mean: mean(members), std: standardDeviation(members), unscorable, signal: own.some(differs) }
  })
}

/**
 * Advantages, in the order of the rewards (TRL's `sum_then_normalize`; GRPO paper, arXiv 2402.03300, eq. 4).
 *
 * - 'group' divides by the group's own standard deviation,
 * - 'batch' by that of all rewards of the step (the mean stays the group's; "Lite PPO", arXiv 2508.08221),
 * - 'none' does not divide (Dr. GRPO, arXiv 2503.20783: the division favours tasks with little spread).
 *
 * Unscorable attempts are left out of every mean and deviation and get 0. Where the deviation is undefined (a single
 * scorable member) the advantage is 0 as well.
 *
 * @param rewards [groups × num_generations], group-major; null = unscorable
 * @returns [groups × num_generations]
 * @throws RangeError when the rewards do not divide into groups
 */
export function advantages(rewards: readonly (number | null)[], num_generations: number, scale_rewards: ScaleRewards): Float64Array {
  const groups = groupStatistics(rewards, num_generations)
  const batchStd = standardDeviation(rewards)
  return Float64Array.from(rewards, (reward, index) => {
    const group = groups[Math.floor(index / num_generations)]
    if (reward === null || !group || group.mean === null || group.std === null || !group.signal) return 0
    const centred = reward - group.mean
    if (scale_rewards === 'none') return centred
    return centred / ((scale_rewards === 'batch' ? (batchStd ?? 0) : group.std) + ADVANTAGE_EPSILON)
  })
}

/**
 * R_i = Σ_k w_k · r_{i,k} over the reward functions that gave a number; null where none did.
 * @param columns [functions][attempts]; null = this function has no opinion
 * @param weights [functions]
 */
export function weightedRewards(columns: readonly (readonly (number | null)[])[], weights: readonly number[]): (number | null)[] {
  const attempts = columns[0]?.length ?? 0
  return Array.from({ length: attempts }, (_, i) => {
    const given = columns.flatMap((column, k) => (column[i] === null || column[i] === undefined ? [] : [(weights[k] ?? 1) * column[i]]))
    return given.length === 0 ? null : sum(given)
  })
}

/**
 * Advantages where every reward function is measured in its own deviations first (TRL's `normalize_then_sum`; GDPO, arXiv 2601.05242):
 * each column becomes (r − mean of the group) / (std of the group + 1e-4), the columns are summed with their weights, and the sums of the
 * whole step are centred and divided by their own deviation. A function with a large spread then cannot drown the others.
 *
 * @param columns [functions][groups × num_generations], group-major; null = this function has no opinion
 * @throws RangeError when the rewards do not divide into groups
 */
export function advantagesByFunction(columns: readonly (readonly (number | null)[])[], weights: readonly number[], num_generations: number): Float64Array {
  const scaled = columns.map((column) =>
    splitIntoGroups(column, num_generations).flatMap((members) => {
      const [centre, std] = [mean(members), standardDeviation(members)]
      // One member's deviation is undefined, and so is its share.
      return members.map((reward) => {
        if (reward === null || centre === null || std === null) return null
        // Equal rewards may lie a bit beside their mean: the divisions would make a direction of that.
        return std > NO_SPREAD ? (reward - centre) / (std + ADVANTAGE_EPSILON) : 0
      })
    }),
  )
  const scorable = weightedRewards(columns, weights)
  const sums = scorable.map((reward, i) => (reward === null ? null : sum(present(scaled.map((column, k) => (column[i] === null || column[i] === undefined ? null : (weights[k] ?? 1) * column[i]))))))
  const [centre, std] = [mean(sums), standardDeviation(sums)]
  // The mean of all is 0 but for rounding, which is no reason to move where a group has no signal.
  const silent = splitIntoGroups(sums, num_generations).map((members) => members.every((value) => value === null || value === 0))
  return Float64Array.from(sums, (value, i) =>
    value === null || centre === null || std === null || silent[Math.floor(i / num_generations)] ? 0 : (value - centre) / (std + ADVANTAGE_EPSILON),
  )
}

function splitIntoGroups<T>(values: readonly T[], size: number): T[][] {
  if (!Number.isInteger(size) || size < 1 || values.length % size !== 0) {
    throw new RangeError(`${values.length} rewards do not divide into groups of ${size}`)
  }
  return Array.from({ length: values.length / size }, (_, group) => values.slice(group * size, (group + 1) * size))
}
