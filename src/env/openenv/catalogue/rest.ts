/** What an entry's own reader does not know of an observation, so that nothing that a server says is lost. */

import { isRecord } from '../../../core/records'
import { cutText } from '../../../core/text'
import { boardRows, boardText } from '../boards'
import type { ObservationFrame } from '../protocol'

/** Longest text of one further field, UTF-16 units. */
const LONGEST = 4000

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0) || (isRecord(value) && Object.keys(value).length === 0)

function fieldText(name: string, value: unknown): string {
  const rows = boardRows(value)
  if (rows !== null) return `${name}:\n${boardText(rows)}`
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `${name}: ${text.length > LONGEST ? `${cutText(text, LONGEST)}...` : text}`
}

/** The reader with every field that is neither empty nor among `known` after its text, a line or more each. Where it reads nothing, null. */
export function withRest(read: (frame: ObservationFrame) => string | null, known: readonly string[]): (frame: ObservationFrame) => string | null {
  return (frame) => {
    const text = read(frame)
    if (text === null) return null
    const more = Object.entries(frame.observation).filter(([name, value]) => !known.includes(name) && !isEmpty(value))
    return [text, ...more.map(([name, value]) => fieldText(name, value))].join('\n')
  }
}
