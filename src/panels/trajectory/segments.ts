/** Splits an episode's tokens into its prompt and its turns: a turn is what the model wrote and what came back. */

import type { LoggedToken } from '../../store/token-log'

export interface Segment {
  /** null for the prompt, else the turn from 0. */
  turn: number | null
  /** [start, end) in the episode's tokens. */
  start: number
  end: number
}

/** The prompt, then one segment per turn. A new turn begins where the model writes again. */
export function segmentsOf(tokens: readonly LoggedToken[], promptLength: number): Segment[] {
  const segments: Segment[] = [{ turn: null, start: 0, end: Math.min(promptLength, tokens.length) }]
  let turn = -1
  for (let i = promptLength; i < tokens.length; i++) {
    const isModel = tokens[i]?.author === 'model'
    const wasModel = i > promptLength && tokens[i - 1]?.author === 'model'
    if (turn < 0 || (isModel && !wasModel && i > promptLength)) segments.push({ turn: ++turn, start: i, end: i + 1 })
    else (segments.at(-1) as Segment).end = i + 1
  }
  return segments
}
