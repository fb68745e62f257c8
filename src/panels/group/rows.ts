/** Which episodes of the group in view are listed, and in which order: the same in the group and beside it in the rewards. */

import { useMemo } from 'react'
import { useDisplay, useTokens } from '../../store/hooks'
import { passes } from '../../store/episode-faults'
import { orderEpisodes } from '../../store/episode-order'
import type { EpisodeView, StepView } from '../../store/view'
import type { GroupView } from './group-view'

export interface Row {
  /** Place in the group, from 1. */
  place: number
  /** In the step. */
  index: number
  /** null where it has not begun. */
  episode: EpisodeView | null
}

export interface Rows {
  rows: readonly Row[]
  /** Why they do not stand in the order that was asked for: it comes with the rewards, or nothing is known to order by. */
  unordered: 'later' | 'unknown' | null
}

/** Rows do not move while the episodes are written: the order begins when the step is scored. */
export function useRows(step: StepView, group: GroupView): Rows {
  const order = useDisplay((d) => d.order)
  const only = useDisplay((d) => d.only)
  const tokens = useTokens()
  const { episodes, firstIndex } = group
  const scored = step.groups !== null
  // Stands for the episodes, which are a new array at each draw; the step's change whenever one of them does.
  const { episodes: ofStep, step: number, finished } = step
  return useMemo(() => {
    const asked = scored ? order : 'index'
    const { places, known } = orderEpisodes(episodes, asked, ({ index }) => tokens.read(number, index))
    const rows = places.map((place) => ({ place: place + 1, index: firstIndex + place, episode: episodes[place] ?? null }))
    return { rows: rows.filter(({ episode }) => passes(episode, only)), unordered: !known ? 'unknown' : asked === order ? null : 'later' }
  }, [ofStep, number, finished, firstIndex, scored, order, only, tokens])
}

/** Class of the list: many episodes stand closer, but never closer than a finger needs. */
export function rowsClass(size: number): string {
  return size <= 12 ? 'rows' : 'rows dense'
}
