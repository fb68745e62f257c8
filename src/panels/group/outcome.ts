/** How an episode stands: its mark, the word beside the mark, and why. */

import type { EpisodeView } from '../../store/view'
import { EXITS, S } from '../../ui/strings'

export interface Outcome {
  kind: 'success' | 'failure' | 'budget' | 'done' | 'unscorable' | 'unreadable' | 'writing' | 'waiting'
  mark: string
  word: string
  /** A sentence for the tooltip. */
  why: string
}

/** Never only a colour: every kind has its own mark and word. */
export function outcomeOf(episode: Pick<EpisodeView, 'finished' | 'waitingSince' | 'error' | 'exit' | 'reward' | 'success'> & Partial<Pick<EpisodeView, 'verdict' | 'rewardless'>>): Outcome {
  if (!episode.finished) {
    return episode.waitingSince === null
      ? { kind: 'writing', mark: '…', word: S.group.writing, why: S.group.writing }
      : { kind: 'waiting', mark: '◌', word: S.group.waiting, why: S.group.waiting }
  }
  const why = episode.error ?? exitWords(episode)
  if (episode.exit === 'stopped') return { kind: 'unscorable', mark: '◻', word: S.group.stopped, why }
  if (episode.exit === 'env_unreadable') return { kind: 'unreadable', mark: '⊘', word: S.group.unreadable, why }
  if (episode.exit === 'env_error') return { kind: 'unscorable', mark: '◻', word: S.group.failed, why }
  if (isUnjudged(episode)) return { kind: 'done', mark: '·', word: S.group.unjudged, why }
  if (episode.reward === null) return { kind: 'unscorable', mark: '◻', word: S.group.unscorable, why }
  // What the environment judged so far is not its verdict: the model ran out of turns or tokens first.
  const limit = episode.exit === 'turn_limit' ? S.group.outOfTurns : episode.exit === 'token_limit' ? S.group.outOfTokens : null
  if (limit !== null && episode.success !== true) return { kind: 'budget', mark: '⊣', word: limit, why }
  if (episode.success === null) return { kind: 'done', mark: '·', word: S.group.done, why }
  return episode.success
    ? { kind: 'success', mark: '✓', word: S.group.success, why }
    : { kind: 'failure', mark: '✗', word: S.group.failure, why }
}

/** It has ended, and the reward functions that alone judge it are asked with the rest of the step. */
export function isUnjudged({ finished, reward, rewardless, verdict }: Pick<EpisodeView, 'finished' | 'reward'> & Partial<Pick<EpisodeView, 'verdict' | 'rewardless'>>): boolean {
  return finished && rewardless === true && verdict === null && reward === null
}

/** Why it ended, in words; '' while it is written. */
export function exitWords({ exit, rewardless }: Pick<EpisodeView, 'exit'> & Partial<Pick<EpisodeView, 'rewardless'>>): string {
  if (exit === null) return ''
  return rewardless && exit === 'answered' ? S.group.answered : EXITS[exit]
}
