/** Boards: lists of rows, or a flat list with its width and height, as lines of text and as cells that a panel can draw. */

import type { Fields } from './fields'

/** Larger ones are no boards that a model could read. */
const LONGEST_SIDE = 40

export interface Board {
  /** The observation's field. */
  name: string
  /** [rows][columns] */
  cells: string[][]
}

const isCell = (value: unknown) => ['number', 'string', 'boolean'].includes(typeof value)
const isSide = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value > 0
const BOARD_NAME = /(board|grid|map|cells|maze)/i

/** The rows of a board, or null when the value is none: at least 2×2 short cells, all rows of one length. */
export function boardRows(value: unknown): string[][] | null {
  if (!Array.isArray(value) || value.length < 2 || value.length > LONGEST_SIDE) return null
  const width = Array.isArray(value[0]) ? value[0].length : 0
  if (width < 2 || width > LONGEST_SIDE) return null
  const rows = value as unknown[]
  if (!rows.every((row) => Array.isArray(row) && row.length === width && row.every(isCell))) return null
  const cells = (rows as unknown[][]).map((row) => row.map(String))
  return cells.every((row) => row.every((cell) => cell.length <= 6)) ? cells : null
}

/** A flat list cut into rows, or null when it does not have width × height cells. */
export function foldRows(list: unknown, width: unknown, height: unknown): string[][] | null {
  if (!Array.isArray(list) || !isSide(width) || !isSide(height) || list.length !== width * height) return null
  return boardRows(Array.from({ length: height }, (_, row) => list.slice(row * width, (row + 1) * width) as unknown[]))
}

/** One line a row; cells of several characters are padded, so that columns stay columns. */
export function boardText(cells: readonly (readonly string[])[], symbols: Readonly<Record<string, string>> = {}): string {
  const shown = cells.map((row) => row.map((cell) => symbols[cell] ?? cell))
  const width = Math.max(...shown.flatMap((row) => row.map((cell) => cell.length)))
  return shown.map((row) => row.map((cell) => cell.padStart(width)).join(' ')).join('\n')
}

/** The boards among an observation's fields, and the other fields. Lists of numbers are boards only under a board's name. */
export function takeBoards(fields: Fields): { boards: Board[]; rest: Fields } {
  const boards: Board[] = []
  const rest: Fields = {}
  for (const [name, value] of Object.entries(fields)) {
    const cells = BOARD_NAME.test(name) ? (boardRows(value) ?? foldRows(value, fields['width'], fields['height'])) : null
    if (cells === null) rest[name] = value
    else boards.push({ name, cells })
  }
  return { boards, rest }
}
