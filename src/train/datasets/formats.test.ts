/** Rows in TRL's formats, and what is said of those that are not. */
import { describe, expect, it } from 'vitest'
import { readRow } from './formats'
import { splitPrompt } from './implicit-prompt'
import { limited, MOST_ROWS, readRows } from '../../core/rows'

const user = { role: 'user', content: 'hi' }
const assistant = { role: 'assistant', content: 'ho' }
const read = (row: Record<string, unknown>) => readRow({ place: 'line 1', row })
const fault = (row: Record<string, unknown>) => {
  const result = read(row)
  return result.ok ? null : [result.problem.field, result.problem.problem, result.problem.advice].join(' | ')
}

describe('readRows', () => {
  it('reads JSONL with blank lines, and one JSON list', () => {
    expect(readRows('\uFEFF{"a":1}\r\n\n{"a":2}\n').rows).toEqual([
      { place: 'line 1', row: { a: 1 } },
      { place: 'line 3', row: { a: 2 } },
    ])
    expect(readRows(' [{"a":1},{"a":2}]').rows.map(({ place }) => place)).toEqual(['row 1', 'row 2'])
    expect(readRows('')).toEqual({ rows: [], problems: [] })
  })
  it('tells each bad line and keeps the others', () => {
    const { rows, problems } = readRows('{"a":1}\n{"a":\n[1]\n7\n{"a":2}')
    expect(rows).toHaveLength(2)
    expect(problems.map(({ place }) => place)).toEqual(['line 2', 'line 3', 'line 4'])
    expect(problems[0]?.advice).toBe('Write one JSON object a line.')
    expect(readRows('[{"a":1},').problems[0]?.problem).toMatch(/JSON list/)
  })
  it('says where it stops', () => {
    const rows = Array.from({ length: MOST_ROWS + 2 }, (_, i) => ({ place: `row ${i + 1}`, row: {} }))
    const { rows: kept, problems } = limited({ rows, problems: [] })
    expect(kept).toHaveLength(MOST_ROWS)
    expect(problems[0]?.place).toBe(`row ${MOST_ROWS + 1}`)
  })
})

describe('readRow', () => {
  it('knows every form by its columns', () => {
    const form = (row: Record<string, unknown>) => {
      const result = read(row)
      return result.ok ? result.row.form : result.problem
    }
    expect(form({ text: 'a' })).toBe('text')
    expect(form({ messages: [user, assistant] })).toBe('messages')
    expect(form({ prompt: 'a', completion: 'b' })).toBe('prompt-completion')
    expect(form({ prompt: [user], completion: [assistant] })).toBe('prompt-completion')
    expect(form({ prompt: 'a', chosen: 'b', rejected: 'c' })).toBe('preference')
    expect(form({ prompt: null, chosen: [user, assistant], rejected: [user, { ...assistant, content: 'no' }] })).toBe('preference')
  })
  it('tells of a row that is nested too deeply, in whichever column', () => {
    const nested = (levels: number) => Array.from({ length: levels }).reduce<unknown>((inner) => ({ a: inner }), 1)
    const tools = (levels: number) => [{ type: 'function', function: { name: 'x', parameters: nested(levels) } }]
    const row = { messages: [user, assistant] }
    const said = 'It is nested more than 100 levels deep | Make it flatter, or leave the row out.'
    for (const levels of [1500, 100_000]) {
      expect(fault({ ...row, tools: tools(levels) })).toBe(`tools | ${said}`)
      expect(fault({ ...row, chat_template_kwargs: nested(levels) })).toBe(`chat_template_kwargs | ${said}`)
      expect(fault({ messages: [user, { ...assistant, more: nested(levels) }] })).toBe(`messages | ${said}`)
    }
    expect(fault({ ...row, tools: JSON.stringify(tools(1500)) })).toBe(`tools | ${said}`)
    expect(fault({ ...row, tools: tools(90) })).toBeNull()
  })
  it('reads tools as a list or as JSON, calls with objects or JSON, and drops the nulls of a table', () => {
    const tool = { type: 'function', function: { name: 'go', description: 'd', parameters: { type: 'object', properties: {}, required: null } } }
    const call = (args: unknown) => ({ role: 'assistant', content: null, name: null, tool_calls: [{ type: 'function', function: { name: 'go', arguments: args } }] })
    const a = read({ messages: [user, call({ x: 1, y: null }), { role: 'tool', name: 'go', content: 'done' }], tools: [tool] })
    const b = read({ messages: [user, call('{"x": 1}'), { role: 'tool', name: 'go', content: 'done' }], tools: JSON.stringify([tool]) })
    expect(a).toEqual(b)
    expect(a).toMatchObject({ ok: true, row: { tools: [{ function: { parameters: { type: 'object', properties: {} } } }] } })
    expect(JSON.stringify(a)).not.toContain('null')
  })
  it('names the field and what to do', () => {
    expect(fault({ messages: [{ role: 'bot', content: 'x' }] })).toBe('messages[0].role | It cannot be read | Roles are "system", "user", "assistant" and "tool"; contents are texts.')
    expect(fault({ messages: [{ role: 'user', content: [{ type: 'image' }] }] })).toMatch(/^messages\[0\]\.content.* \| It is no text \(pictures cannot be read\)/)
    expect(fault({ messages: [user, { role: 'assistant' }] })).toMatch(/^messages\[1\]\.content \| It is missing/)
    expect(fault({ messages: [assistant] })).toMatch(/^messages\[0\]\.role \| The conversation begins with "assistant"/)
    expect(fault({ messages: 'hello' })).toMatch(/^messages \| It is a text/)
    expect(fault({ messages: [] })).toMatch(/^messages \| It has no message/)
    expect(fault({ prompt: 'a', completion: [assistant] })).toMatch(/^completion \| It is a list, but "prompt" is a text/)
    expect(fault({ prompt: 'a' })).toMatch(/^completion \| There is a prompt and no answer/)
    expect(fault({ prompt: 'a', chosen: 'b', rejected: 'b' })).toMatch(/^rejected \| It is the same/)
    expect(fault({ prompt: 'a', chosen: 'b' })).toMatch(/^rejected \| It is missing/)
    expect(fault({ chosen: 'b', rejected: 'c' })).toMatch(/^prompt \| .*no common beginning/)
    expect(fault({ chosen: 'ab', rejected: 'abc' })).toMatch(/^chosen \| It is only the beginning/)
    expect(fault({ prompt: '', completion: 'b' })).toMatch(/^prompt \| It is empty/)
    expect(fault({ question: 1 })).toMatch(/^ \| Its columns are "question"/)
    expect(fault({ text: 'a', tools: 'x' })).toMatch(/^tools \| It is a text that is not JSON/)
    expect(fault({ text: 'a', tools: [{ name: 'x' }] })).toMatch(/^tools\[0\] \| It is no tool/)
    expect(fault({ text: 'a', chat_template_kwargs: { chat_template: 'x' } })).toMatch(/^chat_template_kwargs\.chat_template/)
    expect(fault({ messages: [user, { role: 'assistant', content: '', tool_calls: [{ function: { name: 'go', arguments: '[1]' } }] }] })).toMatch(/arguments \| It is no JSON object/)
    const numbers = (args: string) => JSON.parse(`{"messages":[{"role":"user","content":"Q"},{"role":"assistant","tool_calls":[{"function":{"name":"go","arguments":${args}}}]}]}`) as Record<string, unknown>
    for (const args of ['{"a": {"id": [12345678901234567890]}}', '"{\\"a\\": 9007199254740993}"']) expect(fault(numbers(args))).toMatch(/^messages\[1\]\.tool_calls\[0\]\.function\.arguments \| It holds the whole number \d+ or one beside it: .* \| Write it as a text/)
    expect(fault(numbers('{"a": 9007199254740991, "b": 0.1, "c": "12345678901234567890"}'))).toBeNull()
  })
})

describe('splitPrompt', () => {
  it('cuts as TRL does: messages whole, a text before its last common blank', () => {
    expect(splitPrompt('The sky is blue.', 'The sky is green.')).toEqual({ prompt: 'The sky is', chosen: ' blue.', rejected: ' green.' })
    expect(splitPrompt([user, assistant] as never, [user, { ...assistant, content: 'x' }] as never)).toEqual({
      prompt: [user],
      chosen: [assistant],
      rejected: [{ ...assistant, content: 'x' }],
    })
  })
})
