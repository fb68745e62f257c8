/**
 * A row of TRL's own completions table → an episode to look at. It has no token ids: each message, or the whole prompt and the
 * whole completion, is one piece of text that belongs to one author.
 */

import { z } from 'zod'
import type { Author } from '../../core/episode'
import type { KeptEpisode } from '../../core/run-record'
import type { ChatMessage } from '../../core/tools'
import { faultOf } from './episode-row'

const part = z.looseObject({ text: z.string().nullish() })
const call = z.looseObject({ function: z.looseObject({ name: z.string(), arguments: z.unknown() }) })
const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(part)]).nullish(),
  name: z.string().nullish(),
  tool_calls: z.array(call).nullish(),
})
const said = z.union([z.string(), z.array(message)], 'expected text or a list of messages')
const number = z.union([z.number(), z.nan()])

const schema = z.object({ step: z.int().min(0), prompt: said, completion: said, advantage: number.nullish() })

const TRL_OWN = new Set(['step', 'prompt', 'completion', 'advantage'])

export interface Completion {
  /** Without its place in the step: index and group are 0. */
  episode: KeptEpisode
  /** Columns that were taken for rewards and added up. */
  rewards: string[]
}

/** Throws RowFault. */
export function completionOf(row: Record<string, unknown>): Completion {
  const read = schema.safeParse(row)
  if (!read.success) throw faultOf(read.error, row)
  const { step, prompt, completion, advantage } = read.data
  const pieces = [...piecesOf(prompt, 'template', 'user'), ...piecesOf(completion, 'model', 'assistant')]
  const authors = pieces.map(({ author }) => author)
  const promptLength = typeof prompt === 'string' ? 1 : prompt.length
  const rewards = Object.entries(row).filter((entry): entry is [string, number] => !TRL_OWN.has(entry[0]) && typeof entry[1] === 'number')
  const given = rewards.map(([, value]) => value).filter((value) => !Number.isNaN(value))
  const episode: KeptEpisode = {
    step,
    index: 0,
    group: 0,
    seed: 0,
    ids: pieces.map(() => -1),
    mask: authors.map((author, i) => (author === 'model' && i >= promptLength ? 1 : 0)),
    logprobs: pieces.map(() => 0),
    authors,
    alternatives: pieces.map(() => null),
    promptLength,
    turns: [],
    messages: pieces.map(({ message }) => message),
    reward: given.length === 0 ? null : given.reduce((sum, value) => sum + value, 0),
    exit: 'env_done',
    error: null,
    terminated: true,
    advantage: Number.isNaN(advantage) ? 0 : (advantage ?? 0),
    trainLogprobs: null,
    entropies: null,
    texts: pieces.map(({ text }) => text),
    prompt: textOf(prompt),
    completion: textOf(completion),
  }
  return { episode, rewards: rewards.map(([name]) => name) }
}

interface Piece {
  text: string
  author: Author
  message: ChatMessage
}

type Said = z.infer<typeof said>

function piecesOf(value: Said, author: Author, role: ChatMessage['role']): Piece[] {
  if (typeof value === 'string') return [{ text: value, author, message: { role, content: value } }]
  return value.map((message) => {
    const text = messageText(message)
    const known = ROLES.find((each) => each === message.role) ?? role
    const by = author === 'template' ? author : known === 'assistant' ? 'model' : 'environment'
    return { text, author: by, message: { role: known, content: text, ...(message.name ? { name: message.name } : {}) } }
  })
}

const ROLES = ['system', 'user', 'assistant', 'tool'] as const

function textOf(value: Said): string {
  return typeof value === 'string' ? value : value.map(messageText).join('\n')
}

/** A message's text with its calls, which Parquet keeps apart from it. */
function messageText({ content, tool_calls }: z.infer<typeof message>): string {
  const text = typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('')
  return [text, ...(tool_calls ?? []).map(({ function: { name, arguments: given } }) => JSON.stringify({ name, arguments: withoutNull(given) }))]
    .filter((each) => each !== '')
    .join('\n')
}

/** Parquet gives every call the arguments of all tools, null where they are not its own. */
function withoutNull(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
}
