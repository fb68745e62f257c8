/** What the model reads of an OpenEnv observation: its text where it has one, the tool's result, else compact JSON. */

import { boardText, takeBoards } from './boards'
import type { Fields } from './fields'
import { imagesAsJson, takeImages } from './images'
import type { ObservationFrame } from './protocol'
import type { EnvironmentImage } from '../../core/environment'
import { isRecord } from '../../core/records'
import { cutText } from '../../core/text'

/** Longer texts are cut: no context window of ours holds them, and tokenising megabytes would stall the page. */
const MAX_TEXT = 20_000
/** Most base64 characters of pictures in one scene; further ones are left out of it. */
const MAX_PICTURES = 2_000_000

function asText(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > MAX_TEXT ? `${cutText(text, MAX_TEXT)} [cut: ${text.length} characters]` : text
}

/** Text of MCP content parts, pictures as a word. */
function contentText(content: readonly unknown[]): string {
  const parts = content.filter(isRecord)
  const other = (part: Fields) =>
    typeof part['data'] === 'string' && part['data'].startsWith('[') ? part['data'] : `[${asText(part['type']) || 'content'}]`
  return parts.map((part) => (typeof part['text'] === 'string' ? part['text'] : other(part))).join('\n')
}

/**
 * An MCP tool's result as text and whether the tool said that it failed: `data`, else structured content (a lone `result` unwrapped),
 * else the text parts, else the value itself. Both spellings of every key are read.
 */
export function toolResultText(result: unknown): { text: string; failed: boolean } {
  if (!isRecord(result)) return { text: asText(result), failed: false }
  const failed = (result['is_error'] ?? result['isError']) === true
  if (result['data'] !== null && result['data'] !== undefined) return { text: asText(result['data']), failed }
  const structured = result['structured_content'] ?? result['structuredContent']
  if (isRecord(structured)) {
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

/** Where environments put the task of an episode in its metadata, and what else they say there. */
const TASKS = ['question', 'prompt', 'task', 'instruction', 'instructions', 'goal', 'problem']
const REMARKS = ['text', 'message']

const firstText = (fields: Fields, keys: readonly string[]): string =>
  keys.map((key) => fields[key]).find((value): value is string => typeof value === 'string' && value !== '') ?? ''

const hasText = ({ text }: Fields): boolean => typeof text === 'string' && text !== ''

/** What of a conversation came after `seen`, which it begins with, or whose last lines it begins with. */
function news(whole: string, seen: string): string {
  if (whole.startsWith(seen)) return whole.slice(seen.length).trim()
  for (let at = seen.indexOf('\n'); at >= 0; at = seen.indexOf('\n', at + 1)) {
    const end = seen.slice(at + 1)
    if (end.trim() !== '' && (whole === end || whole.startsWith(`${end}\n`))) return whole.slice(end.length).trim()
  }
  return whole
}

/** TextArena repeats the whole game in every message: only what came after `seen` is news. */
function conversation(fields: Fields): string | null {
  const { messages } = fields
  if (typeof fields['prompt'] !== 'string' || !Array.isArray(messages)) return null
  const said = messages.filter(isRecord).flatMap((message) => (typeof message['content'] === 'string' ? [message['content']] : []))
  return said.length > 0 ? said.join('\n') : fields['prompt']
}

export interface ObservedText {
  text: string
  toolError: boolean
  /** To be handed to the next call of the same episode. */
  seen: string
}

/** A frame whose pictures have become placeholders, and the pictures. Also cuts off what is nested too deeply to be handled. */
export function withoutPictures(frame: ObservationFrame): { frame: ObservationFrame; images: EnvironmentImage[] } {
  const observation = takeImages(frame.observation)
  const metadata = takeImages(frame.metadata)
  const plain = { ...frame, observation: observation.value as Fields, metadata: metadata.value as Fields }
  return { frame: plain, images: [...observation.images, ...metadata.images] }
}

/** Fields as compact JSON, boards after it as lines. */
function fieldsText(fields: Fields): string {
  const { boards, rest } = takeBoards(fields)
  const given = Object.entries(rest).filter(([, value]) => value !== null)
  const lines = boards.map(({ name, cells }) => `${name}:\n${boardText(cells)}`)
  if (given.length > 0) lines.unshift(asText(Object.fromEntries(given)))
  return asText(lines.join('\n'))
}

/**
 * What the policy reads of a frame without pictures. Prefers `text`, then an MCP result or error, then a conversation's news since `seen`, then the fields as
 * compact JSON (null fields, reward, done and metadata left out) with boards as lines. Before the fields stands the task that is in the
 * metadata, where it was not `seen` yet; an observation with no fields at all gives way to it, or to the metadata's text or message. An empty
 * `text` is none.
 */
export function observationText(frame: ObservationFrame, seen = ''): ObservedText {
  const fields = frame.observation
  if (isToolAnswer(fields)) {
    const { error } = fields
    if (error !== null && error !== undefined) {
      const message = isRecord(error) ? asText(error['message']) || asText(error['error_type']) : asText(error)
      return { text: `Error: ${message}`, toolError: true, seen }
    }
    if (!hasText(fields)) {
      const { text, failed } = toolResultText(fields['result'])
      return { text: failed ? `Error: ${text}` : text, toolError: failed, seen }
    }
  }
  if (hasText(fields)) return { text: asText(fields['text']), toolError: false, seen }
  const whole = conversation(fields)
  if (whole !== null) return { text: asText(news(whole, seen)), toolError: false, seen: whole }
  const text = fieldsText(fields['text'] === '' ? { ...fields, text: null } : fields)
  const task = firstText(frame.metadata, TASKS)
  if (text === '') return { text: asText(task || firstText(frame.metadata, REMARKS)), toolError: false, seen: task || seen }
  // A server may repeat the task at each step.
  if (task === '' || task === seen) return { text, toolError: false, seen }
  return { text: asText(`${task}\n${text}`), toolError: false, seen: task }
}

/** The observation as plain JSON for a panel: fields cut where they are huge, boards as cells, pictures as base64. */
export function observationScene(frame: ObservationFrame, images: readonly EnvironmentImage[] = []): unknown {
  const text = JSON.stringify(frame.observation)
  const observation = text.length > MAX_TEXT ? { cut: cutText(text, MAX_TEXT) } : frame.observation
  const { boards } = takeBoards(frame.observation)
  let room = MAX_PICTURES
  const pictures = imagesAsJson(images).filter(({ data }) => (room -= data.length) >= 0)
  return { kind: 'openenv', observation, ...(boards.length > 0 && { boards }), ...(pictures.length > 0 && { images: pictures }) }
}
