/** TRL's prompt-only rows: the prompt as a conversation, and every other column for reward functions. */

import { conversation, FieldFault, kindOf } from '../../core/conversation'
import { isRecord } from '../../core/records'
import type { PlacedRow, RowProblem } from '../../core/rows'
import type { ChatMessage } from '../../core/tools'

export interface PromptRow {
  /** "line 3". */
  place: string
  messages: ChatMessage[]
  /** Every column but the prompt. */
  columns: Record<string, unknown>
}

export interface ReadPrompts {
  rows: PromptRow[]
  problems: RowProblem[]
}

/** Columns that TRL's trainer reads itself: no reward function gets them. */
const READ = ['prompt', 'tools', 'chat_template_kwargs']
/** Arguments of reward functions under which no column can come. */
const TAKEN = ['prompts', 'completions', 'completion_ids', 'environments', 'trainer_state', 'log_metric', 'log_extra']

/**
 * Reads rows of {"prompt": text or messages, …}. A text becomes one message of the user; `system_prompt` is put before prompts that have
 * no system message of their own. Never throws: rows that are no good are told.
 */
export function promptRows(placed: readonly PlacedRow[], system_prompt: string): ReadPrompts {
  const read: ReadPrompts = { rows: [], problems: [] }
  for (const { place, row } of placed) {
    try {
      const messages = promptOf(row)
      const begun = system_prompt !== '' && messages[0]?.role !== 'system' ? [{ role: 'system' as const, content: system_prompt }, ...messages] : messages
      refuseUnread(row)
      const columns = Object.fromEntries(Object.entries(row).filter(([name]) => !READ.includes(name)))
      read.rows.push({ place, messages: begun, columns })
    } catch (error) {
      if (!(error instanceof FieldFault)) throw error
      read.problems.push({ place, field: error.field, problem: error.message, advice: error.advice })
    }
  }
  return read
}

function promptOf(row: Record<string, unknown>): ChatMessage[] {
  const has = (field: string): boolean => row[field] !== undefined && row[field] !== null
  if (!has('prompt')) {
    const advice = has('messages') ? 'Move all messages before the answer to "prompt"; what the answer is compared with belongs in "solution".' : 'Add "prompt", a text or a list of messages.'
    throw new FieldFault('prompt', `The column "prompt" is missing${foundColumns(row)}`, advice)
  }
  const answer = ['completion', 'chosen', 'rejected'].find(has)
  if (answer !== undefined) {
    throw new FieldFault(answer, `This row has an answer to learn from, in "${answer}", so it is data for ${answer === 'completion' ? 'SFT' : 'DPO'}`, 'Train it as a stage, or rename the column: "solution" is what accuracy_reward compares with.')
  }
  const { prompt } = row
  if (typeof prompt !== 'string' && !Array.isArray(prompt)) throw new FieldFault('prompt', `It is ${kindOf(prompt)}`, 'Write a text, or a list of messages.')
  if (typeof prompt === 'string') {
    if (prompt.trim() === '') throw new FieldFault('prompt', 'It is empty', 'Write a text.')
    return [{ role: 'user', content: prompt }]
  }
  const messages = conversation(prompt, 'prompt')
  if (messages.at(-1)?.role === 'assistant') throw new FieldFault('prompt', 'It ends with an answer of the assistant', 'End it with a message of the user.')
  return messages
}

/** What would change the prompt and is not done here is refused, not left out. */
function refuseUnread({ tools, chat_template_kwargs: kwargs, ...row }: Record<string, unknown>): void {
  if (Array.isArray(tools) ? tools.length > 0 : tools !== undefined && tools !== null && tools !== '[]') {
    throw new FieldFault('tools', 'Nobody answers tool calls here', 'Leave the column out, or train with an environment that has these tools.')
  }
  const given = isRecord(kwargs) ? Object.values(kwargs).filter((value) => value !== null) : kwargs
  if (Array.isArray(given) ? given.length > 0 : given !== undefined && given !== null) {
    throw new FieldFault('chat_template_kwargs', 'A row cannot set the template’s options in GRPO', 'Leave the column out; enable_thinking among the settings holds for all rows.')
  }
  const taken = TAKEN.find((name) => name in row)
  if (taken !== undefined) throw new FieldFault(taken, 'TRL gives reward functions something else under this name', 'Rename the column.')
}

function foundColumns(row: Record<string, unknown>): string {
  const names = Object.keys(row)
  if (names.length === 0) return ''
  return `; there ${names.length === 1 ? 'is' : 'are'} ${names.slice(0, 8).map((name) => `"${name}"`).join(', ')}${names.length > 8 ? ' and others' : ''}`
}
