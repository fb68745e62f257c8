/** Rows out of a text: JSONL, or one JSON list. What cannot be read is told with its place, and the other rows stay. */

import { isRecord } from './records'

export interface PlacedRow {
  /** "line 3" or "row 3", from 1. */
  place: string
  row: Record<string, unknown>
}

/** Why a row is not used: where, which field ('' for the whole row), what is wrong, what to do. */
export interface RowProblem {
  place: string
  field: string
  problem: string
  advice: string
}

/** The problem as a person reads it. */
export function problemSentence({ place, field, problem, advice }: RowProblem): string {
  return `${place.charAt(0).toUpperCase()}${place.slice(1)}${field === '' ? '' : `, ${field}`}: ${problem}. ${advice}`
}

export interface ReadRows {
  rows: PlacedRow[]
  problems: RowProblem[]
}

/** More than this is not trained in a browser: the rest is told and left out. */
export const MOST_ROWS = 20_000

/** Reads pasted text or a text file. Never throws. */
export function readRows(text: string): ReadRows {
  const clean = text.replace(/^\uFEFF/, '')
  const read = clean.trimStart().startsWith('[') ? listRows(clean) : lineRows(clean)
  return limited(read)
}

/** At most so many of them, and a sentence where there were more. */
export function limited({ rows, problems }: ReadRows, most = MOST_ROWS): ReadRows {
  const over = rows[most]
  if (!over) return { rows, problems }
  const problem = `The data has ${rows.length} rows; from here on they are left out`
  return {
    rows: rows.slice(0, most),
    problems: [...problems, { place: over.place, field: '', problem, advice: `Give at most ${most} rows.` }],
  }
}

function lineRows(text: string): ReadRows {
  const rows: PlacedRow[] = []
  const problems: RowProblem[] = []
  text.split(/\r?\n/).forEach((line, i) => {
    if (line.trim() === '') return
    const place = `line ${i + 1}`
    const value = parsed(line)
    if (value instanceof Error) problems.push({ place, field: '', problem: `This is not JSON (${value.message})`, advice: 'Write one JSON object a line.' })
    else take(value, place, rows, problems)
  })
  return { rows, problems }
}

function listRows(text: string): ReadRows {
  const rows: PlacedRow[] = []
  const problems: RowProblem[] = []
  const value = parsed(text)
  if (value instanceof Error || !Array.isArray(value)) {
    const why = value instanceof Error ? value.message : 'it is no list'
    problems.push({ place: 'line 1', field: '', problem: `It begins like a JSON list and is none (${why})`, advice: 'Write one JSON object a line, or one whole list.' })
    return { rows, problems }
  }
  value.forEach((each: unknown, i) => take(each, `row ${i + 1}`, rows, problems))
  return { rows, problems }
}

function take(value: unknown, place: string, rows: PlacedRow[], problems: RowProblem[]): void {
  if (isRecord(value)) rows.push({ place, row: value })
  else problems.push({ place, field: '', problem: `This is ${Array.isArray(value) ? 'a list' : JSON.stringify(value)}, not an object`, advice: 'Write one JSON object a line.' })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
