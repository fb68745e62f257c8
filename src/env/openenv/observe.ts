/** What the model reads of an OpenEnv observation: its text where it has one, the tool's result, else compact JSON. */

import type { ObservationFrame } from './protocol'

/** Longer texts are cut: no context window of ours holds them, and tokenising megabytes would stall the page. */
const MAX_TEXT = 20_000
const IMAGE_NAME = /^(camera_)?(screenshot|image|pixels|frame|screen)/i
const IMAGE_HEAD = /^(data:image\/|\/9j\/|iVBORw0KGgo|R0lGOD|UklGR)/

type Fields = Record<string, unknown>

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value without its pictures, which arrive as base64 or as arrays of numbers. */
function withoutImages(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return IMAGE_HEAD.test(value) && value.length > 64 ? '[image]' : value
  if (Array.isArray(value)) return IMAGE_NAME.test(name) && value.length > 64 ? '[image]' : value.map((item) => withoutImages(item))
  if (!isFields(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutImages(item, key)]))
}

function asText(value: unknown): string {
  if (value === null || value === undefined) return ''
  const plain = withoutImages(value)
  const text = typeof plain === 'string' ? plain : JSON.stringify(plain)
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} [cut: ${text.length} characters]` : text
}

/** Text of MCP content parts, pictures as a word. */
function contentText(content: readonly unknown[]): string {
  const parts = content.filter(isFields)
  return parts.map((part) => (typeof part['text'] === 'string' ? part['text'] : `[${asText(part['type']) || 'content'}]`)).join('\n')
}

/**
 * An MCP tool's result as text and whether the tool said that it failed: `data`, else structured content (a lone `result` unwrapped),
 * else the text parts, else the value itself. Both spellings of every key are read.
 */
export function toolResultText(result: unknown): { text: string; failed: boolean } {
  if (!isFields(result)) return { text: asText(result), failed: false }
  const failed = (result['is_error'] ?? result['isError']) === true
  if (result['data'] !== null && result['data'] !== undefined) return { text: asText(result['data']), failed }
  const structured = result['structured_content'] ?? result['structuredContent']
  if (isFields(structured)) {
    const lone = Object.keys(structured).length === 1 && Object.hasOwn(structured, 'result')
    return { text: asText(lone ? structured['result'] : structured), failed }
  }
  if (Array.isArray(result['content'])) return { text: asText(contentText(result['content'])), failed }
  return { text: asText(result), failed }
}

/** Whether an observation is an MCP environment's answer to a tool call. */
function isToolAnswer(fields: Fields): boolean {
  return typeof fields['tool_name'] === 'string' && (Object.hasOwn(fields, 'result') || Object.hasOwn(fields, 'error'))
}

/** TextArena repeats the whole game in every message: only what came after `seen` is news. */
function conversation(fields: Fields): string | null {
  const { messages } = fields
  if (typeof fields['prompt'] !== 'string' || !Array.isArray(messages)) return null
  const said = messages.filter(isFields).map((message) => asText(message['content']))
  return said.length > 0 ? said.join('\n') : fields['prompt']
}

export interface ObservedText {
  text: string
  toolError: boolean
  /** To be handed to the next call of the same episode. */
  seen: string
}

/**
 * What the policy reads. Prefers `text`, then an MCP result or error, then a conversation's news since `seen`, then the fields as
 * compact JSON (null fields, pictures, reward, done and metadata left out). An observation with no fields at all gives way to the
 * metadata's question, prompt, text or message, where environments put their task.
 */
export function observationText(frame: ObservationFrame, seen = ''): ObservedText {
  const fields = frame.observation
  if (isToolAnswer(fields)) {
    const { error } = fields
    if (error !== null && error !== undefined) {
      const message = isFields(error) ? asText(error['message']) || asText(error['error_type']) : asText(error)
      return { text: `Error: ${message}`, toolError: true, seen }
    }
    if (typeof fields['text'] !== 'string') {
      const { text, failed } = toolResultText(fields['result'])
      return { text: failed ? `Error: ${text}` : text, toolError: failed, seen }
    }
  }
  if (typeof fields['text'] === 'string') return { text: asText(fields['text']), toolError: false, seen }
  const whole = conversation(fields)
  if (whole !== null) {
    const text = whole.startsWith(seen) ? whole.slice(seen.length).trim() : whole
    return { text, toolError: false, seen: whole }
  }
  const given = Object.entries(fields).filter(([, value]) => value !== null)
  if (given.length > 0) return { text: asText(Object.fromEntries(given)), toolError: false, seen }
  const task = ['question', 'prompt', 'text', 'message'].map((key) => frame.metadata[key]).find((value) => typeof value === 'string')
  return { text: asText(task), toolError: false, seen }
}

/** The observation as plain JSON for a panel, without pictures and cut where it is huge. */
export function observationScene(frame: ObservationFrame): unknown {
  const observation = withoutImages(frame.observation)
  const text = JSON.stringify(observation)
  return { kind: 'openenv', observation: text.length > MAX_TEXT ? { cut: text.slice(0, MAX_TEXT) } : observation }
}
