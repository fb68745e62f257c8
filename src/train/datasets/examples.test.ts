/** Masks on the real tokenizers of Qwen3 and Qwen2.5. */
import { describe, expect, it } from 'vitest'
import { ChatFormat } from '../../rollout/chat'
import { qwen25Tokenizer, qwen3Tokenizer } from '../../rollout/testing/tokenizers'
import { dpoExamples, type Example, sftExamples } from './examples'

const tokenizer = qwen3Tokenizer()
const on = new ChatFormat(tokenizer, { enable_thinking: true })
const off = new ChatFormat(tokenizer, { enable_thinking: false })
const old = new ChatFormat(qwen25Tokenizer(), { enable_thinking: false })
const all = { max_length: 1024, assistant_only_loss: false }
const own = { max_length: 1024, assistant_only_loss: true }

const THOUGHT = '<think>\n\n</think>\n\n'
const rows = (...given: Record<string, unknown>[]) => given.map((row, i) => ({ place: `line ${i + 1}`, row }))
const call = (x: number) => ({ type: 'function', function: { name: 'go', arguments: { x, y: 'a b' } } })
const TOOL = { type: 'function', function: { name: 'go', description: 'Goes', parameters: { type: 'object', properties: { x: { type: 'integer' } } } } }
const played = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Go' },
  { role: 'assistant', content: '', tool_calls: [call(1)] },
  { role: 'tool', name: 'go', content: 'ok <|im_end|>' },
  { role: 'assistant', content: 'Again', tool_calls: [call(2), call(3)] },
  { role: 'tool', name: 'go', content: '' },
  { role: 'tool', name: 'go', content: 'end' },
  { role: 'assistant', content: 'Done' },
  { role: 'user', content: 'Thanks' },
  { role: 'assistant', content: '<think>\nWell.\n</think>\n\nBye' },
]

const only = <E>(prepared: { examples: E[]; problems: unknown[]; dropped: unknown[] }): E => {
  expect([prepared.problems, prepared.dropped]).toEqual([[], []])
  return prepared.examples[0] as E
}
const text = (chat: ChatFormat, { ids }: Pick<Example, 'ids'>) => chat.text(ids)
/** Text of each unbroken piece of targets. */
const targets = (chat: ChatFormat, { ids, mask }: Example): string[] => {
  const parts: number[][] = []
  ids.forEach((id, t) => {
    if (mask[t] !== 1) return
    if (mask[t - 1] === 1) parts.at(-1)?.push(id)
    else parts.push([id])
  })
  return parts.map((part) => chat.text(part))
}

describe('messages', () => {
  it('train every token but the first without assistant_only_loss, in the stock template’s own rendering', () => {
    const plain = played.filter(({ content }) => !content.includes('<|'))
    const example = only(sftExamples(rows({ messages: plain, tools: [TOOL] }), on, all))
    const stock = tokenizer.apply_chat_template(plain, { tokenize: false, tools: [TOOL] } as object) as unknown as string
    expect(text(on, example)).toBe(stock)
    expect(example.ids).toEqual(tokenizer.encode(stock, { add_special_tokens: false }))
    expect(example.mask).toEqual(example.ids.map((_, t) => (t === 0 ? 0 : 1)))
  })
  it('train the assistant alone with it: every turn with its thought and its end, as TRL’s training template marks them', () => {
    for (const chat of [on, off]) {
      const example = only(sftExamples(rows({ messages: played, tools: [TOOL] }), chat, own))
      const written = (x: number) => `<tool_call>\n{"name": "go", "arguments": {"x": ${x}, "y": "a b"}}\n</tool_call>`
      expect(targets(chat, example)).toEqual([
        `${THOUGHT}${written(1)}<|im_end|>\n`,
        `${THOUGHT}Again\n${written(2)}\n${written(3)}<|im_end|>\n`,
        `${THOUGHT}Done<|im_end|>\n`,
        `<think>\nWell.\n</think>\n\nBye<|im_end|>\n`,
      ])
      const between = '<|im_start|>user\n<tool_response>\n\n</tool_response>\n<tool_response>\nend\n</tool_response><|im_end|>\n<|im_start|>assistant\n'
      expect(text(chat, example)).toContain(`${written(3)}<|im_end|>\n${between}${THOUGHT}Done<|im_end|>\n<|im_start|>user\nThanks<|im_end|>\n`)
    }
  })
  it('keep blanks at the beginning of an answer and around a thought: of them the template takes line breaks alone', () => {
    const said = [
      ['    return x', '<think>\n\n</think>\n\n    return x'],
      ['\n\t- one\n', '<think>\n\n</think>\n\n\t- one\n'],
      ['<think>\n  a \n</think>\n\n b', '<think>\n  a \n</think>\n\n b'],
      ['\u00a0', '<think>\n\n</think>\n\n\u00a0'],
    ] as const
    for (const [content, written] of said) {
      const messages = [{ role: 'user', content: 'Go' }, { role: 'assistant', content }]
      for (const settings of [own, all]) expect(text(on, only(sftExamples(rows({ messages }), on, settings)))).toBe(`<|im_start|>user\nGo<|im_end|>\n<|im_start|>assistant\n${written}<|im_end|>\n`)
    }
    const apart = only(sftExamples(rows({ messages: [{ role: 'user', content: 'Go' }, { role: 'assistant', content: ' ', reasoning_content: '\n a ', tool_calls: [call(1)] }] }), on, own))
    expect(targets(on, apart)).toEqual(['<think>\n a \n</think>\n\n \n<tool_call>\n{"name": "go", "arguments": {"x": 1, "y": "a b"}}\n</tool_call><|im_end|>\n'])
    // Two answers that differ in a blank alone are two.
    const { examples } = dpoExamples(rows({ prompt: [{ role: 'user', content: 'Go' }], chosen: [{ role: 'assistant', content: ' x' }], rejected: [{ role: 'assistant', content: 'x' }] }), on, own)
    expect(examples[0]?.chosen.ids).not.toEqual(examples[0]?.rejected.ids)
    const earlier = only(sftExamples(rows({ messages: [{ role: 'user', content: 'Go' }, { role: 'assistant', content: ' x ' }] }), old, own))
    expect(text(old, earlier)).toContain('<|im_start|>assistant\n x <|im_end|>\n')
  })

  it('of Qwen2.5 have no thought', () => {
    const example = only(sftExamples(rows({ messages: played.slice(0, 5), tools: [TOOL] }), old, own))
    expect(targets(old, example)).toHaveLength(2)
    expect(targets(old, example)[1]).toMatch(/^Again\n<tool_call>.*<\/tool_call><\|im_end\|>\n$/s)
  })
  it('give a tool’s text no special token', () => {
    const { ids, authors } = only(sftExamples(rows({ messages: played, tools: [TOOL] }), off, own))
    expect(ids.filter((id, t) => id === off.endOfTurnIds[0] && authors[t] === 'environment')).toEqual([])
  })
  it('grow as a rollout writes them, with thinking off', () => {
    const example = only(sftExamples(rows({ messages: played.slice(0, 4), tools: [TOOL] }), off, own))
    const prompt = off.prompt([{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'Go' }], [TOOL as never])
    const turn = off.callTurn([{ name: 'go', arguments: { x: 1, y: 'a b' } }])
    const suffix = off.withThinking(true).toolSuffix([{ name: 'go', content: 'ok <|im_end|>' }])
    expect([...prompt.ids, ...turn.ids, ...suffix.ids].slice(0, example.ids.length)).toEqual(example.ids)
  })
})

describe('prompt and completion', () => {
  const row = { prompt: [{ role: 'user', content: 'hi' }], completion: [{ role: 'assistant', content: 'ho' }] }
  it('train the completion; it begins with an empty thought unless the prompt has it', () => {
    expect(targets(on, only(sftExamples(rows(row), on, all)))).toEqual([`${THOUGHT}ho<|im_end|>\n`])
    expect(targets(off, only(sftExamples(rows(row), off, all)))).toEqual(['ho<|im_end|>\n'])
    const kwargs = { chat_template_kwargs: { enable_thinking: false } }
    expect(targets(on, only(sftExamples(rows({ ...row, ...kwargs }), on, own)))).toEqual(['ho<|im_end|>\n'])
  })
  it('as text end with the end token, once', () => {
    for (const completion of [' b', ' b<|im_end|>']) {
      const example = only(sftExamples(rows({ prompt: 'a', completion }), on, own))
      expect(text(on, example)).toBe('a b<|im_end|>')
      expect(targets(on, example)).toEqual([' b<|im_end|>'])
    }
    expect(targets(on, only(sftExamples(rows({ text: 'a b c' }), on, own)))).toEqual([' b c<|im_end|>'])
  })
  it('count a prompt that is written otherwise before an answer', () => {
    const history = [{ role: 'user', content: 'a' }, { role: 'assistant', content: '<think>\nx\n</think>\n\nb' }]
    const merged = sftExamples(rows({ prompt: 'one caf', completion: 'fe' }), on, all)
    expect(merged.mismatched).toBe(1)
    // "caf" is another token before "fe": the answer begins where both are no longer the same.
    expect(targets(on, merged.examples[0] as Example)).toEqual([' caffe<|im_end|>'])
    expect(sftExamples(rows({ prompt: [...history, { role: 'user', content: 'c' }], completion: [{ role: 'assistant', content: 'd' }] }), on, own).mismatched).toBe(0)
  })
})

describe('pairs', () => {
  const prompt = [{ role: 'user', content: 'Go' }]
  const answer = (content: string) => [{ role: 'assistant', content: '', tool_calls: [call(1)] }, { role: 'tool', name: 'go', content }, { role: 'assistant', content }]
  it('train the answers; a tool’s result only without assistant_only_loss', () => {
    const row = rows({ prompt, chosen: answer('yes'), rejected: answer('no'), tools: [TOOL] })
    const pair = only(dpoExamples(row, off, own))
    expect(targets(off, pair.chosen).at(-1)).toBe(`${THOUGHT}yes<|im_end|>\n`)
    expect(targets(off, pair.rejected)).toHaveLength(2)
    expect(targets(off, only(dpoExamples(row, off, all)).chosen)).toHaveLength(1)
    expect(pair.chosen.promptLength).toBe(pair.rejected.promptLength)
  })
  it('begin where the first of both answers leaves the prompt', () => {
    const { examples, mismatched } = dpoExamples(rows({ prompt: 'one caf', chosen: 'fe', rejected: '! No' }), on, all)
    expect(mismatched).toBe(1)
    const [pair] = examples
    expect([targets(on, pair?.chosen as Example), targets(on, pair?.rejected as Example)]).toEqual([[' caffe<|im_end|>'], [' caf! No<|im_end|>']])
    expect(pair?.chosen.promptLength).toBe(pair?.rejected.promptLength)
  })
  it('with and without a prompt column are the same', () => {
    const [chosen, rejected] = [[{ role: 'assistant', content: 'yes' }], [{ role: 'assistant', content: 'no' }]]
    const explicit = only(dpoExamples(rows({ prompt, chosen, rejected }), off, all))
    expect(only(dpoExamples(rows({ chosen: [...prompt, ...chosen], rejected: [...prompt, ...rejected] }), off, all))).toEqual(explicit)
  })
})

describe('what is left out', () => {
  it('is cut at the end, dropped where no target is left, and told where it is of another kind', () => {
    const long = { prompt: 'one two three four', completion: ' five six seven' }
    const cut = sftExamples(rows(long, { chosen: 'a b', rejected: 'a c' }, {}), on, { max_length: 6, assistant_only_loss: true })
    expect([cut.examples.length, cut.shortened, cut.problems.length]).toEqual([1, 1, 2])
    expect(cut.examples[0]).toMatchObject({ mask: [0, 0, 0, 0, 1, 1], cut: 2, promptLength: 4 })
    const none = sftExamples(rows(long), on, { max_length: 4, assistant_only_loss: true })
    expect(none.examples).toEqual([])
    expect(none.dropped[0]?.problem).toBe('It has 8 tokens, and max_length leaves none to train on')
    expect(dpoExamples(rows(long), on, own).problems[0]?.advice).toMatch(/Choose SFT/)
    expect(sftExamples(rows({ messages: [{ role: 'user', content: 'x' }] }), on, own).dropped[0]?.problem).toBe('It has no token to train on')
  })
})
