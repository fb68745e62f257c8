/** The catalogue of known environments, and how a server is recognised in it. */

import type { Tool } from '../../../core/tools'
import { CODE } from './code'
import { CONTROL } from './control'
import { NO_FACTS, type ActionFacts, type Entry } from './entry'
import { GAMES } from './games'
import { TALK } from './talk'
import { WEB } from './web'

export { NO_FACTS, type ActionFacts, type Choice, type Entry, type EntryTool } from './entry'

/** Every known environment. Where several fit, the first does. */
export const CATALOGUE: readonly Entry[] = [...GAMES, ...TALK, ...CODE, ...WEB, ...CONTROL]

/** The entry with this id, or null. */
export function entryOf(id: string | null): Entry | null {
  return CATALOGUE.find((entry) => entry.id === id) ?? null
}

/** The typed environment whose action these facts fit, or null. */
export function findTyped(facts: ActionFacts): Entry | null {
  const required = facts.required.join()
  const fits = (entry: Entry): boolean => {
    if (entry.family !== 'typed' || (entry.required === null && entry.suits === undefined)) return false
    const isMarked = entry.marks?.every((field) => facts.stateFields.includes(field)) ?? false
    if (contradicts(entry, facts) || (actsByItself(entry) && !isNamed(entry, facts) && !isMarked)) return false
    return (entry.required === null || entry.required === required) && (isMarked || (entry.suits?.(facts) ?? true))
  }
  return CATALOGUE.find(fits) ?? null
}

/** Words of a name, camel case and separators apart, long enough to mean something. */
const wordsOf = (name: string): string[] => name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase().split(/[^a-z0-9]+/).filter((word) => word.length >= 3 && word !== 'action')

/** Whether one word of the names begins as one of the entry's does. */
function isLike(entry: Entry, names: readonly string[]): boolean {
  const own = wordsOf(`${entry.id} ${entry.title}`)
  return names.some((word) => own.some((other) => word.slice(0, 3) === other.slice(0, 3)))
}

/** The schema's title speaks of something else. An entry for any server of its kind has no name of its own to contradict. */
function contradicts(entry: Entry, { title }: ActionFacts): boolean {
  const words = wordsOf(title)
  return entry.id !== 'message' && entry.actionTitle !== title && words.length > 0 && !isLike(entry, words)
}

/** The schema's title or the server's names speak of the entry. */
const isNamed = (entry: Entry, { title, names, game }: ActionFacts): boolean => isLike(entry, [...wordsOf(title), ...wordsOf(names), ...wordsOf(game)])

/** Making moves in somebody else's game needs more than a field that is called the same. */
const actsByItself = ({ quirks }: Entry): boolean => quirks.some(({ kind }) => kind === 'no-opponent')

/** The MCP environment that offers these tools, or null. `names` as in ActionFacts. */
export function findMcp(tools: readonly Tool[], names: string): Entry | null {
  const offered = tools.map((tool) => tool.function.name)
  const facts: ActionFacts = { ...NO_FACTS, names }
  const fits = (entry: Entry): boolean => {
    if (entry.family !== 'mcp') return false
    const { offers } = entry
    if (offers === undefined) return entry.suits?.(facts) ?? false
    return offers.every((name) => offered.includes(name)) && (entry.more !== false || offered.every((name) => isOwn(entry, name)))
  }
  return CATALOGUE.find(fits) ?? null
}

/** Echo's second tool is its own, too. */
const isOwn = (entry: Entry, name: string): boolean =>
  entry.offers?.includes(name) === true || (entry.id === 'echo' && name === 'echo_with_length')
