/** How the scripts of the official games find their moves, so that the recordings show more than chance. */

import { spawn } from 'node:child_process'

export const numbers = (value: unknown): number[] => (Array.isArray(value) ? value.filter((each) => typeof each === 'number') : [])
export const grid = (value: unknown): number[][] => (Array.isArray(value) ? value.map(numbers) : [])

type Cell = readonly [column: number, row: number]

/** First step of the shortest way through a maze of 0 (free) and 1 (wall): up, down, left or right. */
export function wayOut(maze: readonly (readonly number[])[], from: Cell, to: Cell): string {
  const steps = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] } as const
  let edge: { at: Cell; first: string }[] = [{ at: from, first: '' }]
  const seen = new Set([from.join()])
  while (edge.length > 0) {
    const next: typeof edge = []
    for (const { at, first } of edge) {
      if (at.join() === to.join()) return first
      for (const [name, [dx, dy]] of Object.entries(steps)) {
        const cell: Cell = [at[0] + dx, at[1] + dy]
        if (maze[cell[1]]?.[cell[0]] !== 0 || seen.has(cell.join())) continue
        seen.add(cell.join())
        next.push({ at: cell, first: first || name })
      }
    }
    edge = next
  }
  return 'up'
}

/** Basic English's nouns of five letters, of which TextArena draws its words. */
const WORDS =
  'angle apple basin berry birth blade blood board brain brake brass bread brick brown brush burst cause chain chalk cheap chest chief clock cloth cloud cough cover crack crime cruel crush curve death doubt drain dress drink earth error event field flame floor force frame front fruit glass glove grain grass group guide heart horse house jewel judge knife laugh level light limit linen match metal money month mouth music nerve night noise north offer order owner paint paper paste peace place plane plant plate point power price print prose quick range right river round scale screw sense shade shake shame sheep shelf shirt shock skirt sleep slope smash smell smile smoke snake sound south space spade spoon stage stamp start steam steel stick stone store story sugar sweet table taste thick thing thumb tight tooth touch trade train trick twist value verse voice waste watch water wheel woman wound'

/** Wordle's marks for a guess: G in its place, Y elsewhere, X nowhere. */
export function marks(guess: string, word: string): string {
  const left = [...word].filter((letter, i) => letter !== guess[i])
  return [...guess]
    .map((letter, i) => {
      if (letter === word[i]) return 'G'
      const at = left.indexOf(letter)
      if (at < 0) return 'X'
      left.splice(at, 1)
      return 'Y'
    })
    .join('')
}

/** A word that fits all marks so far. */
export function wordleGuess(said: string): string {
  const told = [...said.matchAll(/submitted \[(\w+)\]\.\s+Feedback:\s+(?:[A-Z] ){4}[A-Z]\s+([GYX](?: [GYX]){4})/g)]
  const fits = WORDS.split(' ').filter((word) => told.every(([, guess = '', seen = '']) => marks(guess, word) === seen.replaceAll(' ', '')))
  return fits[told.length === 0 ? fits.indexOf('train') : 0] ?? 'train'
}

/** Row, column and number (from 1) of a cell of the last board in `said` that only one number fits. */
export function sudokuMove(said: string): { row: number; col: number; number: number } | null {
  const rows = [...said.matchAll(/^R\d +(.*)$/gm)].slice(-9).map(([, row = '']) => row.replaceAll('|', ' ').trim().split(/\s+/))
  for (const [row, cells] of rows.entries()) {
    for (const [col, cell] of cells.entries()) {
      if (cell !== '.') continue
      const corner = [row - (row % 3), col - (col % 3)] as const
      const taken = new Set([...cells, ...rows.map((each) => each[col]), ...rows.slice(corner[0], corner[0] + 3).flatMap((each) => each.slice(corner[1], corner[1] + 3))])
      const free = [1, 2, 3, 4, 5, 6, 7, 8, 9].filter((number) => !taken.has(String(number)))
      if (free.length === 1) return { row: row + 1, col: col + 1, number: free[0] as number }
    }
  }
  return null
}

/** 'left', 'right' or null (straight on): towards the food (2), never into a wall or the snake where it can be helped. Its head is 3, the next cell 4. */
export function snakeTurn(cells: readonly (readonly number[])[]): 'left' | 'right' | null {
  const find = (code: number): Cell => {
    const row = cells.findIndex((each) => each.includes(code))
    return [cells[row]?.indexOf(code) ?? 0, row]
  }
  const [head, food] = [find(3), find(2)]
  const around: Cell[] = [[1, 0], [-1, 0], [0, 1], [0, -1]]
  const neck = around.find(([dx, dy]) => cells[head[1] + dy]?.[head[0] + dx] === 4) ?? [1, 0]
  const ahead: Cell = [-neck[0], -neck[1]]
  const ways = [[null, ahead], ['left', [ahead[1], -ahead[0]]], ['right', [-ahead[1], ahead[0]]]] as const
  const cost = ([dx, dy]: Cell) => {
    const [x, y] = [head[0] + dx, head[1] + dy]
    return ([0, 2].includes(cells[y]?.[x] ?? 1) ? 0 : 100) + Math.abs(food[0] - x) + Math.abs(food[1] - y)
  }
  return [...ways].sort((a, b) => cost(a[1]) - cost(b[1]))[0]?.[0] ?? null
}

/** Breakout: 1 serve, 2 right, 3 left, 0 stay. `screen` is [210 × 160 × 3], flat; ball and paddle are of one colour. */
export function breakoutButton(screen: readonly number[], turn: number): number {
  if (turn < 1) return 1
  const isRed = (row: number, column: number) => [200, 72, 72].every((value, i) => screen[(row * 160 + column) * 3 + i] === value)
  const middle = (from: number, to: number) => {
    const found: number[] = []
    for (let row = from; row < to; row++) for (let column = 8; column < 152; column++) if (isRed(row, column)) found.push(column)
    return found.length === 0 ? null : found.reduce((sum, each) => sum + each, 0) / found.length
  }
  const [ball, paddle] = [middle(100, 187), middle(189, 193)]
  if (ball === null || paddle === null || Math.abs(ball - paddle) < 6) return 0
  return ball > paddle ? 2 : 3
}

/** Stockfish's move for a position in FEN. Throws when there is no such engine. */
export async function engineMove(fen: string): Promise<string> {
  const engine = spawn('stockfish', { stdio: ['pipe', 'pipe', 'inherit'] })
  const answer = new Promise<string>((resolve, reject) => {
    let said = ''
    engine.on('error', reject)
    engine.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const move = /bestmove (\S+)/.exec(said)?.[1]
      if (move !== undefined) resolve(move)
    })
  })
  engine.stdin.write(`position fen ${fen}\ngo depth 14\n`)
  try {
    return await answer
  } finally {
    engine.kill()
  }
}
