/** Catch: a ball falls one row a move; the paddle must stand under it when it lands. The reward comes only at the end. */

import type { ToolCall } from '../../core/tools'
import { environmentOf, tool, type GameRules } from './game'
import { joinSplits, pickBySeed, splitByHash, type SplitList } from './scenarios'

/** Columns by letter, left to right. */
export const CATCH_COLUMNS = ['a', 'b', 'c', 'd', 'e', 'f'] as const
export const CATCH_HEIGHTS = [5, 6, 7] as const
export const CATCH_MOVES = ['left', 'stay', 'right'] as const
export type CatchMove = (typeof CATCH_MOVES)[number]

/** Columns are indices into CATCH_COLUMNS; height is the number of moves until the ball lands. */
export interface CatchState {
  height: number
  ball: number
  paddle: number
  /** Height at the start. */
  rows: number
}

/** What a panel draws. */
export interface CatchScene {
  kind: 'catch'
  columns: number
  rows: number
  height: number
  ball: number
  paddle: number
  /** null while the ball is in the air. */
  caught: boolean | null
}

const indices = CATCH_COLUMNS.map((_, i) => i)

/** The starts of one ball column: every height with every paddle column; 4 of the 18 are held out, so no column is rare in a part. */
function starts(ball: number): SplitList<CatchState> {
  const all = CATCH_HEIGHTS.flatMap((height) => indices.map((paddle) => ({ height, ball, paddle, rows: height })))
  return splitByHash(all, 10 + ball, 4)
}

/** 84 starts for training, 24 held out. */
export const CATCH_SCENARIOS: SplitList<CatchState> = joinSplits(indices.map(starts))

const letter = (column: number): string => CATCH_COLUMNS[column] ?? '?'
const SHIFT: Record<CatchMove, number> = { left: -1, stay: 0, right: 1 }

/** One move: the paddle shifts (walls stop it), the ball falls one row. */
export function catchMove(state: CatchState, to: CatchMove): CatchState {
  const paddle = Math.min(CATCH_COLUMNS.length - 1, Math.max(0, state.paddle + SHIFT[to]))
  return { ...state, height: state.height - 1, paddle }
}

export const catchRules: GameRules<CatchState> = {
  name: 'catch',
  tools: [tool('move', 'Move the paddle under the ball.', { to: { type: 'string', enum: CATCH_MOVES } })],
  prompts: { system: 'Catch the ball.', user: '' },
  begin: (seed, split) => pickBySeed(CATCH_SCENARIOS[split], seed, 5),
  view: ({ height, ball, paddle, rows }) => {
    const caught = height > 0 ? null : ball === paddle
    const scene: CatchScene = { kind: 'catch', columns: CATCH_COLUMNS.length, rows, height, ball, paddle, caught }
    return { text: `height ${height}, ball ${letter(ball)}, paddle ${letter(paddle)}`, scene }
  },
  act: (state, call) => catchMove(state, CATCH_MOVES.find((m) => m === call.arguments['to']) ?? 'stay'),
  refuse: (state) => catchMove(state, 'stay'),
  outcome: ({ height, ball, paddle }) => (height > 0 ? null : ball === paddle ? 1 : 0),
}

/** The move that walks straight to a column and stays there. */
export function walkTo(state: CatchState, column: number): CatchMove {
  return column < state.paddle ? 'left' : column > state.paddle ? 'right' : 'stay'
}

export const moveCall = (to: CatchMove): ToolCall => ({ name: 'move', arguments: { to } })

export const catchEnvironment = () => environmentOf(catchRules)
