/** Where episodes come from, as it comes in from outside, in a link or a file. */

import { z } from 'zod/mini'
import { BUILTIN_NAMES, type EnvironmentSpec, type PageFunction } from './environment-spec'

/** Longest code of a class or function of one's own, characters. */
export const LONGEST_PAGE_CODE = 40_000
/** Most environments of a run. */
export const MOST_MEMBERS = 8

const LONGEST_NAME = 500
const LONGEST_PROMPT = 32_000
/** Of a pasted dataset; a longer one does not fit a kept run either. */
const LONGEST_ROWS = 20_000_000

const name = z.string().check(z.maxLength(LONGEST_NAME))
const repo = z.string().check(z.regex(/^[\w.-]+\/[\w.-]+$/), z.maxLength(96))
const revision = z.string().check(z.regex(/^[A-Za-z0-9][\w./-]*$/), z.maxLength(200))

const pageFunction = { called: z.string().check(z.regex(/^[A-Za-z_$][\w$]{0,63}$/)), code: z.string().check(z.maxLength(LONGEST_PAGE_CODE)) }

const promptSource = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('builtin'), name: z.literal('arithmetic') }),
  z.strictObject({ kind: z.literal('hub'), repo, revision, config: z.nullable(name), split: z.nullable(name) }),
  z.strictObject({ kind: z.literal('text'), name, text: z.string().check(z.maxLength(LONGEST_ROWS)) }),
])

const singles = [
  z.strictObject({ kind: z.literal('builtin'), name: z.enum(BUILTIN_NAMES) }),
  z.strictObject({ kind: z.literal('openenv'), url: z.string().check(z.maxLength(2000)) }),
  z.strictObject({ kind: z.literal('custom'), ...pageFunction }),
  z.strictObject({ kind: z.literal('prompts'), dataset: promptSource }),
] as const

const prompt = z.string().check(z.maxLength(LONGEST_PROMPT))
const member = z.strictObject({
  environment: z.discriminatedUnion('kind', singles),
  weight: z.number().check(z.positive(), z.lte(1e6)),
  system_prompt: prompt,
  user_prompt: prompt,
})

/** Parses to an EnvironmentSpec; unknown fields are refused. */
export const environmentSpecSchema = z.discriminatedUnion('kind', [
  ...singles,
  z.strictObject({
    kind: z.literal('mix'),
    members: z.array(member).check(z.minLength(1), z.maxLength(MOST_MEMBERS)),
    dataset: z.nullable(promptSource),
  }),
])

/** Parses to a PageFunction. */
export const pageFunctionSchema = z.strictObject(pageFunction)

/** A spec out of a stranger's JSON; null for anything else. */
export function readEnvironmentSpec(json: unknown): EnvironmentSpec | null {
  const read = environmentSpecSchema.safeParse(json)
  return read.success ? read.data : null
}

/** A function out of a stranger's JSON; null for anything else. */
export function readPageFunction(json: unknown): PageFunction | null {
  const read = pageFunctionSchema.safeParse(json)
  return read.success ? read.data : null
}
