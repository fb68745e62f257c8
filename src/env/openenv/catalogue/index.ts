/** The catalogue of known environments, and how a server is recognised in it. */

import type { Tool } from '../../../core/tools'
import { CODE } from './code'
import { CONTROL } from './control'
import type { ActionFacts, Entry } from './entry'
import { GAMES } from './games'
import { isToldByState, recogniseMcp, recogniseTyped } from './recognise'
import { TALK } from './talk'
import { WEB } from './web'

export { JSON_TYPES, NO_FACTS, type ActionFacts, type Choice, type Entry, type EntryTool } from './entry'

/** Every known environment. Where several fit, the first does. */
export const CATALOGUE: readonly Entry[] = [...GAMES, ...TALK, ...CODE, ...WEB, ...CONTROL]

/** The entry with this id, or null. */
export function entryOf(id: string | null): Entry | null {
  return CATALOGUE.find((entry) => entry.id === id) ?? null
}

/** The typed environment that these facts prove, or null where none is sure. */
export function findTyped(facts: ActionFacts): Entry | null {
  return recogniseTyped(CATALOGUE, facts)?.entry ?? null
}

/** What proves that these facts are of the entry that they are taken for, in words. */
export function proofOf(facts: ActionFacts): string {
  return recogniseTyped(CATALOGUE, facts)?.proof ?? ''
}

/** Whether the server's state could tell which environment requires these fields (sorted, joined by commas). */
export function needsState(required: string): boolean {
  return isToldByState(CATALOGUE, required)
}

/** The MCP environment that offers these tools, or null. `names` as in ActionFacts. */
export function findMcp(tools: readonly Tool[], names: string): Entry | null {
  return recogniseMcp(CATALOGUE, tools, names)
}
