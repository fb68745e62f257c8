import { expect, it } from 'vitest'
import { environmentHead, ownNames } from './environment-head'

it('a renamed tool is found by its last name, others by their own', () => {
  const own = ownNames([
    { kind: 'rename', tool: 'a', name: 'b' },
    { kind: 'rename', tool: 'a', name: 'c' },
    { kind: 'describe', tool: 'd', description: 'Else.' },
  ])
  expect(['c', 'd', 'b'].map(own)).toEqual(['a', 'd', 'b'])
})

it('prompts that hold quotes stay texts of Python', () => {
  const lines = environmentHead({ about: 'One "word".', imports: ['import game'], ofTools: 'nothing else.', tools: [] }, { system_prompt: 'Say "x".', user_prompt: '' })
  expect(lines[0]).toBe('"""One \\"word\\"."""')
  expect(lines).toContain('SYSTEM_PROMPT = "Say \\"x\\"."')
  expect(lines.slice(-2)).toEqual(['', ''])
})
