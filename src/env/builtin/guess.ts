/**
 * Guess: a secret number in a small range, three guesses. Each answer says higher or lower and what range is left. Halving the range
 * always finds it; counting through it finds it less than every other time.
 */

import type { ToolCall } from '../../core/tools'
import { environmentOf, tool, type GameRules } from './game'
import { joinSplits, pickBySeed, splitByHash, type SplitList } from './scenarios'

/** Both ends belong to the range. */
export interface GuessScenario {
  low: number
  high: number
  secret: number
}

/** `low` and `high` are what is left. */
export interface GuessState extends GuessScenario {
  turn: number
  /** null before the first guess, and for a call that was refused. */
  last: number | null
}

/** What a panel draws. */
export interface GuessScene {
  kind: 'guess'
  low: number
  high: number
  last: number | null
  turn: number
  turns: number
  /** null while the game goes on. */
  found: boolean | null
}

export const GUESS_TURNS = 3
/** Numbers of a range: seven are the most that three guesses always find. */
export const GUESS_SIZES = [6, 7] as const
/** Numbers have one digit, so that each is one token. */
const LARGEST = 9

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

/** All games with a range of this size; one in five is held out. */
function games(size: number): SplitList<GuessScenario> {
  const lows = upTo(LARGEST + 2 - size)
  return splitByHash(
    lows.flatMap((low) => upTo(size).map((i) => ({ low, high: low + size - 1, secret: low + i }))),
    30 + size,
  )
}

/** 58 games: 46 for training, 12 held out. */
export const GUESS_SCENARIOS: SplitList<GuessScenario> = joinSplits(GUESS_SIZES.map(games))

const isFound = ({ last, secret }: GuessState): boolean => last === secret

/** What is left after a guess. */
export function guessMove(state: GuessState, number: number): GuessState {
  const { low, high, secret } = state
  return {
    ...state,
    turn: state.turn + 1,
    last: number,
    low: number < secret ? Math.max(low, number + 1) : number === secret ? secret : low,
    high: number > secret ? Math.min(high, number - 1) : number === secret ? secret : high,
  }
}

function sentence(state: GuessState): string {
  const { low, high, secret, last, turn } = state
  if (isFound(state)) return 'right'
  if (turn >= GUESS_TURNS) return `no guess left, it was ${secret}`
  const range = `from ${low} to ${high}`
  return last === null ? range : `${last < secret ? 'higher' : 'lower'}, ${range}`
}

export const guessRules: GameRules<GuessState> = {
  name: 'guess',
  tools: [tool('guess', 'Guess the number.', { number: { type: 'integer' } })],
  prompts: { system: 'Find the number in three guesses.', user: '' },
  begin: (seed, split) => guessStart(pickBySeed(GUESS_SCENARIOS[split], seed, 8)),
  view: (state) => {
    const { low, high, last, turn } = state
    const found = isFound(state) ? true : turn >= GUESS_TURNS ? false : null
    const scene: GuessScene = { kind: 'guess', low, high, last, turn, turns: GUESS_TURNS, found }
    return { text: sentence(state), scene }
  },
  act: (state, call) => guessMove(state, Number(call.arguments['number'])),
  refuse: (state) => ({ ...state, turn: state.turn + 1, last: null }),
  outcome: (state) => (isFound(state) ? 1 : state.turn >= GUESS_TURNS ? 0 : null),
}

/** The state in which a game begins. */
export function guessStart(scenario: GuessScenario): GuessState {
  return { ...scenario, turn: 0, last: null }
}

export const guessCall = (number: number): ToolCall => ({ name: 'guess', arguments: { number } })

/** The middle of what is left: finds every number of seven in three guesses. */
export const guessMiddle = ({ low, high }: Pick<GuessState, 'low' | 'high'>): number => Math.floor((low + high) / 2)

export const guessEnvironment = () => environmentOf(guessRules)
