/** How the numbers of an episode are written in the recorded run's file. */

import type { Author } from '../../src/core/episode'
import type { TokenOption } from '../../src/core/events'
import { AUTHOR_LETTERS, PART } from '../../src/store/recorded-fields'

export function letters(authors: readonly Author[]): string {
  return authors.map((author) => AUTHOR_LETTERS[author]).join('')
}

/** Nats or a probability in parts. */
export const parts = (value: number): number => Math.round(value * PART) + 0

/** id, probability in parts, id, probability, … */
export const optionParts = (options: readonly TokenOption[] | null): number[] => (options ?? []).flatMap(({ id, prob }) => [id, parts(prob)])

/** To so many places after the point; -0 becomes 0. */
export function rounded(value: number, places: number): number {
  return Number(value.toFixed(places)) + 0
}
