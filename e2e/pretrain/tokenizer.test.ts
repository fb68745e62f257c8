import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { AutoTokenizer, env, type PreTrainedTokenizer } from '@huggingface/transformers'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ToolCall } from '../../src/core/tools'
import { builtinEnvironment } from '../../src/env/builtin/index'
import { PRESETS } from '../../src/env/presets'
import { ChatFormat } from '../../src/rollout/chat'
import { modelFiles } from './files'
import { preTokens } from './bpe'
import { addedTokenId } from './tokenizer'

const MODELS = fileURLToPath(new URL('../../public/models', import.meta.url))

let tokenizer: PreTrainedTokenizer
let files: Record<string, string>
beforeAll(async () => {
  files = modelFiles()
  env.localModelPath = MODELS
  env.allowRemoteModels = false
  tokenizer = await AutoTokenizer.from_pretrained('tiny-qwen3')
})

const encode = (text: string): number[] => tokenizer.encode(text, { add_special_tokens: false })
const pieces = (text: string): string[] => encode(text).map((id) => tokenizer.decode([id]))
const callText = (call: ToolCall): string =>
  `<tool_call>\n${JSON.stringify(call).replaceAll('":', '": ').replaceAll(',"', ', "')}\n</tool_call><|im_end|>`

describe('tokenizer of the tiny model', () => {
  it('is what the shipped files hold', () => {
    for (const [name, content] of Object.entries(files)) {
      expect(readFileSync(`${MODELS}/tiny-qwen3/${name}`, 'utf8') === content, name).toBe(true)
    }
  })

  it('has 1,024 ids and Qwen3\'s names for the special ones', () => {
    const json = JSON.parse(files['tokenizer.json'] ?? '')
    const ids = [...Object.values<number>(json.model.vocab), ...json.added_tokens.map((t: { id: number }) => t.id)]
    expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 1024 }, (_, i) => i))
    expect(json.added_tokens.filter((t: { special: boolean }) => t.special)).toHaveLength(3)
    for (const name of ['<|im_end|>', '<tool_call>', '</tool_response>', '<think>'] as const) {
      expect(encode(name)).toEqual([addedTokenId(name)])
    }
  })

  it('gives any text back', () => {
    const odd = ' \u0000\u001f\u007f\u00a0\u2028 end  '
    const texts = ['Grüße, 你好! 🎉🏳️‍🌈\r\n\t x', 'don\'t DON\'T we\'LL', odd, '1234.5e-6', 'עברית ไทย 한국어']
    for (const text of texts) expect(tokenizer.decode(encode(text))).toBe(text.normalize('NFC'))
    let all = ''
    for (let code = 1; code < 0x3000; code += 7) all += String.fromCodePoint(code)
    expect(tokenizer.decode(encode(all))).toBe(all.normalize('NFC'))
  })

  it('cuts text where transformers.js cuts it', () => {
    const text = 'It\'s 12 o\'CLOCK: {"a": "b_c"}}\n\n  x\r\n   \tend. '
    expect(preTokens(text)).toEqual(tokenizer._tokenizer.pre_tokenizer?.(text))
  })

  it('decides every argument in one token and a call in twenty', () => {
    const left = pieces(callText({ name: 'lane_change', arguments: { direction: 'left' } }))
    const right = pieces(callText({ name: 'lane_change', arguments: { direction: 'right' } }))
    expect(left.length).toBe(20)
    expect(left.filter((piece, i) => piece !== right[i])).toEqual(['left'])
    const moves = ['left', 'stay', 'right'].map((to) => encode(callText({ name: 'move', arguments: { to } })))
    expect(new Set(moves.map((ids) => ids.length)).size).toBe(1)
    const stop = encode(callText({ name: 'emergency_stop', arguments: {} }))
    const observe = encode(callText({ name: 'observe', arguments: {} }))
    const change = encode(callText({ name: 'lane_change', arguments: { direction: 'left' } }))
    const names = [stop, observe, change].map((ids) => ids[6])
    expect(new Set(names).size).toBe(3)
    expect(stop.slice(0, 6)).toEqual(change.slice(0, 6))
  })

  it('reads observations digit by digit and columns as letters', () => {
    expect(pieces('dog: distance 18, speed 50, free left')).toEqual(
      ['dog', ':', ' distance', ' ', '1', '8', ',', ' speed', ' ', '5', '0', ',', ' free', ' left'],
    )
    expect(pieces('height 6, ball f, paddle e')).toEqual(['height', ' ', '6', ',', ' ball', ' f', ',', ' paddle', ' e'])
    for (const letter of 'abcdef') expect(encode(` ${letter}`)).toHaveLength(1)
    // The words to repeat are the same tokens in the request and in the call.
    expect(pieces('message "river stone"').slice(2, 4)).toEqual(['river', ' stone'])
  })

  it('keeps the prompts short', async () => {
    const chat = new ChatFormat(tokenizer, { enable_thinking: false })
    const length = async (id: 'lane' | 'catch' | 'echo') => {
      const preset = PRESETS.find((p) => p.id === id)
      const environment = builtinEnvironment(id)
      const session = await environment.open()
      const { text } = await session.reset({ seed: 1, episode_id: 'e', split: 'train' })
      const messages = [{ role: 'system' as const, content: preset?.system_prompt ?? '' }]
      return chat.prompt(messages, environment.tools, text).ids.length
    }
    expect(await length('lane')).toBeLessThan(265)
    expect(await length('catch')).toBeLessThan(190)
    expect(await length('echo')).toBeLessThan(180)
  })

  it('spends few tokens on plain English', () => {
    const text = 'Write a short story about a dog that walks home in the rain, and say what it learned.'
    expect(encode(text).length).toBeLessThan(text.split(' ').length * 2.2)
  })
})
