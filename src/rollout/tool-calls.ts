/**
 * Finds Qwen's tool calls in the text of one turn: `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`.
 *
 * Unlike TRL, where a malformed call turns the whole turn into a plain answer, each malformed call is reported with a
 * sentence for the model, so that it can try again.
 */

import type { ToolCall } from '../core/tools'
import { isRecord } from '../core/records'

export type ParsedCall = { kind: 'call'; call: ToolCall } | { kind: 'malformed'; error: string }

export interface ParsedTurn {
  /** Text outside calls, without reasoning, trimmed. */
  content: string
  /** Calls in the order they were written. */
  calls: ParsedCall[]
}

const OPEN = '<tool_call>'
const CLOSE = '</tool_call>'

/** Parses a turn's text (without its end-of-turn token). Calls inside `<think>`, closed or not, are ignored. Never throws. */
export function parseTurn(text: string): ParsedTurn {
  const visible = text.replaceAll(/<think>[^]*?(?:<\/think>|$)/g, '')
  const [before = '', ...parts] = visible.split(OPEN)
  let content = before
  const calls: ParsedCall[] = []
  for (const part of parts) {
    const end = part.indexOf(CLOSE)
    if (end < 0) {
      calls.push({ kind: 'malformed', error: `The tool call was not closed with ${CLOSE}.` })
      continue
    }
    calls.push(parseCall(part.slice(0, end)))
    content += part.slice(end + CLOSE.length)
  }
  return { content: content.trim(), calls }
}

/** What was thought in a turn, without the line breaks around it; '' where nothing was. */
export function thoughtIn(text: string): string {
  const thoughts = [...text.matchAll(/<think>([^]*?)(?:<\/think>|$)/g)].map(([, thought = '']) => thought.replaceAll(/^\n+|\n+$/g, ''))
  return thoughts.filter((thought) => thought !== '').join('\n')
}

function parseCall(json: string): ParsedCall {
  const malformed = (error: string): ParsedCall => ({ kind: 'malformed', error })
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return malformed('The tool call is not valid JSON.')
  }
  if (!isRecord(value)) return malformed('The tool call is not a JSON object.')
  const { name } = value
  if (typeof name !== 'string' || name === '') return malformed('The tool call has no "name".')
  const args = Object.hasOwn(value, 'arguments') ? value.arguments : {}
  if (!isRecord(args)) return malformed('The "arguments" of the tool call are not a JSON object.')
  return { kind: 'call', call: { name, arguments: args } }
}

/** A failed call's result as the model reads it; the built-in environments write their refusals in the same way. */
export function errorResult(sentence: string): string {
  return `Error: ${sentence}`
}

/** A call as the model must write it: JSON as Python does, with a blank after every comma and colon. */
export function writeCall({ name, arguments: args }: ToolCall): string {
  return `{"name": ${JSON.stringify(name)}, "arguments": ${pythonJson(args)}}`
}

function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}: ${pythonJson(member)}`).join(', ')}}`
}
