/** From what an environment says to what is trained on: which field, which step, and what counts as solved. */

import type { DiscoveredEnvironment, RewardRule } from '../../core/discovered'
import type { ObservationFrame } from './protocol'

/**
 * A step's reward, or null where none was given, which is not 0: a field that is missing, null or not a number gives none.
 * `text` is what the model reads of the frame.
 */
export function rewardOf(found: Pick<DiscoveredEnvironment, 'reward' | 'quirks'>, frame: ObservationFrame, text: string): number | null {
  const { field } = found.reward
  const invalid = found.quirks.some((quirk) => quirk.kind === 'invalid-move' && new RegExp(quirk.pattern, 'i').test(text))
  if (invalid) return frame.reward === null ? null : 0
  if (field === undefined) return frame.reward
  const value = frame.observation[field]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** An episode's reward from its steps' by the environment's rule; null when no step gave one. */
export function sumUp({ take, floor }: RewardRule, rewards: readonly (number | null)[]): number | null {
  const given = rewards.filter((reward) => reward !== null)
  if (given.length === 0) return null
  const reward = take === 'last' ? (given.at(-1) as number) : given.reduce((sum, each) => sum + each, 0)
  return floor === undefined ? reward : Math.max(floor, reward)
}
