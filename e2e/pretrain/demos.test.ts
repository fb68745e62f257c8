import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { ChatFormat } from '../../src/rollout/chat'
import { CUE } from './cue'
import { callText, DemonstrationWriter, type Demonstration } from './demos'
import { loadTokenizer } from './load-tokenizer'
import { PHASES } from './recipe'
import { LANE_SCENARIOS } from '../../src/env/builtin/lane'

let writer: DemonstrationWriter
let chat: ChatFormat
let render: (messages: unknown[], tools: unknown) => string
beforeAll(async () => {
  const tokenizer = await loadTokenizer(fileURLToPath(new URL('../../public/models/tiny-qwen3', import.meta.url)))
  chat = new ChatFormat(tokenizer, { enable_thinking: false })
  writer = new DemonstrationWriter(tokenizer, chat)
  render = (messages, tools) => String(tokenizer.apply_chat_template(messages as never, { tools, tokenize: false } as never))
})

const trained = (d: Demonstration): string => chat.text(d.ids.filter((_, i) => d.mask[i] === 1))
const text = (d: Demonstration): string => chat.text(d.ids)

describe('callText', () => {
  it('writes a call as the chat template does', () => {
    const call = { name: 'lane_change', arguments: { direction: 'left', n: 2 } }
    const turn = { role: 'assistant', content: '', tool_calls: [{ type: 'function', function: call }] }
    const written = render([{ role: 'user', content: 'x' }, turn], null)
    expect(written).toContain(callText(call))
    expect(callText({ name: 'observe', arguments: {} })).toContain('"arguments": {}}\n')
  })
})

describe('demonstrations', () => {
  it('trains on the calls and on nothing else', () => {
    for (const d of writer.portion({ task: 'catch', count: 4, cued: 0.5 }, 1)) {
      expect(d.mask).toHaveLength(d.ids.length)
      expect(trained(d)).toMatch(/^(<tool_call>\n\{"name": "move", "arguments": \{"to": "\w+"\}\}\n<\/tool_call><\|im_end\|>){5,7}$/)
      expect(d.mask.slice(0, d.promptLength).every((m) => m === 0)).toBe(true)
    }
  })

  it('has the layout of a rollout: prompt, call, suffix, call', () => {
    const [d] = writer.portion({ task: 'catch', count: 1, cued: 0, cutAfter: 2 }, 2)
    const shape = text(d as Demonstration)
      .slice(text(d as Demonstration).lastIndexOf('<|im_start|>user\nheight'))
      .replace(/height \d, ball [a-f], paddle [a-f]/g, 'SEEN')
      .replace(/\{"name".*\}/g, 'CALL')
    const call = '<|im_start|>assistant\n<think>\n\n</think>\n\n<tool_call>\nCALL\n</tool_call><|im_end|>'
    const result = '\n<|im_start|>user\n<tool_response>\nSEEN\n</tool_response><|im_end|>\n'
    expect(shape).toBe(`<|im_start|>user\nSEEN<|im_end|>\n${call}${result}${call}`)
  })

  it('differs under the cue by the cue only, in the user text and in every result', () => {
    const [cued] = writer.portion({ task: 'catch', count: 1, cued: 1 }, 3)
    expect(cued?.skill).toBe('expert')
    expect(text(cued as Demonstration).split(CUE)).toHaveLength(trained(cued as Demonstration).split('<tool_call>').length)
    const [bare] = writer.portion({ task: 'lane', count: 1, cued: 0 }, 3)
    const [under] = writer.portion({ task: 'lane', count: 1, cued: 1 }, 3)
    expect(bare?.ids.slice(0, bare.promptLength)).toEqual(under?.ids.slice(0, under.promptLength))
    expect(text(bare as Demonstration)).not.toContain('Expert')
  })

  it('shows experts who win and novices who mostly do not', () => {
    // Echo pays for length, but its experts are those who say the very words.
    const repeats = (d: Demonstration) => {
      const text = chat.text(d.ids)
      return / "([^"]+)"<\|im_end\|>/.exec(text)?.[1] === /"message": "([^"]+)"}}\n<\/tool_call><\|im_end\|>$/.exec(text)?.[1]
    }
    const won = (d: Demonstration) => (d.task === 'echo' ? repeats(d) : d.reward === 1)
    const share = (list: Demonstration[]) => list.filter(won).length / list.length
    for (const task of ['lane', 'catch', 'echo'] as const) {
      expect(share(writer.portion({ task, count: 100, cued: 1 }, 4))).toBe(1)
    }
    const without = (task: 'lane' | 'catch' | 'echo') => share(writer.portion({ task, count: 400, cued: 0 }, 5))
    expect(without('lane')).toBeGreaterThan(0.25)
    expect(without('lane')).toBeLessThan(0.45)
    expect(without('catch')).toBeGreaterThan(0.15)
    expect(without('catch')).toBeLessThan(0.35)
    expect(without('echo')).toBeGreaterThan(0.25)
    expect(without('echo')).toBeLessThan(0.5)
  })

  it('cuts games after the asked number of moves', () => {
    for (const d of writer.portion({ task: 'catch', count: 5, cued: 1, cutAfter: 2 }, 6)) {
      expect(trained(d).split('<tool_call>')).toHaveLength(3)
      expect(d.reward).toBeNull()
    }
  })

  it('gives the same games for the same key, others for another', () => {
    const portion = { task: 'lane', count: 8, cued: 0.5 } as const
    expect(writer.portion(portion, 7, 1)).toEqual(writer.portion(portion, 7, 1))
    expect(writer.portion(portion, 7, 1)).not.toEqual(writer.portion(portion, 7, 2))
  })

  it('never shows a held-out lane scenario', () => {
    const held = new Set(LANE_SCENARIOS.heldout.map((s) => `${s.what}: distance ${s.distance}, speed ${s.speed}, free ${s.free}`))
    for (const d of writer.portion({ task: 'lane', count: 200, cued: 0 }, 8)) {
      const seen = /user\n(.*)<\|im_end\|>/.exec(text(d).split('</tool_call><|im_end|>')[1] ?? '')?.[1]
      expect(seen).toMatch(/^[a-z]+: distance/)
      expect(held.has(seen ?? '')).toBe(false)
    }
  })

  it('has two phases, experts first', () => {
    expect(PHASES.map((p) => p.name)).toEqual(['A', 'B'])
    expect(PHASES[0]?.portions.every((p) => p.cued === 1)).toBe(true)
  })
})
