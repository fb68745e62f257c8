/** Our reading of tokenizer.json and tokenizer_config.json against transformers.js'. */

import { readFileSync } from 'node:fs'
import { PreTrainedTokenizer } from '@huggingface/transformers'
import { describe, expect, it } from 'vitest'
import type { ChatMessage, Tool } from '../core/tools'
import { ModelTokenizer } from './tokenizer'

const read = (file: string): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL(`../../public/models/tiny-qwen3/${file}`, import.meta.url), 'utf8')) as Record<string, unknown>
const [FILE, CONFIG] = [read('tokenizer.json'), read('tokenizer_config.json')]

const TOOL: Tool = { type: 'function', function: { name: 'move', description: 'Goes “there”.', parameters: { type: 'object', properties: { steps: { type: 'integer', description: 'How far' } }, required: ['steps'] } } }
const TALK: ChatMessage[] = [
  { role: 'system', content: 'Play.' },
  { role: 'user', content: 'Your turn: é\n' },
  { role: 'assistant', content: 'I go.', tool_calls: [{ type: 'function', function: { name: 'move', arguments: { steps: 2 } } }] },
  { role: 'tool', name: 'move', content: '{"at": 2}' },
]

function both(change: Record<string, unknown> = {}) {
  const config = { ...CONFIG, ...change }
  return { ours: new ModelTokenizer(FILE, config), theirs: new PreTrainedTokenizer(FILE, config) }
}
type Options = Parameters<ModelTokenizer['apply_chat_template']>[1]
const options = (change: Partial<Options> = {}): Options => ({ tokenize: false, tools: null, add_generation_prompt: true, enable_thinking: false, ...change })

describe('the tokenizer', () => {
  it('has transformers.js’ ids and end of text', () => {
    const { ours, theirs } = both()
    for (const text of ['', 'Move to 12!\n\n<|im_start|>user\nhé <think></think>', '<tool_call>{"name": "move"}</tool_call>']) {
      expect(ours.encode(text, { add_special_tokens: false })).toEqual(theirs.encode(text, { add_special_tokens: false }))
    }
    expect(ours.eos_token).toBe(theirs.eos_token)
    expect(ours.eos_token).toEqual(expect.any(String))
  })

  it('writes what its template writes there', () => {
    const { ours, theirs } = both()
    for (const change of [{}, { tools: [TOOL] }, { enable_thinking: true, tools: [TOOL] }, { add_generation_prompt: false }]) {
      const given = options(change)
      expect(ours.apply_chat_template(TALK, given)).toBe(theirs.apply_chat_template(TALK as never, given as never))
    }
    expect(ours.apply_chat_template(TALK, options({ tools: [TOOL] }))).toContain('How far')
  })

  it('takes of several templates the one for tools, and knows the special tokens', () => {
    const chat_template = [
      { name: 'default', template: '{{ eos_token }} plain {{ messages | length }}' },
      { name: 'tool_use', template: '{{ pad_token }} {{ tools[0].function.name }}' },
    ]
    const { ours, theirs } = both({ chat_template, pad_token: { __type: 'AddedToken', content: '<pad>' } })
    for (const given of [options(), options({ tools: [TOOL] })]) expect(ours.apply_chat_template(TALK, given)).toBe(theirs.apply_chat_template(TALK as never, given as never))
    expect(ours.apply_chat_template(TALK, options({ tools: [TOOL] }))).toBe('<pad> move')
  })

  it('says what is missing', () => {
    expect(() => both({ chat_template: undefined }).ours.apply_chat_template(TALK, options())).toThrow('It has no chat template.')
    const chat_template = [{ name: 'rag', template: 'x' }]
    expect(() => both({ chat_template }).ours.apply_chat_template(TALK, options())).toThrow('Of its chat templates (rag) none is the default.')
    expect(() => new ModelTokenizer(FILE, { eos_token: { id: 3 } })).toThrow('Its eos_token is no token.')
  })
})
