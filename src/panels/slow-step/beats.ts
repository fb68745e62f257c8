/** The parts of the slow step, in order: how long each lasts, and which parts of the page it is about. */

import { DURATIONS } from '../../ui/durations'

export interface Beat {
  id: keyof typeof DURATIONS.slowStep
  ms: number
  /** Test ids of what stands out; the first is brought into view. */
  about: readonly string[]
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

const ORDER = ['prompt', 'episodes', 'rewards', 'advantages', 'tokens', 'formula', 'curve'] as const satisfies readonly Beat['id'][]

export const BEATS: readonly Beat[] = ORDER.map((id) => ({ id, ms: DURATIONS.slowStep[id], about: ABOUT[id] }))
