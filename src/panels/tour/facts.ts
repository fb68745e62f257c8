/** The numbers of the page that the tour speaks of: of the step, the group and the episode that are in view, recorded or live. */

import type { TokenLog } from '../../store/token-log'
import { findStep, type RunView } from '../../store/view'
import { groupOf } from '../group/group-view'

export interface TourFacts {
  prompt: string
  tools: readonly string[]
  /** Of the selected episode; null before it has begun. */
  episode: { total: number; promptLength: number; trained: number } | null
  /** Of the group in view. */
  group: {
    size: number
    /** Episodes with a reward, and those that solved it; null where nobody can tell. */
    rewards: readonly number[]
    solved: number | null
    /** In order; null before the step was scored. */
    advantages: readonly number[] | null
  } | null
  /** Mean reward of every finished step that has one. */
  rewards: readonly number[]
}

interface Page {
  view: RunView
  tokens: TokenLog
  selection: { step: number | null; episode: number }
  /** The system prompt in the controls. */
  prompt: string
}

/** Reads the page. */
export function tourFacts({ view, tokens, selection, prompt }: Page): TourFacts {
  const step = findStep(view, selection.step)
  const episode = step?.episodes.find(({ index }) => index === selection.episode) ?? null
  const log = episode ? tokens.read(episode.step, episode.index) : []
  const group = step ? groupOf(step, selection.episode) : null
  const members = group?.episodes.flatMap((each) => each ?? []) ?? []
  const ended = members.filter(({ finished }) => finished)
  const scored = members.flatMap(({ advantage }) => advantage ?? [])
  return {
    prompt,
    tools: view.environment?.tools.map((tool) => tool.function.name) ?? [],
    episode: episode && { total: log.length, promptLength: episode.promptLength, trained: log.filter(({ mask }) => mask === 1).length },
    group: group && {
      size: group.size,
      rewards: ended.flatMap(({ reward }) => reward ?? []),
      solved: ended.length === group.size && ended.every(({ success }) => success !== null) ? ended.filter(({ success }) => success).length : null,
      advantages: scored.length === group.size ? scored : null,
    },
    rewards: view.history.flatMap(({ metrics }) => metrics['reward'] ?? []),
  }
}
