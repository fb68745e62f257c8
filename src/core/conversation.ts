/** A dataset's conversations: lists of messages from a stranger's row, checked field by field. */

import { z } from 'zod/mini'
import { isRecord } from './records'
import type { ChatMessage } from './tools'

/** A column that is no good, on its way to a RowProblem. */
export class FieldFault extends Error {
  constructor(
    readonly field: string,
    message: string,
    readonly advice: string,
  ) {
    super(message)
  }
}

const callSchema = z.object({
  function: z.object({ name: z.string().check(z.minLength(1)), arguments: z.nullish(z.union([z.record(z.string(), z.unknown()), z.string()])) }),
})
const messageSchema = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.nullish(z.union([z.string(), z.array(z.object({ type: z.literal('text'), text: z.string() }))])),
  name: z.nullish(z.string()),
  reasoning_content: z.nullish(z.string()),
  tool_calls: z.nullish(z.array(callSchema)),
})

/** The messages in a column. `field`: its name; those that begin a conversation ("messages", "prompt") begin with the system or the user. Throws FieldFault. */
export function conversation(value: unknown, field: string): ChatMessage[] {
  if (!Array.isArray(value)) {
    const found = value === undefined || value === null ? 'It is missing' : `It is ${kindOf(value)}`
    throw new FieldFault(field, found, 'Write a list of messages, each with "role" and "content".')
  }
  if (value.length === 0) throw new FieldFault(field, 'It has no message', 'Write at least one message.')
  const messages = value.map((each, i) => message(each, `${field}[${i}]`))
  if (field !== 'messages' && field !== 'prompt') return messages
  if (messages[0]?.role === 'assistant' || messages[0]?.role === 'tool') {
    throw new FieldFault(`${field}[0].role`, `The conversation begins with "${messages[0].role}"`, 'Begin with a "system" or "user" message.')
  }
  return messages
}

function message(value: unknown, field: string): ChatMessage {
  const { success, data, error } = messageSchema.safeParse(value)
  if (!success) {
    const issue = error.issues[0]
    const path = (issue?.path ?? []).map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('')
    throw new FieldFault(field + path, adviceFor(path), 'Roles are "system", "user", "assistant" and "tool"; contents are texts.')
  }
  const { role, content, name, reasoning_content, tool_calls } = data
  if ((content === undefined || content === null) && !tool_calls?.length) throw new FieldFault(`${field}.content`, 'It is missing', 'Write a text.')
  return {
    role,
    content: Array.isArray(content) ? content.map(({ text }) => text).join('') : (content ?? ''),
    ...(name ? { name } : {}),
    ...(reasoning_content ? { reasoning_content } : {}),
    ...(tool_calls?.length ? { tool_calls: tool_calls.map((call, i) => toolCall(call, `${field}.tool_calls[${i}]`)) } : {}),
  }
}

const adviceFor = (path: string): string => (path.startsWith('.content') ? 'It is no text (pictures cannot be read)' : 'It cannot be read')

function toolCall({ function: { name, arguments: given } }: z.infer<typeof callSchema>, field: string): NonNullable<ChatMessage['tool_calls']>[number] {
  let args: unknown = given ?? {}
  if (typeof args === 'string') {
    try {
      args = JSON.parse(args)
    } catch {
      args = null
    }
  }
  if (!isRecord(args)) throw new FieldFault(`${field}.function.arguments`, 'It is no JSON object', 'Write an object: {"a": 1}.')
  const inexact = inexactIn(args)
  if (inexact !== null) throw new FieldFault(`${field}.function.arguments`, `It holds the whole number ${inexact} or one beside it: JavaScript keeps such large ones only roughly, and other digits would be trained`, 'Write it as a text: "…".')
  // A Parquet table has every field of every row: what a call does not have is null there.
  const own = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
  return { type: 'function', function: { name, arguments: own } }
}

/** The first whole number that may have been another when it was read; null without any. No recursion: nobody has limited the levels. */
function inexactIn(value: unknown): number | null {
  const open = [value]
  for (const each of open) {
    if (Number.isInteger(each) && !Number.isSafeInteger(each)) return each as number
    if (typeof each === 'object' && each !== null) for (const inner of Object.values(each) as unknown[]) open.push(inner)
  }
  return null
}

/** What a value is, in words. */
export function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (value === null || value === undefined) return 'missing'
  return typeof value === 'string' ? 'a text' : isRecord(value) ? 'an object' : JSON.stringify(value)
}
