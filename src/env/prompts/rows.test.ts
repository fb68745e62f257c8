/** Prompt-only rows: what TRL takes is taken, what would change the prompt or is no prompt is refused where it stands. */
import { describe, expect, it } from 'vitest'
import { problemSentence } from '../../core/rows'
import { promptRows } from './rows'

const read = (row: Record<string, unknown>, system = '') => promptRows([{ place: 'line 4', row }], system)
const why = (row: Record<string, unknown>) => {
  const { rows, problems } = read(row)
  expect(rows).toEqual([])
  return problems.map(problemSentence).join(' ')
}
const user = (content: string) => ({ role: 'user', content })

describe('promptRows', () => {
  it('takes a text as a message of the user, and a conversation as it is; all other columns go to reward functions', () => {
    expect(read({ prompt: '1 + 1 =', solution: '2', level: 3 }).rows).toEqual([{ place: 'line 4', messages: [user('1 + 1 =')], columns: { solution: '2', level: 3 } }])
    const prompt = [user('hi'), { role: 'assistant', content: 'hello' }, { role: 'user', content: [{ type: 'text', text: '2?' }] }]
    expect(read({ prompt }).rows[0]?.messages).toEqual([user('hi'), { role: 'assistant', content: 'hello' }, user('2?')])
  })

  it("puts the run's system prompt before prompts that have none", () => {
    const system = { role: 'system', content: 'Be short.' }
    expect(read({ prompt: 'a' }, 'Be short.').rows[0]?.messages).toEqual([system, user('a')])
    const own = [{ role: 'system', content: 'Be long.' }, user('a')]
    expect(read({ prompt: own }, 'Be short.').rows[0]?.messages).toEqual(own)
  })

  it('says which column is missing, and what to do', () => {
    expect(why({ messages: [user('a')], id: 1 })).toBe(
      'Line 4, prompt: The column "prompt" is missing; there are "messages", "id". Move all messages before the answer to "prompt"; what the answer is compared with belongs in "solution".',
    )
    expect(why({ question: 'a' })).toMatch(/^Line 4, prompt: The column "prompt" is missing; there is "question"\. Add "prompt"/)
    expect(why({ prompt: 'a', completion: 'b' })).toMatch(/"completion", so it is data for SFT\. Train it as a stage, or rename/)
    expect(why({ prompt: 'a', chosen: 'b', rejected: 'c' })).toMatch(/data for DPO/)
  })

  it('refuses what is no prompt at its place', () => {
    expect(why({ prompt: 7 })).toMatch(/^Line 4, prompt: It is 7\./)
    expect(why({ prompt: ' ' })).toMatch(/It is empty/)
    expect(why({ prompt: [] })).toMatch(/has no message/)
    expect(why({ prompt: [user('a'), { role: 'robot', content: 'b' }] })).toMatch(/^Line 4, prompt\[1\]\.role: /)
    expect(why({ prompt: [user('a'), { role: 'assistant', content: 'b' }] })).toMatch(/ends with an answer/)
  })

  it('leaves nothing out silently that would change the prompt; empty columns of a table do no harm', () => {
    expect(why({ prompt: 'a', tools: [{ type: 'function' }] })).toMatch(/Line 4, tools: Nobody answers tool calls/)
    expect(why({ prompt: 'a', tools: '[{}]' })).toMatch(/Nobody answers/)
    expect(why({ prompt: 'a', chat_template_kwargs: { enable_thinking: false } })).toMatch(/enable_thinking among the settings/)
    expect(why({ prompt: 'a', completions: 'x' })).toMatch(/Rename the column/)
    expect(read({ prompt: 'a', tools: null, chat_template_kwargs: { enable_thinking: null }, completion: null }).rows[0]?.columns).toEqual({ completion: null })
    expect(read({ prompt: 'a', tools: [], chat_template_kwargs: {} }).rows[0]?.columns).toEqual({})
  })
})
