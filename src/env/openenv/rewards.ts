/** From what an environment says to what is trained on: which field, which step, and what counts as solved. */

import type { DiscoveredEnvironment, RewardRule } from '../../core/discovered'
import type { ObservationFrame } from './protocol'

/**
 * A step's reward, or null where none was given, which is not 0: a field that is missing, null or neither a number nor a boolean (which
 * counts as 0 or 1, as in the envelope) gives none. `text` is what the model reads of the frame, `said` the words that it had sent.
 */
export function rewardOf(
  found: Pick<DiscoveredEnvironment, 'reward' | 'quirks'>,
  frame: ObservationFrame,
  text: string,
  said: readonly string[],
): number | null {
  const { field } = found.reward
  const invalid = found.quirks.some((quirk) => quirk.kind === 'invalid-move' && isSaidByServer(quirk.pattern, text, said))
  if (invalid) return frame.reward === null ? null : 0
  if (field === undefined) return frame.reward
  const value = frame.observation[field]
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** A step's rubric_reward, which rubrics of OpenEnv put into the observation or its metadata; null where there is none. */
export function rubricOf({ observation, metadata }: Pick<ObservationFrame, 'observation' | 'metadata'>): number | null {
  const value = observation['rubric_reward'] ?? metadata['rubric_reward']
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** Where a game tells what a player said: "[Player 0] …", to the end of the line. */
const PLAYER_LINE = /^[ \t]*\[player \d+\].*$/gim
/** What stands before an action that is repeated as it was sent. */
const BEFORE_WORDS = '(?<=\\[player \\d+\\][\\s[(]*)'

/**
 * Whether the server itself says in `text` that the move just made was such: TextArena's sentence, "You attempted an …" at the beginning of a
 * line, after what the players said last. Rules, negations, quotes and what was said before another move are no verdict on this one.
 */
function isSaidByServer(pattern: string, text: string, said: readonly string[]): boolean {
  const own = said.reduce(withoutWords, text)
  const last = [...own.matchAll(PLAYER_LINE)].at(-1)
  const verdict = new RegExp(`^[ \\t]*(?:\\[game\\][ \\t]*)?(?:you|player \\d+) attempted an? (?:${pattern})\\b`, 'im')
  return verdict.test(last === undefined ? own : own.slice(last.index + last[0].length))
}

/** The text without what was sent, wherever it is repeated as the player's: its lines could look like the server's. */
function withoutWords(text: string, words: string): string {
  const literal = words.replace(/^[\s[(]+|[\s\])]+$/g, '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+')
  return literal === '' ? text : text.replace(new RegExp(`${BEFORE_WORDS}${literal}`, 'gi'), ' ')
}

/** An episode's reward from its steps' by the environment's rule; null when no step gave one. */
export function sumUp({ take, floor }: RewardRule, rewards: readonly (number | null)[]): number | null {
  const given = rewards.filter((reward) => reward !== null)
  if (given.length === 0) return null
  const reward = take === 'last' ? (given.at(-1) as number) : given.reduce((sum, each) => sum + each, 0)
  return floor === undefined ? reward : Math.max(floor, reward)
}
