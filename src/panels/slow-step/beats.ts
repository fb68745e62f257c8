/** The parts of the slow step, in order: how long each lasts, and which parts of the page it is about. */

import { DURATIONS } from '../../ui/durations'

export interface Beat {
  id: keyof typeof DURATIONS.slowStep
  ms: number
  /** Test ids of what stands out; the first is brought into view. */
  about: readonly string[]
  /** Selector of what is brought into view in place of the first. */
  shows?: string
}

const ABOUT: { [K in Beat['id']]: readonly string[] } = {
  prompt: ['panel-task', 'panel-group'],
  episodes: ['panel-group'],
  rewards: ['panel-rewards', 'panel-group'],
  advantages: ['panel-rewards'],
  tokens: ['panel-group', 'panel-rewards', 'panel-trajectory'],
  formula: ['panel-update', 'panel-group'],
  curve: ['reward-curve', 'panel-curves'],
}

/** The sentence speaks of tokens, which are far below their panel's head. */
const SHOWS: { [K in Beat['id']]?: string } = { tokens: '[data-testid="panel-trajectory"] .message:has([data-mask="1"])' }

const ORDER = ['prompt', 'episodes', 'rewards', 'advantages', 'tokens', 'formula', 'curve'] as const satisfies readonly Beat['id'][]

export const BEATS: readonly Beat[] = ORDER.map((id) => ({ id, ms: DURATIONS.slowStep[id], about: ABOUT[id], ...(SHOWS[id] && { shows: SHOWS[id] }) }))
