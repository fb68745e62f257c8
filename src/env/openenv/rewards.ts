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
  const invalid = found.quirks.some((quirk) => quirk.kind === 'invalid-move' && isSaidByServer(new RegExp(quirk.pattern, 'i'), text, said))
  if (invalid) return frame.reward === null ? null : 0
  if (field === undefined) return frame.reward
  const value = frame.observation[field]
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** Where a game tells what a player said: "[Player 0] …", to the end of the line. */
const PLAYER_LINE = /^[ \t]*\[player \d+\].*$/gim
/** Inside quotes, which an apostrophe within a word does not open. */
const QUOTED = /"[^"\n]*"|(?<!\w)'[^'\n]*'(?!\w)|‘[^’\n]*’|“[^”\n]*”|`[^`\n]*`/g
/** What stands before words that are repeated as they were said. */
const BEFORE_WORDS = '(?<=^|[\\[("\'‘“`:>]\\s?)'

/** Whether the server itself says so in `text`: not a player's line, and not the words of the action, which it may repeat. */
function isSaidByServer(pattern: RegExp, text: string, said: readonly string[]): boolean {
  const own = said.reduce((rest, words) => withoutWords(rest, words, pattern), text)
  return pattern.test(own.replace(PLAYER_LINE, ' '))
}

const plain = (text: string): string => text.trim().toLowerCase().replace(/\s+/g, ' ')

/**
 * The text without the first repetition of `words`, since the server repeats them before it judges them, and without quotes of a part of
 * them; the whole text where the words do not say what is looked for.
 */
function withoutWords(text: string, words: string, pattern: RegExp): string {
  const said = plain(words.replace(/^[\s[(]+|[\s\])]+$/g, ''))
  const found = pattern.exec(said)?.[0]
  if (found === undefined) return text
  const literal = said.split(' ').map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s+')
  // Nothing but what is looked for: as such it may also stand in a sentence of the server's.
  const echo = new RegExp(found === said ? `${BEFORE_WORDS}${literal}` : literal, 'im')
  return text.replace(echo, ' ').replace(QUOTED, (quote) => (said.includes(plain(quote.slice(1, -1))) ? ' ' : quote))
}

/** An episode's reward from its steps' by the environment's rule; null when no step gave one. */
export function sumUp({ take, floor }: RewardRule, rewards: readonly (number | null)[]): number | null {
  const given = rewards.filter((reward) => reward !== null)
  if (given.length === 0) return null
  const reward = take === 'last' ? (given.at(-1) as number) : given.reduce((sum, each) => sum + each, 0)
  return floor === undefined ? reward : Math.max(floor, reward)
}
