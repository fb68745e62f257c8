/**
 * Rows to tokens and masks, with the loaded model's chat template. 1 stands where a token is a target:
 *
 * - prompt and completion: the completion;
 * - messages, text: every token, or with assistant_only_loss what the assistant wrote (of prompt and completion: both must hold);
 * - prompt, chosen, rejected: the answer, or with assistant_only_loss what of it the assistant wrote.
 *
 * As in TRL, but for two things: assistant_only_loss acts on preference rows too, so that no tool's result counts as an answer; and on
 * Qwen2.5 the newline behind "assistant", which the template always writes, is no target.
 */

import type { Author } from '../../core/episode'
import { describeError } from '../../core/errors'
import type { StageSettings } from '../../core/stage'
import type { ChatMessage, Tool } from '../../core/tools'
import type { AuthoredTokens, ChatFormat } from '../../rollout/chat'
import type { DatasetRow, PreferenceRow, Said, SftRow } from './formats'
import { readRow } from './formats'
import type { PlacedRow, RowProblem } from '../../core/rows'

/** Arrays are [tokens]. */
export interface Example {
  place: string
  ids: number[]
  /** mask[0] is 0: nothing predicts the first token. */
  mask: (0 | 1)[]
  /** 'model' where the token is a target. */
  authors: Author[]
  promptLength: number
  /** Tokens that were cut off at the end. */
  cut: number
}

export interface PairExample {
  place: string
  chosen: Example
  rejected: Example
}

/** Data that can be trained on, and what became of the rest. */
export interface Prepared<E> {
  examples: E[]
  /** Rows that cannot be read, or do not fit this stage. */
  problems: RowProblem[]
  /** Rows with nothing to train on within max_length. */
  dropped: RowProblem[]
  /** Rows of which the end was cut off. */
  shortened: number
  /** Rows whose prompt is written otherwise before an answer than by itself: TRL warns of these. The answer begins where both part. */
  mismatched: number
}

type Settings = Pick<StageSettings, 'max_length' | 'assistant_only_loss'>

/** SFT's examples. */
export function sftExamples(rows: readonly PlacedRow[], chat: ChatFormat, settings: Settings): Prepared<Example> {
  return prepare<Example>(rows, chat, (row, format) => {
    if (row.form === 'preference') return { wrong: 'These are pairs of answers', advice: 'Choose DPO for them, or give "prompt" and "completion".' }
    const whole = sftTokens(row, format, settings)
    const example = cut(row.place, whole, settings.max_length)
    return { example: example.mask.includes(1) ? example : null, parts: [example], mismatch: whole.mismatch }
  })
}

/** DPO's pairs. */
export function dpoExamples(rows: readonly PlacedRow[], chat: ChatFormat, settings: Settings): Prepared<PairExample> {
  return prepare<PairExample>(rows, chat, (row, format) => {
    if (row.form !== 'preference') return { wrong: 'This is one answer, not two', advice: 'Choose SFT for it, or give "prompt", "chosen" and "rejected".' }
    const sides = [row.chosen, row.rejected].map((answer) => answerTokens(row, answer, format, settings.assistant_only_loss))
    // Both answers continue one prompt: what of it either writes otherwise belongs to both.
    const shared = Math.min(...sides.map(({ promptLength }) => promptLength))
    const [one, other] = sides.map((side) => cut(row.place, masked(side, shared), settings.max_length)) as [Example, Example]
    const both = one.mask.includes(1) && other.mask.includes(1)
    return { example: both ? { place: row.place, chosen: one, rejected: other } : null, parts: [one, other], mismatch: sides.some(({ mismatch }) => mismatch) }
  })
}

type Made<E> = { wrong: string; advice: string } | { example: E | null; parts: Example[]; mismatch: boolean }

function prepare<E>(rows: readonly PlacedRow[], chat: ChatFormat, make: (row: DatasetRow, format: ChatFormat) => Made<E>): Prepared<E> {
  const found: Prepared<E> = { examples: [], problems: [], dropped: [], shortened: 0, mismatched: 0 }
  const formats = new Map<string, ChatFormat>()
  for (const placed of rows) {
    const { place } = placed
    const read = readRow(placed)
    if (!read.ok) {
      found.problems.push(read.problem)
      continue
    }
    try {
      const made = make(read.row, formatFor(read.row, chat, formats))
      if ('wrong' in made) {
        found.problems.push({ place, field: '', problem: made.wrong, advice: made.advice })
        continue
      }
      if (made.mismatch) found.mismatched++
      if (made.parts.some((part) => part.cut > 0)) found.shortened++
      if (made.example) found.examples.push(made.example)
      else found.dropped.push({ place, field: '', ...nothingLeft(made.parts) })
    } catch (error) {
      found.problems.push({ place, field: '', problem: describeError(error).replace(/\.$/, ''), advice: 'Change the row, or leave it out.' })
    }
  }
  return found
}

function nothingLeft(parts: readonly Example[]): Pick<RowProblem, 'problem' | 'advice'> {
  const longest = Math.max(...parts.map(({ ids, cut: gone }) => ids.length + gone))
  if (parts.some((part) => part.cut > 0)) return { problem: `It has ${longest} tokens, and max_length leaves none to train on`, advice: 'Raise max_length, or shorten the prompt.' }
  return { problem: 'It has no token to train on', advice: 'Give the assistant something to say.' }
}

function formatFor({ chat_template_kwargs: kwargs }: DatasetRow, chat: ChatFormat, known: Map<string, ChatFormat>): ChatFormat {
  const key = JSON.stringify(kwargs)
  const format = known.get(key) ?? chat.withOptions(kwargs)
  known.set(key, format)
  return format
}

/** Tokens whose targets are still to be marked. */
interface Written extends AuthoredTokens {
  /** Tokens that are as the prompt writes them by itself; what comes behind is the answer. */
  promptLength: number
  mismatch: boolean
  /** Only what the assistant wrote is a target. */
  assistantOnly: boolean
}

interface Whole extends Written {
  mask: (0 | 1)[]
}

function sftTokens(row: SftRow, format: ChatFormat, { assistant_only_loss }: Settings): Whole {
  if (row.form === 'prompt-completion') return masked(answerTokens(row, row.completion, format, assistant_only_loss))
  if (row.form === 'text') return masked(behind(null, format.rawText(ended(row.text, format)), false))
  return masked(behind(null, written(format, row.messages, row.tools, false, assistant_only_loss), assistant_only_loss))
}

/** A prompt with one answer to it. */
function answerTokens({ prompt, tools }: Pick<PreferenceRow, 'prompt' | 'tools'>, answer: Said, format: ChatFormat, assistantOnly: boolean): Written {
  if (typeof prompt === 'string' && typeof answer === 'string') {
    return behind(format.rawText(prompt), format.rawText(prompt + ended(answer, format)), false)
  }
  if (typeof prompt === 'string' || typeof answer === 'string') throw new RangeError('a prompt and its answer are both texts or both conversations')
  return behind(written(format, prompt, tools, true, assistantOnly), written(format, [...prompt, ...answer], tools, false, assistantOnly), assistantOnly)
}

/** Plain text ends with the end token; a conversation ends as its template says. */
function ended(text: string, format: ChatFormat): string {
  return text.endsWith(format.endOfSequence) ? text : text + format.endOfSequence
}

function written(format: ChatFormat, messages: readonly ChatMessage[], tools: readonly Tool[], next: boolean, assistantOnly: boolean): AuthoredTokens {
  return assistantOnly ? format.grownConversation(messages, tools, next) : format.conversation(messages, tools, next)
}

/** The whole and where its answer begins: behind the prompt, or where the whole is no longer what the prompt is by itself. */
function behind(prompt: AuthoredTokens | null, { ids, authors }: AuthoredTokens, assistantOnly: boolean): Written {
  const parts = prompt?.ids.findIndex((id, t) => ids[t] !== id) ?? 0
  const promptLength = parts < 0 ? (prompt?.ids.length ?? 0) : parts
  return { ids, authors, promptLength, mismatch: prompt !== null && parts >= 0, assistantOnly }
}

function masked(whole: Written, promptLength = whole.promptLength): Whole {
  const isTarget = (t: number): boolean => t > 0 && t >= promptLength && (!whole.assistantOnly || whole.authors[t] === 'model')
  return { ...whole, promptLength, mask: whole.ids.map((_, t): 0 | 1 => (isTarget(t) ? 1 : 0)) }
}

/** keep_start. */
function cut(place: string, { ids, authors, mask, promptLength }: Whole, maxLength: number): Example {
  const kept = mask.slice(0, maxLength)
  return {
    place,
    ids: ids.slice(0, maxLength),
    mask: kept,
    authors: kept.map((m, t) => (m === 1 ? 'model' : authors[t] === 'environment' ? 'environment' : 'template')),
    promptLength: Math.min(promptLength, maxLength),
    cut: Math.max(0, ids.length - maxLength),
  }
}
