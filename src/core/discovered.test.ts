import { expect, it } from 'vitest'
import { shownTools, toolsFound, withoutSecrets } from './discovered'
import type { Tool } from './tools'

const tool = (name: string): Tool => ({ type: 'function', function: { name, description: '', parameters: { type: 'object', properties: {} } } })

it('tools of any environment are found under their own names, and shown as they are', () => {
  const found = toolsFound('example.org', [tool('look'), tool('move')])
  expect(found).toMatchObject({ host: 'example.org', title: 'example.org', entry: null, quirks: [] })
  expect(found.tools.map(({ id, mapping }) => [id, mapping])).toEqual(['look', 'move'].map((name) => [name, { kind: 'mcp', tool: name }]))
  expect(shownTools(found)).toEqual([tool('look'), tool('move')])
})

it('fields of the state that hold the answer are masked, the others stay', () => {
  const found = { ...toolsFound('h', []), quirks: [{ kind: 'state-secret' as const, text: 'It holds the word.', fields: ['word'] }] }
  const shown = withoutSecrets(found, { word: 'crane', turn: 3 })
  expect(JSON.stringify(shown)).not.toContain('crane')
  expect(shown['turn']).toBe(3)
  const nested = withoutSecrets(found, { info: { players: [{ word: 'crane', name: 'a' }] } })
  expect(nested).toEqual({ info: { players: [{ word: '[hidden: may hold the answer]', name: 'a' }] } })
  expect(withoutSecrets(toolsFound('h', []), { word: 'crane' })).toEqual({ word: 'crane' })
})
