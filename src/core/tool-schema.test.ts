import { describe, expect, it } from 'vitest'
import { checkToolCall } from './tool-schema'
import type { JsonSchema, Tool } from './tools'

function tool(name: string, properties: Record<string, JsonSchema>, required: string[] = [], extra: JsonSchema = {}): Tool {
  return { type: 'function', function: { name, description: '', parameters: { type: 'object', properties, required, ...extra } } }
}

describe('checkToolCall', () => {
  const tools = [
    tool('guess', { word: { type: 'string' }, n: { type: 'integer', enum: [1, 2, 3] } }, ['word']),
    tool('look', {}),
    tool('place', {
      at: { type: 'array', items: { type: 'integer' } },
      maybe: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      kind: { type: 'string', nullable: true },
      size: { type: 'number' },
      deep: { type: 'object', properties: { on: { type: 'boolean' } }, required: ['on'], additionalProperties: false },
    }),
    tool('open', { a: { type: 'string' } }, [], { additionalProperties: true }),
  ]
  const check = (name: string, args: Record<string, unknown>): string | null => checkToolCall({ name, arguments: args }, tools)

  it('accepts what fits', () => {
    expect(check('guess', { word: 'crane' })).toBeNull()
    expect(check('guess', { word: '', n: 2 })).toBeNull()
    expect(check('look', {})).toBeNull()
    expect(check('place', { at: [1, 2], maybe: null, kind: null, size: 1, deep: { on: true } })).toBeNull()
    expect(check('open', { b: 1 })).toBeNull()
  })
  it('says what is wrong', () => {
    expect(check('gues', {})).toBe('There is no tool named "gues". The tools are: guess, look, place, open.')
    expect(checkToolCall({ name: 'x', arguments: {} }, [])).toBe('There is no tool named "x". There are no tools.')
    expect(check('guess', {})).toBe('The tool "guess" needs the argument "word".')
    expect(check('guess', { word: 'a', wrod: 'b' })).toBe('The tool "guess" has no argument "wrod". Its arguments are: word, n.')
    expect(check('look', { far: true })).toBe('The tool "look" has no argument "far". It has none.')
    expect(check('look', { constructor: 1 })).toBe('The tool "look" has no argument "constructor". It has none.')
    expect(check('guess', { word: 3 })).toBe('The argument "word" of "guess" must be a string, not 3.')
    expect(check('guess', { word: 'a', n: 4 })).toBe('The argument "n" of "guess" must be one of 1, 2, 3, not 4.')
    expect(check('guess', { word: 'a', n: '1' })).toBe('The argument "n" of "guess" must be one of 1, 2, 3, not "1".')
    expect(check('place', { at: [1, 'b'] })).toBe(
      'The argument "at" of "place" must be a list of which each item is an integer, not [1,"b"].',
    )
    expect(check('place', { maybe: 1 })).toBe('The argument "maybe" of "place" must be a string or null, not 1.')
    expect(check('place', { size: '1' })).toBe('The argument "size" of "place" must be a number, not "1".')
    expect(check('place', { deep: {} })).toBe('The argument "deep" of "place" must be an object with "on", not {}.')
    expect(check('place', { deep: { on: true, off: 1 } })).toContain('must be an object without "off"')
    expect(check('place', { at: 'x'.repeat(500) })?.length).toBeLessThan(130)
  })
})
