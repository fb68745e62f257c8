/** Whether a server is a known environment: an entry needs proof, and whatever contradicts it refuses it. */

import type { Tool } from '../../../core/tools'
import { JSON_TYPES, NO_FACTS, type ActionFacts, type Entry, type FieldKind } from './entry'
import { isCalled } from './names'

/** Whether the entry stands for any server of its kind: it has nothing of its own that would have to be proved. */
const isGeneric = ({ id }: Entry): boolean => id === 'message'

/** Fields that the entry's tools send, and those that its fields' kinds speak of. */
const sentBy = (entry: Entry): string[] => [...new Set(entry.tools.flatMap(({ fields, then }) => [...Object.keys(fields), ...Object.keys(then?.action ?? {})]))]

function fieldFits({ type, exactly, among }: FieldKind, facts: ActionFacts, field: string): boolean {
  const told = facts.choices[field]
  if (told !== undefined) {
    if (exactly !== undefined) return exactly.length === told.length && exactly.every((value) => told.includes(value))
    return among?.every((value) => told.includes(value)) ?? false
  }
  const toldType = JSON_TYPES[facts.types[field] ?? '']
  return toldType === undefined || toldType === type
}

/** What the server told cannot be said of the entry: its action is called otherwise, or has other fields, types or values. */
function contradicts(entry: Entry, facts: ActionFacts): boolean {
  const { fields, absent, title } = facts
  if (title !== '' && !isGeneric(entry) && entry.titles?.includes(title) !== true) return true
  if (Object.entries(entry.action ?? {}).some(([field, kind]) => !fieldFits(kind, facts, field))) return true
  return sentBy(entry).some((field) => absent.includes(field) || (fields !== null && !Object.hasOwn(fields, field)))
}

/** What speaks for the entry besides its fields, in words; null when nothing does. */
function proof(entry: Entry, { title, stateFields, names }: ActionFacts): string | null {
  if (isGeneric(entry)) return 'the field message'
  // A title that is none of the entry's is a contradiction.
  if (title !== '') return `the title of its schema, ${title}`
  const { marks = [] } = entry
  if (marks.length > 0 && stateFields.length > 0) {
    return marks.every((field) => stateFields.includes(field)) ? `the fields of its state (${marks.join(', ')})` : null
  }
  if (entry.called !== undefined && isCalled(names, entry.called)) return 'its name'
  return entry.isRare === true ? `its field ${entry.required ?? ''}` : null
}

/** The typed environment that these facts prove, and what proves it; null when none is sure. */
export function recogniseTyped(entries: readonly Entry[], facts: ActionFacts): { entry: Entry; proof: string } | null {
  const required = facts.required.join()
  for (const entry of entries) {
    if (entry.family !== 'typed' || entry.required === null || ![entry.required, ...(entry.alsoRequired ?? [])].includes(required)) continue
    if (contradicts(entry, facts) || entry.suits?.(facts) === false) continue
    const found = proof(entry, facts)
    if (found !== null) return { entry, proof: found }
  }
  return null
}

/** Whether the state could tell which environment requires these fields. */
export function isToldByState(entries: readonly Entry[], required: string): boolean {
  return entries.some((entry) => entry.marks !== undefined && [entry.required, ...(entry.alsoRequired ?? [])].includes(required))
}

/** The MCP environment that offers these tools, or null. `names` as in ActionFacts. */
export function recogniseMcp(entries: readonly Entry[], tools: readonly Tool[], names: string): Entry | null {
  const offered = tools.map((tool) => tool.function.name)
  const fits = (entry: Entry): boolean => {
    if (entry.family !== 'mcp') return false
    const { offers } = entry
    if (offers === undefined) return entry.suits?.({ ...NO_FACTS, names }) ?? false
    return offers.every((name) => offered.includes(name)) && (entry.more !== false || offered.every((name) => isOwn(entry, name)))
  }
  return entries.find(fits) ?? null
}

/** Echo's second tool is its own, too. */
const isOwn = (entry: Entry, name: string): boolean =>
  entry.offers?.includes(name) === true || (entry.id === 'echo' && name === 'echo_with_length')
