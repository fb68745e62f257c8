/** The fields that the recorded run's file is made of, and how its numbers become those of an episode again. */

import { z } from 'zod/mini'
import type { Author } from '../core/episode'
import type { TokenOption } from '../core/events'

/** One letter per token: who wrote it. Only the model's tokens are trained on in this file. */
export const AUTHOR_LETTERS: Readonly<Record<Author, string>> = { model: 'm', environment: 'e', template: 't' }
export const AUTHOR_OF: Readonly<Record<string, Author>> = { m: 'model', e: 'environment', t: 'template' }

/** Tokens of all authors, and of all but the model. */
export const authorsOf = { all: z.string().check(z.regex(/^[met]*$/)), given: z.string().check(z.regex(/^[et]*$/)) }

/** Ways in which an episode ends that has a reward. */
export const exits = z.enum(['env_done', 'answered', 'turn_limit', 'token_limit'])

/** Log-probs, entropies and probabilities are whole numbers of this part: what people read of them, in half the room. */
export const PART = 1e6

export const number = z.number()
export const text = z.string()
export const whole = z.int().check(z.minimum(0))
export const some = z.nullable(number)

const isWhole = (value: unknown): value is number => Number.isInteger(value)
/** Checked in one go: there are a hundred thousand of them, and the page is waiting. */
export const wholes = z.custom<number[]>((value) => Array.isArray(value) && value.every(isWhole))
export const lists = z.custom<number[][]>((value) => Array.isArray(value) && value.every((list: unknown) => Array.isArray(list) && list.every(isWhole)))

/** The model's tokens get theirs in order, all others `rest`. */
export function spread<T, R>(mask: readonly (0 | 1)[], values: readonly T[], rest: R): (T | R)[] {
  let next = 0
  return mask.map((bit) => (bit === 1 ? (values[next++] as T) : rest))
}

/** Parts of the model's tokens → numbers of all tokens, 0 for the others. */
export function fromParts(mask: readonly (0 | 1)[], parts: readonly number[]): number[] {
  return spread(mask, parts.map((value) => value / PART), 0)
}

/** id, probability in parts, id, probability, … */
export function optionsOf(flat: readonly number[], textOf: (id: number) => string): TokenOption[] {
  return Array.from({ length: flat.length >> 1 }, (_, i) => {
    const id = flat[2 * i] as number
    return { id, prob: (flat[2 * i + 1] as number) / PART, text: textOf(id) }
  })
}
