/** What can have gone otherwise than asked in an episode, each kind by itself: what the model did, what the environment said, and what broke are never one number. */

import type { EpisodeView } from './view'

export const FAULTS = ['zero', 'no_call', 'parse', 'tool', 'budget', 'silent', 'failed', 'unreadable', 'stopped'] as const
/**
 * 'zero': the environment itself said 0. 'no_call': 0 because the model got no call into it. 'parse': a tool call of the model that could not be
 * parsed. 'tool': a call that was answered with an error. 'budget': turns or tokens ran out. 'silent': the environment gave no reward.
 * 'failed': the environment failed. 'unreadable': it answered, and we could not read it. 'stopped': by a person.
 */
export type Fault = (typeof FAULTS)[number]

export const EPISODE_FILTERS = ['all', ...FAULTS] as const
export type EpisodeFilter = (typeof EPISODE_FILTERS)[number]

type Judged = Pick<EpisodeView, 'verdict' | 'reward' | 'parseErrors' | 'toolErrors'>

const CHECKS: { [K in Fault]: (episode: Judged) => boolean } = {
  zero: ({ verdict, reward }) => verdict === 'said' && reward === 0,
  no_call: ({ verdict }) => verdict === 'no_call',
  parse: ({ parseErrors }) => parseErrors > 0,
  tool: ({ toolErrors }) => toolErrors > 0,
  budget: ({ verdict }) => verdict === 'budget',
  silent: ({ verdict }) => verdict === 'env_silent',
  failed: ({ verdict }) => verdict === 'env_failed',
  unreadable: ({ verdict }) => verdict === 'unreadable',
  stopped: ({ verdict }) => verdict === 'stopped',
}

/** Whether a filter keeps an episode. One that has not begun or not ended has no fault yet. */
export function passes(episode: Judged | null, filter: EpisodeFilter): boolean {
  return filter === 'all' || (episode !== null && CHECKS[filter](episode))
}

/** How many episodes each filter keeps; an episode may count in several. */
export function countFaults(episodes: readonly (Judged | null)[]): Record<EpisodeFilter, number> {
  const counts = EPISODE_FILTERS.map((filter) => [filter, episodes.filter((episode) => passes(episode, filter)).length])
  return Object.fromEntries(counts) as Record<EpisodeFilter, number>
}
