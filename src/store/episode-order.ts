/** In which order the episodes of a group are listed: by index, by reward, by how surprised the model was, by how much the update moved them. */

import type { EpisodeOrder } from './display'
import type { LoggedToken } from './token-log'
import type { EpisodeView } from './view'

type Tokens = readonly Pick<LoggedToken, 'author' | 'mask' | 'logprob' | 'trainLogprob' | 'afterLogprob'>[]

/** Mean log-prob of what the model wrote, nats: the lower, the less likely was this episode; null where it wrote nothing. */
export function meanLogprob(tokens: Tokens): number | null {
  return mean(tokens.flatMap(({ author, logprob }) => (author === 'model' && logprob !== null ? [logprob] : [])))
}

/** Mean size of the change of a trained token's log-prob by the step's update, nats; null where it was not examined. */
export function meanChange(tokens: Tokens): number | null {
  return mean(
    tokens.flatMap(({ mask, trainLogprob, afterLogprob }) =>
      mask === 1 && trainLogprob !== null && afterLogprob !== undefined ? [Math.abs(afterLogprob - trainLogprob)] : [],
    ),
  )
}

/** Finite, so that two of them have a difference. */
const LAST = Number.MAX_VALUE

export interface Ordered {
  /** Places in the group, from 0. */
  places: number[]
  /** Whether anything is known to order by; else they stand by index. */
  known: boolean
}

/** Equal ones stand by index, those of which nothing is known at the end. */
export function orderEpisodes(episodes: readonly (EpisodeView | null)[], order: EpisodeOrder, tokensOf: (episode: EpisodeView) => Tokens): Ordered {
  const places = episodes.map((_, place) => place)
  if (order === 'index') return { places, known: true }
  const ranks = episodes.map((episode) => (episode === null ? null : rankOf(episode, order, tokensOf)))
  places.sort((a, b) => (ranks[a] ?? LAST) - (ranks[b] ?? LAST) || a - b)
  return { places, known: ranks.some((rank) => rank !== null) }
}

/** Lowest first; null where unknown. */
function rankOf(episode: EpisodeView, order: Exclude<EpisodeOrder, 'index'>, tokensOf: (episode: EpisodeView) => Tokens): number | null {
  switch (order) {
    case 'best':
      return negative(episode.reward)
    case 'worst':
      return episode.reward
    case 'surprising':
      return meanLogprob(tokensOf(episode))
    case 'changed':
      return negative(meanChange(tokensOf(episode)))
  }
}

const negative = (value: number | null) => (value === null ? null : -value)

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}
