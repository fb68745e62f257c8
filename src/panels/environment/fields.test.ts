import { describe, expect, it } from 'vitest'
import type { JsonSchema, Tool } from '../../core/tools'
import { fieldsOf, narrowingOf, readCall, readValues } from './fields'

const tool = (properties: Record<string, JsonSchema>, required: string[] = Object.keys(properties)): Tool => ({
  type: 'function',
  function: { name: 'act', description: '', parameters: { type: 'object', properties, required } },
})

describe('the fields of a form', () => {
  it.each<[JsonSchema, object]>([
    [{ type: 'string', enum: ['left', 'right'] }, { kind: 'choice', options: ['left', 'right'], initial: '"left"' }],
    [{ type: 'integer', enum: [0, 1], default: 1 }, { kind: 'choice', options: [0, 1], initial: '1' }],
    [{ type: 'boolean' }, { kind: 'choice', options: [true, false], initial: 'true' }],
    [{ type: 'integer', minimum: 0, maximum: 9 }, { kind: 'number', integer: true, minimum: 0, maximum: 9, initial: '' }],
    [{ type: 'number', default: 0.5 }, { kind: 'number', integer: false, minimum: null, maximum: null, initial: '0.5' }],
    [{ type: 'string', description: 'What to say' }, { kind: 'text', description: 'What to say', initial: '' }],
    [{ type: 'array', items: { type: 'number' } }, { kind: 'json', type: 'array', initial: '' }],
    [{ type: 'object', default: { a: 1 } }, { kind: 'json', type: 'object', initial: '{"a":1}' }],
    [{}, { kind: 'json', type: 'value' }],
    [{ anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }], default: null }, { kind: 'number', integer: true, minimum: 1, initial: '' }],
    [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { kind: 'json' }],
  ])('%j', (schema, field) => expect(fieldsOf(tool({ x: schema }))[0]).toMatchObject({ name: 'x', required: true, ...field }))

  it('an optional choice may be left out', () => {
    expect(fieldsOf(tool({ x: { enum: ['a'] } }, []))[0]).toMatchObject({ required: false, initial: '' })
  })
})

describe('a call', () => {
  const all = tool(
    {
      way: { type: 'string', enum: ['left', 'right'] },
      n: { type: 'integer', minimum: 0, maximum: 9 },
      list: { type: 'array', items: { type: 'number' } },
      note: { type: 'string' },
    },
    ['way', 'n', 'list'],
  )
  const good = { way: '"right"', n: '3', list: '[1, 2.5]' }

  it('is what was typed; what is empty and optional is left out', () => {
    expect(readCall(all, good)).toEqual({ ok: true, call: { name: 'act', arguments: { way: 'right', n: 3, list: [1, 2.5] } } })
    expect(readCall(all, { ...good, note: ' x ' })).toMatchObject({ call: { arguments: { note: ' x ' } } })
    expect(readCall(tool({ s: { type: 'string' } }), {})).toMatchObject({ ok: true, call: { arguments: { s: '' } } })
  })

  it.each([
    [{ n: '10' }, 'n', 'n must be a whole number from 0 to 9, not "10".'],
    [{ n: '1.5' }, 'n', 'n must be a whole number from 0 to 9, not "1.5".'],
    [{ n: '' }, 'n', 'n must be a whole number from 0 to 9.'],
    [{ way: '' }, 'way', 'Choose a value for way.'],
    [{ list: '1, 2' }, 'list', 'list must be written as JSON, such as [1, 2]; this cannot be read: 1, 2.'],
    [{ list: '' }, 'list', 'list must be written as JSON, such as [1, 2].'],
    [{ list: '["a"]' }, null, 'The argument "list" of "act" must be a list of which each item is a number, not ["a"].'],
  ])('%j is refused in place', (change, field, why) => expect(readCall(all, { ...good, ...change })).toEqual({ ok: false, field, why }))
})

describe('narrowing', () => {
  it('suits the argument', () => {
    expect(narrowingOf({ enum: ['a', 'b'] })).toEqual({ kind: 'values', all: ['a', 'b'] })
    expect(narrowingOf({ anyOf: [{ type: 'number' }, { type: 'null' }] })).toEqual({ kind: 'limits' })
    expect(narrowingOf({ type: 'string' })).toEqual({ kind: 'list' })
    expect(narrowingOf({ type: 'array' })).toBeNull()
  })

  it('a list of values takes the type of its argument', () => {
    expect(readValues(' a, b ,,', { type: 'string' })).toEqual(['a', 'b'])
    expect(readValues('1, x', { type: 'integer' })).toEqual([1, 'x'])
  })
})
