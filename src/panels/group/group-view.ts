/** The group in view: which episodes belong to it, and which of the step's groups it is. */

import type { EpisodeFilter } from '../../store/episode-faults'
import { type EpisodeView, type GroupStats, isDiscarded, type StepView } from '../../store/view'
import { S } from '../../ui/strings'

export interface GroupView {
  /** From 0. */
  group: number
  size: number
  /** [size]; null where the episode has not begun. */
  episodes: readonly (EpisodeView | null)[]
  firstIndex: number
  /** null before scoring. */
  stats: GroupStats | null
  /** Sampled again for want of a signal: it is in no update. */
  discarded: boolean
}

/** Episodes are ordered group-major, so the group of an index follows from the group's size. */
export function groupOf(step: StepView, index: number): GroupView {
  const size = Math.max(1, Math.round(step.episodeCount / Math.max(1, step.groupCount)))
  const group = Math.min(step.groupCount - 1, Math.max(0, Math.floor(index / size)))
  const firstIndex = group * size
  const episodes = Array.from({ length: size }, (_, i) => step.episodes.find((e) => e.index === firstIndex + i) ?? null)
  return { group, size, episodes, firstIndex, stats: step.groups?.find((g) => g.group === group) ?? null, discarded: isDiscarded(step, group) }
}

/** Mean over the scorable episodes that have ended; null for none. */
export function meanReward(episodes: readonly (EpisodeView | null)[]): number | null {
  const rewards = episodes.flatMap((e) => (e?.reward === null || e?.reward === undefined ? [] : [e.reward]))
  return rewards.length > 0 ? rewards.reduce((a, b) => a + b, 0) / rewards.length : null
}

type Episodes = Pick<GroupView, 'episodes'>

/** Whether only reward functions judge it. */
export const isRewardless = ({ episodes }: Episodes): boolean => episodes.some((episode) => episode?.rewardless)

/** Whether nothing answered the model: a prompt, one answer, no environment. */
export const isUnplayed = ({ episodes }: Episodes): boolean => isRewardless({ episodes }) && episodes.every((episode) => !episode?.answers.length)

/** What a filter keeps, in words that fit who judges this group. */
export const filterName = (filter: EpisodeFilter, group: Episodes): string => (isRewardless(group) ? S.group.functionFilters[filter] : undefined) ?? S.group.filters[filter]
