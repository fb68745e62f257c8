/** Arithmetic: rows that ask for a sum, with the number that a verifiable reward compares with. Pure data, the same on every page. */

import type { ResetOptions } from '../../core/environment'
import type { ChatMessage } from '../../core/tools'
import { splitByHash, type SplitList } from '../builtin/scenarios'

export interface ArithmeticRow {
  /** TRL's conversational prompt. */
  prompt: ChatMessage[]
  /** The sum; `accuracy_reward` compares the boxed answer with it. */
  solution: string
  [column: string]: unknown
}

export interface Sum {
  a: number
  b: number
}

/** The system prompt of such a run: the box is where the answer is looked for. */
export const ARITHMETIC_SYSTEM = 'Answer in a box.'

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

/** Two digits and one, nothing to carry: 10 + 0 to 99 + 0. */
const SUMS: readonly Sum[] = upTo(90).flatMap((i) => upTo(10).map((b) => ({ a: 10 + i, b }))).filter(({ a, b }) => (a % 10) + b < 10)

/** 495 sums: 396 for training, 99 held out. */
export const ALL_SUMS: SplitList<Sum> = splitByHash(SUMS, 40)

/** No ones above four: a table of 25 is what a model this small learns in a minute. */
const isSmall = ({ a, b }: Sum): boolean => a % 10 <= 4 && b <= 4
/** Those that are asked. */
export const ARITHMETIC_SUMS: SplitList<Sum> = { train: ALL_SUMS.train.filter(isSmall), heldout: ALL_SUMS.heldout.filter(isSmall) }

/** The answer in the form that is judged. */
export const boxed = (answer: number): string => `\\boxed{${answer}}`

/** One row. */
export function arithmeticRow({ a, b }: Sum): ArithmeticRow {
  return {
    prompt: [{ role: 'user', content: `${a} + ${b} =` }],
    solution: String(a + b),
  }
}

/** All rows of a split, in a fixed order. */
export function arithmeticRows(split: ResetOptions['split']): ArithmeticRow[] {
  return ARITHMETIC_SUMS[split].map(arithmeticRow)
}
