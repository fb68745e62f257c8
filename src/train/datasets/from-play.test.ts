/** Episodes as rows. */
import { expect, it } from 'vitest'
import type { ChatMessage, Tool } from '../../core/tools'
import { demonstrations, preferences } from './from-play'
import { ChatFormat } from '../../rollout/chat'
import { appendSampled, recordTurn, startEpisode } from '../../rollout/episode'
import { parseTurn } from '../../rollout/tool-calls'
import { qwen3Tokenizer } from '../../rollout/testing/tokenizers'
import { sftExamples } from './examples'
import { readRow } from './formats'

const nowhere = { tools: [] }
const prompt: ChatMessage[] = [{ role: 'system', content: 's' }, { role: 'user', content: 'u' }]
const episode = (group: number, index: number, reward: number | null, said = `answer ${index}`) => ({ group, index, reward, messages: [...prompt, { role: 'assistant' as const, content: said }] })
const played = [episode(0, 0, 0), episode(0, 1, 1), episode(0, 2, null), episode(0, 3, 0.5), episode(0, 4, 0), episode(1, 5, 1), episode(1, 6, 1), episode(2, 7, 1, 'x'), episode(2, 8, 0, 'x')]

it('those worth imitating are rows in TRL’s form', () => {
  const rows = demonstrations(played, nowhere, false, 0.5)
  expect(rows.map(({ messages }) => messages.at(-1)?.content)).toEqual(['answer 1', 'answer 3', 'answer 5', 'answer 6', 'x'])
  expect(readRow({ place: 'line 1', row: JSON.parse(JSON.stringify(rows[0])) as Record<string, unknown> })).toMatchObject({ ok: true, row: { form: 'messages', chat_template_kwargs: { enable_thinking: false } } })
  expect(demonstrations([{ ...episode(0, 0, 1), messages: prompt }], nowhere, false, 0)).toEqual([])
})

it('a group’s better and worse episodes are pairs while their rewards differ', () => {
  const rows = preferences(played, nowhere, true)
  // Best beside worst, then second beside second worst; equal rewards, equal answers and no reward make no pair.
  expect(rows.map(({ chosen, rejected }) => [chosen[0]?.content, rejected[0]?.content])).toEqual([['answer 1', 'answer 4'], ['answer 3', 'answer 0']])
  expect(rows[0]?.prompt).toEqual(prompt)
})

it('have the tools of the environment that played them', () => {
  const tool = (name: string): Tool => ({ type: 'function', function: { name, description: '', parameters: { type: 'object', properties: {} } } })
  const members = ['lane', 'catch'].map((name) => ({ name, tools: [tool(`go_${name}`)] }))
  const venue = { tools: members[0]?.tools ?? [], members }
  const mixed = played.slice(0, 7).map((each) => ({ ...each, environment: each.group === 0 ? 'catch' : 'lane' }))
  const called = (rows: readonly { tools?: readonly Tool[] }[]) => rows.map(({ tools }) => tools?.map((each) => each.function.name))
  expect(called(demonstrations(mixed, venue, false, 0.6))).toEqual([['go_catch'], ['go_lane'], ['go_lane']])
  expect(called(preferences(mixed, venue, false))).toEqual([['go_catch'], ['go_catch']])
})

it('answers to different prompts are no pair', () => {
  const other = { ...episode(3, 9, 1), messages: [...prompt.slice(0, 1), { role: 'user' as const, content: 'another scenario' }, { role: 'assistant' as const, content: 'yes' }] }
  expect(preferences([other, episode(3, 10, 0)], nowhere, false)).toEqual([])
})

it('keep what was thought before a call: the target is what was played', () => {
  const chat = new ChatFormat(qwen3Tokenizer(), { enable_thinking: true })
  const tools: Tool[] = [{ type: 'function', function: { name: 'go', description: 'Goes.', parameters: { type: 'object', properties: {} } } }]
  const asked: ChatMessage[] = [{ role: 'user', content: 'Go on.' }]
  const played = startEpisode({ step: 1, index: 0, group: 0, seed: 1 }, chat.prompt(asked, tools), asked, undefined)
  const turn = '<think>\nThere is room.\n\nI go.\n</think>\n\n<tool_call>\n{"name": "go", "arguments": {}}\n</tool_call><|im_end|>'
  for (const id of chat.rawText(turn).ids) appendSampled(played, { id, logprob: -1, entropy: 0, top: [] })
  played.terminated = true
  const { content, calls } = parseTurn(turn.replace('<|im_end|>', ''))
  recordTurn(played, chat, played.promptLength, [], { content, calls: calls.flatMap((each) => (each.kind === 'call' ? [each.call] : [])) })
  const [row] = demonstrations([{ ...played, reward: 1 }], { tools }, true, 1)
  const [example] = sftExamples([{ place: 'line 1', row: JSON.parse(JSON.stringify(row)) as Record<string, unknown> }], chat, { max_length: 1000, assistant_only_loss: true }).examples
  expect(chat.text(example?.ids.filter((_, t) => example.mask[t] === 1) ?? [])).toBe(`${turn}\n`)
  expect(example?.ids.slice(0, played.ids.length)).toEqual(played.ids)
})
