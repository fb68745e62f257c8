/** A row of exported trajectories → the episode that it was written from, checked. */

import { z } from 'zod'
import type { Author, Turn, TurnCall } from '../../core/episode'
import type { KeptEpisode } from '../../core/run-record'
import type { ChatMessage } from '../../core/tools'

const whole = z.int()
const count = whole.min(0)
/** Parquet files from other programs have NaN where there is no number. */
const maybe = z.union([z.number(), z.nan()]).nullish().transform((value) => (value === undefined || Number.isNaN(value) ? null : value))
const text = z.string()
const maybeText = text.nullish().transform((value) => value ?? null)
const flag = z.boolean().nullish().transform((value) => value ?? undefined)

const toolCall = z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()) })
const toolCalls = z.array(z.object({ type: z.literal('function'), function: toolCall }))
const calls: z.ZodType<TurnCall[]> = z.array(
  z.object({
    call: toolCall,
    result: z.string(),
    reward: z.number().nullable(),
    rubric: z.number().optional(),
    done: z.boolean(),
    error: z.boolean(),
    ms: z.number(),
    refused: z.literal(true).optional(),
  }),
)

/** A column of JSON: as text, or as what a library made of it. undefined where there is none. */
const json = z.unknown().optional().transform((value, context): unknown => {
  if (value === null || value === undefined) return undefined
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    context.addIssue({ code: 'custom', message: 'expected JSON' })
    return z.NEVER
  }
})

const message = z
  .object({ role: z.enum(['system', 'user', 'assistant', 'tool']), content: text, name: maybeText, tool_calls: json.pipe(toolCalls.optional()) })
  .transform(
    ({ role, content, name, tool_calls }): ChatMessage => ({
      role,
      content,
      ...(name === null ? {} : { name }),
      ...(tool_calls === undefined ? {} : { tool_calls }),
    }),
  )

const turn = z
  .object({ start: count, end: count, result_end: count, calls: json.pipe(calls), parse_error: maybeText, parse_errors: count.nullish(), scene: json })
  .transform(
    ({ start, end, result_end, calls, parse_error, parse_errors, scene }): Turn => ({
      start,
      end,
      resultEnd: result_end,
      calls,
      parseError: parse_error,
      ...(parse_errors === null || parse_errors === undefined ? {} : { parseErrors: parse_errors }),
      ...(scene === undefined ? {} : { scene }),
    }),
  )

const bits = z.array(z.union([z.literal(0), z.literal(1)], 'expected 0 or 1'))

const AUTHORS = ['model', 'environment', 'template'] as const satisfies readonly Author[]

const schema = z.object({
  step: count,
  prompt: text,
  completion: text,
  advantage: z.number(),
  run_id: text,
  episode: count,
  group: count,
  seed: count,
  // Files of earlier versions lack it.
  environment: maybeText,
  reward: maybe,
  // Files of earlier versions lack it.
  discarded: flag,
  success: flag,
  exit_reason: z.enum(['env_done', 'answered', 'turn_limit', 'token_limit', 'env_error', 'env_unreadable', 'stopped']),
  error: maybeText,
  lasting: z.literal(true).nullish(),
  terminated: z.boolean(),
  messages: z.array(message),
  prompt_length: count,
  ids: z.array(whole),
  mask: bits,
  // Follows from the rest of the row; older files lack it.
  train_mask: bits.nullish(),
  authors: z.array(z.enum(AUTHORS)),
  sampler_logprobs: z.array(z.number()),
  train_logprobs: z.array(z.number()).nullish(),
  // Files of earlier versions lack it.
  stale: flag,
  entropies: z.array(z.number()).nullish(),
  texts: z.array(text),
  alternative_ids: z.array(z.array(whole).nullish()).nullish(),
  alternative_probs: z.array(z.array(z.number()).nullish()).nullish(),
  alternative_texts: z.array(z.array(maybeText).nullish()).nullish(),
  turns: z.array(turn),
  scene: json,
})
type Parsed = z.infer<typeof schema>

/** What keeps a row from being an episode: the column, and what is wrong with it. */
export class RowFault extends Error {}

/** The first fault as "column ids[3]: expected number, found "x"". */
export function faultOf(error: z.ZodError, row: unknown): RowFault {
  const issue = error.issues[0]
  const path = issue?.path ?? []
  const [column = '', ...inside] = path
  const place = `${String(column)}${inside.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('')}`
  const found = path.reduce<unknown>((value, key) => (typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : value), row)
  const expected = (issue?.message ?? '').replace(/^Invalid (input|option): /, '').replace(/, received .*$/, '')
  if (found === undefined && inside.length === 0) return new RowFault(`column ${place} is missing`)
  return new RowFault(`column ${place}: ${expected}, found ${shown(found)}`)
}

function shown(value: unknown): string {
  const written = JSON.stringify(value) ?? 'nothing'
  return written.length > 60 ? `${written.slice(0, 60)}…` : written
}

/** Throws RowFault. */
export function episodeOf(row: Record<string, unknown>): { runId: string; episode: KeptEpisode } {
  const read = schema.safeParse(row)
  if (!read.success) throw faultOf(read.error, row)
  const { ids, scene, success, ...rest } = read.data
  checkLengths(read.data)
  const episode: KeptEpisode = {
    step: rest.step,
    index: rest.episode,
    group: rest.group,
    seed: rest.seed,
    ...(rest.environment === null ? {} : { environment: rest.environment }),
    ids,
    mask: rest.mask,
    logprobs: rest.sampler_logprobs,
    authors: rest.authors,
    alternatives: ids.map((_, i) => alternativesAt(read.data, i)),
    promptLength: rest.prompt_length,
    turns: rest.turns,
    messages: rest.messages,
    ...(scene === undefined ? {} : { scene }),
    reward: rest.reward,
    ...(success === undefined ? {} : { success }),
    exit: rest.exit_reason,
    error: rest.error,
    ...(rest.lasting ? { lasting: true as const } : {}),
    terminated: rest.terminated,
    ...(rest.discarded ? { discarded: true as const } : {}),
    advantage: rest.advantage,
    trainLogprobs: rest.train_logprobs ?? null,
    ...(rest.stale ? { stale: true as const } : {}),
    entropies: rest.entropies ?? null,
    texts: rest.texts,
    prompt: rest.prompt,
    completion: rest.completion,
  }
  return { runId: rest.run_id, episode }
}

function alternativesAt({ alternative_ids, alternative_probs, alternative_texts }: Parsed, i: number): KeptEpisode['alternatives'][number] {
  const [probs, texts] = [alternative_probs?.[i], alternative_texts?.[i]]
  const option = (id: number, k: number) => ({ id, prob: probs?.[k] ?? 0, ...(typeof texts?.[k] === 'string' ? { text: texts[k] } : {}) })
  const options = alternative_ids?.[i]?.map(option) ?? []
  return options.length === 0 ? null : options
}

const ALTERNATIVES = ['alternative_ids', 'alternative_probs', 'alternative_texts'] as const
const PER_TOKEN = ['mask', 'train_mask', 'authors', 'sampler_logprobs', 'train_logprobs', 'entropies', 'texts', ...ALTERNATIVES] as const

function checkLengths(row: Parsed): void {
  const { length } = row.ids
  for (const column of PER_TOKEN) {
    const found = row[column]?.length ?? length
    if (found !== length) throw new RowFault(`column ${column} has ${found} entries, but ids has ${length}`)
  }
  if (row.prompt_length > length) throw new RowFault(`column prompt_length is ${row.prompt_length}, but ids has ${length} entries`)
  for (const [i, { start, end, resultEnd }] of row.turns.entries()) {
    if (start > end || end > resultEnd || resultEnd > length) {
      throw new RowFault(`column turns[${i}] spans the tokens ${start}, ${end}, ${resultEnd}, but ids has ${length} entries`)
    }
  }
  for (const column of ALTERNATIVES) {
    const odd = row[column]?.findIndex((those, i) => (those?.length ?? 0) !== (row.alternative_ids?.[i]?.length ?? 0)) ?? -1
    if (odd >= 0) throw new RowFault(`column ${column}[${odd}] has another length than alternative_ids[${odd}]`)
  }
}
