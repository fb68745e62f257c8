/** The recording's comparisons as the file holds them: an episode of the base model, and what the LoRA played in its place after some of the steps. */

import { z } from 'zod/mini'
import type { Author } from '../core/episode'
import type { ComparedEpisode, PolicyComparison } from '../core/examination'
import { AUTHOR_OF, authorsOf, exits, fromParts, lists, number, optionsOf, some, spread, whole, wholes } from './recorded-fields'

const sideSchema = z.object({
  /** After the prompt, which both have. */
  ids: wholes,
  authors: authorsOf.all,
  /** These are of the model's tokens alone, in parts of a nat. Under the policy that played. */
  logprobs: wholes,
  alternatives: lists,
  turns: z.array(z.object({ start: whole, end: whole, resultEnd: whole, reward: some, scene: z.optional(z.unknown()) })),
  reward: some,
  success: z.nullable(z.boolean()),
  exit: exits,
})

export const comparisonSchema = z.object({
  seed: whole,
  split: z.enum(['train', 'heldout']),
  temperature: number,
  prompt: z.object({ ids: wholes, authors: authorsOf.given }),
  scene: z.optional(z.unknown()),
  base: sideSchema,
  after: z.array(
    z.object({
      step: whole,
      /** What the LoRA of that step thinks of the base model's tokens. */
      baseUnderLora: wholes,
      lora: sideSchema,
      loraUnderBase: wholes,
    }),
  ),
})

type Packed = z.output<typeof comparisonSchema>
type Side = z.output<typeof sideSchema>

/** Throws an Error on lists that disagree or tokens without a text. */
export function checkComparison({ seed, prompt, base, after }: Packed, texts: ReadonlyMap<number, string>): void {
  const where = `the comparison of seed ${seed}`
  const side = ({ ids, authors, logprobs, alternatives }: Side, other: readonly number[]) => {
    const sampled = authors.replaceAll(/[et]/g, '').length
    const agree = ids.length === authors.length && prompt.ids.length === prompt.authors.length
    if (!agree || [logprobs, other, alternatives].some(({ length }) => length !== sampled)) throw new Error(`${where}: lengths disagree`)
    const strange = [...prompt.ids, ...ids, ...alternatives.flatMap((flat) => flat.filter((_, i) => i % 2 === 0))].find((id) => !texts.has(id))
    if (strange !== undefined) throw new Error(`${where}: token ${strange} has no text`)
  }
  for (const { baseUnderLora, lora, loraUnderBase } of after) {
    side(base, baseUnderLora)
    side(lora, loraUnderBase)
  }
}

/** One comparison for each step of the recording after which it was made. */
export function readComparisons({ seed, split, temperature, prompt, scene, base, after }: Packed, texts: ReadonlyMap<number, string>): PolicyComparison[] {
  const textOf = (id: number) => texts.get(id) ?? ''
  const read = (side: Side, other: readonly number[]): ComparedEpisode => {
    const ids = [...prompt.ids, ...side.ids]
    const authors = [...(prompt.authors + side.authors)].map((letter) => AUTHOR_OF[letter] as Author)
    const mask = authors.map((author): 0 | 1 => (author === 'model' ? 1 : 0))
    const { turns, reward, success, exit } = side
    return {
      ids,
      texts: ids.map(textOf),
      authors,
      mask,
      logprobs: fromParts(mask, side.logprobs),
      otherLogprobs: fromParts(mask, other),
      alternatives: spread(mask, side.alternatives.map((flat) => optionsOf(flat, textOf)), null),
      promptLength: prompt.ids.length,
      turns,
      scene,
      reward,
      success,
      exit,
    }
  }
  return after.map(({ step, baseUnderLora, lora, loraUnderBase }) => ({ seed, split, temperature, step, base: read(base, baseUnderLora), lora: read(lora, loraUnderBase) }))
}
