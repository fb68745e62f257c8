/** Groups without a signal: why one has none, and how often that happened in the run. */

import type { StepSummary } from '../core/run-record'
import type { EpisodeView } from './view'

export type Silence =
  /** No episode of the group could be scored. */
  | { kind: 'none' }
  /** Only one could: there is nothing to compare it with. */
  | { kind: 'one'; reward: number }
  /** All rewards are equal; `solved`: all of the episodes were, none was, or null where nobody can tell. */
  | { kind: 'equal'; reward: number; count: number; solved: boolean | null }

/** Why a scored group whose statistics say that it has no signal has none. */
export function whySilent(episodes: readonly (Pick<EpisodeView, 'reward' | 'success'> | null)[]): Silence {
  const scorable = episodes.flatMap((e) => (e === null || e.reward === null ? [] : [{ reward: e.reward, success: e.success }]))
  const [first] = scorable
  if (!first) return { kind: 'none' }
  const { reward, success } = first
  if (scorable.length === 1) return { kind: 'one', reward }
  return { kind: 'equal', reward, count: scorable.length, solved: scorable.every((e) => e.success === success) ? success : null }
}

/** Steps over which groups are counted. */
const RECENT_STEPS = 20

export interface SilentGroups {
  silent: number
  groups: number
  /** Over so many steps. */
  steps: number
}

/** Groups without a signal in the last finished steps up to `step` (null: the newest). */
export function silentGroups(history: readonly StepSummary[], step: number | null): SilentGroups {
  const recent = history.filter((s) => step === null || s.step <= step).slice(-RECENT_STEPS)
  const groups = recent.flatMap((s) => s.groups)
  return { silent: groups.filter((group) => !group.signal).length, groups: groups.length, steps: recent.length }
}
