/** TRL's dataset formats: what a row is, by its columns, checked field by field. */

import { z } from 'zod/mini'
import { conversation, FieldFault, kindOf } from '../../core/conversation'
import { isRecord } from '../../core/records'
import type { ChatMessage, Tool } from '../../core/tools'
import { splitPrompt } from './implicit-prompt'
import type { PlacedRow, RowProblem } from '../../core/rows'

/** What every form can have beside its own columns. */
interface Common {
  place: string
  tools: Tool[]
  /** Of this row alone: `{"enable_thinking": false}`. */
  chat_template_kwargs: Record<string, unknown>
}

/** Plain text, or a conversation. */
export type Said = string | ChatMessage[]

export type SftRow = Common &
  (
    | { form: 'text'; text: string }
    | { form: 'messages'; messages: ChatMessage[] }
    | { form: 'prompt-completion'; prompt: Said; completion: Said }
  )
export type PreferenceRow = Common & { form: 'preference'; prompt: Said; chosen: Said; rejected: Said }
export type DatasetRow = SftRow | PreferenceRow

const toolSchema = z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string().check(z.minLength(1)) }) })

/** Levels of lists and objects that a column may have: far more than any template shows, and few enough for code that walks them by recursion. */
const MOST_LEVELS = 100

/** Every column that is read. */
export const COLUMNS: readonly string[] = ['messages', 'prompt', 'completion', 'chosen', 'rejected', 'text', 'tools', 'chat_template_kwargs']

/** What a row is, or why it is nothing. */
export function readRow({ place, row }: PlacedRow): { ok: true; row: DatasetRow } | { ok: false; problem: RowProblem } {
  try {
    for (const column of COLUMNS) assertFlat(row[column], column)
    const common = { place, tools: toolsOf(row.tools), chat_template_kwargs: kwargsOf(row.chat_template_kwargs) }
    return { ok: true, row: { ...common, ...formOf(row) } }
  } catch (error) {
    if (!(error instanceof FieldFault)) throw error
    return { ok: false, problem: { place, field: error.field, problem: error.message, advice: error.advice } }
  }
}

type Form<R> = R extends unknown ? Omit<R, keyof Common> : never

function formOf(row: Record<string, unknown>): Form<DatasetRow> {
  const has = (field: string): boolean => row[field] !== undefined && row[field] !== null
  if (has('chosen') || has('rejected')) return preferenceOf(row, has('prompt'))
  if (has('messages')) return { form: 'messages', messages: conversation(row.messages, 'messages') }
  if (has('completion')) {
    const [prompt, completion] = sameKind(row, ['prompt', 'completion'])
    return { form: 'prompt-completion', prompt, completion }
  }
  if (has('text')) {
    if (typeof row.text !== 'string') throw new FieldFault('text', `It is ${kindOf(row.text)}, not a text`, 'Write a string.')
    return { form: 'text', text: row.text }
  }
  if (has('prompt')) throw new FieldFault('completion', 'There is a prompt and no answer to it', 'Add "completion" for SFT, or "chosen" and "rejected" for DPO.')
  const names = Object.keys(row)
  const found = names.length > 0 ? `Its columns are ${names.map((name) => `"${name}"`).join(', ')}` : 'It has no columns'
  throw new FieldFault('', found, 'Use "messages", "prompt" and "completion", or "prompt", "chosen" and "rejected".')
}

function preferenceOf(row: Record<string, unknown>, explicit: boolean): Form<PreferenceRow> {
  if (explicit) {
    const [prompt, chosen, rejected] = sameKind(row, ['prompt', 'chosen', 'rejected'])
    assertDiffer(chosen, rejected)
    return { form: 'preference', prompt, chosen, rejected }
  }
  const [chosen, rejected] = sameKind(row, ['chosen', 'rejected'])
  assertDiffer(chosen, rejected)
  const split = splitPrompt(chosen, rejected)
  if (split.prompt.length === 0) throw new FieldFault('prompt', '"chosen" and "rejected" have no common beginning', 'Add a "prompt" column.')
  if (split.chosen.length === 0 || split.rejected.length === 0) {
    throw new FieldFault(split.chosen.length === 0 ? 'chosen' : 'rejected', 'It is only the beginning of the other answer', 'Give both an answer of their own.')
  }
  return { form: 'preference', ...split }
}

function assertDiffer(chosen: Said, rejected: Said): void {
  if (JSON.stringify(chosen) === JSON.stringify(rejected)) {
    throw new FieldFault('rejected', 'It is the same as "chosen", so there is nothing to prefer', 'Give two different answers.')
  }
}

/** These columns: all texts, or all conversations. */
function sameKind<const F extends readonly string[]>(row: Record<string, unknown>, fields: F): { -readonly [K in keyof F]: Said } {
  const said = fields.map((field): Said => {
    const value = row[field]
    if (typeof value !== 'string') return conversation(value, field)
    if (value === '') throw new FieldFault(field, 'It is empty', 'Write a text.')
    return value
  })
  const kinds = said.map((each) => typeof each)
  const odd = kinds.findIndex((kind) => kind !== kinds[0])
  if (odd > 0) throw new FieldFault(fields[odd] ?? '', `It is ${kindOf(said[odd])}, but "${fields[0]}" is ${kindOf(said[0])}`, 'Make both texts, or both lists of messages.')
  return said as { -readonly [K in keyof F]: Said }
}

function toolsOf(value: unknown): Tool[] {
  if (value === undefined || value === null) return []
  let list: unknown = value
  try {
    if (typeof value === 'string') list = JSON.parse(value) as unknown
  } catch {
    throw new FieldFault('tools', 'It is a text that is not JSON', 'Write a list of tools, or its JSON.')
  }
  assertFlat(list, 'tools')
  if (!Array.isArray(list)) throw new FieldFault('tools', `It is ${kindOf(list)}`, 'Write a list of tools, or its JSON.')
  return list.map((tool, i) => {
    const { success, data } = toolSchema.safeParse(tool)
    if (!success) throw new FieldFault(`tools[${i}]`, 'It is no tool', 'A tool is {"type": "function", "function": {"name": …, "description": …, "parameters": …}}.')
    return withoutNulls(data) as Tool
  })
}

/** Level by level: a recursion would overflow on what it is to find. */
function assertFlat(value: unknown, field: string): void {
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MOST_LEVELS) throw new FieldFault(field, `It is nested more than ${MOST_LEVELS} levels deep`, 'Make it flatter, or leave the row out.')
    level = level.flatMap((each): unknown[] => (typeof each === 'object' && each !== null ? Object.values(each) : [])).filter((each) => typeof each === 'object' && each !== null)
  }
}

function kwargsOf(value: unknown): Record<string, unknown> {
  if (value === undefined || value === null) return {}
  if (!isRecord(value)) throw new FieldFault('chat_template_kwargs', `It is ${kindOf(value)}`, 'Write an object: {"enable_thinking": false}.')
  if ('chat_template' in value) throw new FieldFault('chat_template_kwargs.chat_template', 'A row cannot bring its own template', 'Leave it out: the loaded model’s template is used.')
  return withoutNulls(value) as Record<string, unknown>
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).flatMap(([key, each]) => (each === null ? [] : [[key, withoutNulls(each)]])))
}
