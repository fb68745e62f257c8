/** Reads what a pupil typed and judges it against the answer. */

import { readNumber as readTyped } from '../../core/typed-number'
import type { Question } from './card'
import type { AnswerValue } from '../../store/lesson-progress'

/** 'right'; 'near': a guess within half the answer; 'off'. */
export type Verdict = 'right' | 'near' | 'off'

/** '0.5', '−0,5', '1/3', '20 %' (as 20); null for what is no number. */
export function readNumber(text: string): number | null {
  const [above = '', below = '1', ...more] = text.trim().replace(/\s*[%％]$/, '').split('/')
  if (more.length > 0) return null
  const value = readTyped(above) / readTyped(below)
  return Number.isFinite(value) ? value : null
}

/** All of them, or null when one is no number. */
export function readNumbers(texts: readonly string[]): number[] | null {
  const values = texts.map(readNumber)
  return values.every((value) => value !== null) ? values : null
}

/** How far a prediction is from what came. `question` must have its answer. */
export function judge(question: Question, said: AnswerValue): Verdict {
  if (question.kind === 'choice') return said === question.answer ? 'right' : 'off'
  const { answer, tolerance, exact } = question
  if (answer === null || typeof said === 'string' || said.length !== answer.length) return 'off'
  const miss = Math.max(...answer.map((value, i) => Math.abs(value - (said[i] ?? Infinity))))
  if (miss <= tolerance + 1e-9) return 'right'
  const size = Math.max(...answer.map(Math.abs))
  return !exact && miss <= Math.max(2 * tolerance, size / 2) ? 'near' : 'off'
}
