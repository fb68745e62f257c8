/** Episodes as rows. */
import { expect, it } from 'vitest'
import type { ChatMessage } from '../../core/tools'
import { demonstrations, preferences } from './from-play'
import { readRow } from './formats'

const prompt: ChatMessage[] = [{ role: 'system', content: 's' }, { role: 'user', content: 'u' }]
const episode = (group: number, index: number, reward: number | null, said = `answer ${index}`) => ({ group, index, reward, messages: [...prompt, { role: 'assistant' as const, content: said }] })
const played = [episode(0, 0, 0), episode(0, 1, 1), episode(0, 2, null), episode(0, 3, 0.5), episode(0, 4, 0), episode(1, 5, 1), episode(1, 6, 1), episode(2, 7, 1, 'x'), episode(2, 8, 0, 'x')]

it('those worth imitating are rows in TRL’s form', () => {
  const rows = demonstrations(played, [], false, 0.5)
  expect(rows.map(({ messages }) => messages.at(-1)?.content)).toEqual(['answer 1', 'answer 3', 'answer 5', 'answer 6', 'x'])
  expect(readRow({ place: 'line 1', row: JSON.parse(JSON.stringify(rows[0])) as Record<string, unknown> })).toMatchObject({ ok: true, row: { form: 'messages', chat_template_kwargs: { enable_thinking: false } } })
  expect(demonstrations([{ ...episode(0, 0, 1), messages: prompt }], [], false, 0)).toEqual([])
})

it('a group’s better and worse episodes are pairs while their rewards differ', () => {
  const rows = preferences(played, [], true)
  // Best beside worst, then second beside second worst; equal rewards, equal answers and no reward make no pair.
  expect(rows.map(({ chosen, rejected }) => [chosen[0]?.content, rejected[0]?.content])).toEqual([['answer 1', 'answer 4'], ['answer 3', 'answer 0']])
  expect(rows[0]?.prompt).toEqual(prompt)
})
