/** Edits of tools: the model sees the new one, the server gets the old one, and what does not fit is refused in words. */

import { describe, expect, it } from 'vitest'
import type { DiscoveredEnvironment } from './discovered'
import { shownTools, toolsFound } from './discovered'
import { PlaygroundError } from './errors'
import { applyToolEdits, calledTool, describeTool, hideTool, renameTool, restrictParameter, type Restriction, type ToolEdit } from './tool-edits'
import { checkToolCall } from './tool-schema'
import type { JsonSchema, Tool } from './tools'

const tool = (name: string, properties: Record<string, JsonSchema>): Tool => ({
  type: 'function',
  function: { name, description: `Does ${name}.`, parameters: { type: 'object', properties, required: Object.keys(properties) } },
})
const MOVE = tool('move', {
  to: { type: 'string', enum: ['left', 'stay', 'right'] },
  speed: { type: 'number', minimum: 0, maximum: 10, description: 'km/h' },
  note: { type: 'string' },
  gear: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
})
const LOOK = tool('look', {})
const FOUND: DiscoveredEnvironment = { ...toolsFound('example.org', [MOVE, LOOK]), family: 'typed', title: 'Example' }
const parameter = (found: DiscoveredEnvironment, name: string) => found.tools[0]?.tool.function.parameters.properties?.[name] ?? {}

describe('renameTool', () => {
  it('changes what the model sees; id, original and mapping stay', () => {
    const edited = renameTool(FOUND, 'move', 'go')
    expect(shownTools(edited).map((each) => each.function.name)).toEqual(['go', 'look'])
    expect(calledTool(edited, { name: 'go', arguments: {} })).toMatchObject({ id: 'move', original: MOVE, mapping: { tool: 'move' } })
    expect(calledTool(edited, { name: 'move', arguments: {} })).toBeUndefined()
    expect(shownTools(FOUND)[0]).toBe(MOVE)
  })

  it.each([
    ['', 'cannot be named ""'],
    ['go on', 'cannot be named'],
    ['1st', 'cannot be named'],
    ['x'.repeat(65), 'cannot be named'],
    ['step', 'for itself'],
    ['look', 'another tool named look'],
  ])('%j is refused', (name, words) => expect(() => renameTool(FOUND, 'move', name)).toThrow(words))

  it('may give a tool its own name again, and a freed name to another', () => {
    expect(renameTool(renameTool(FOUND, 'move', 'go'), 'move', 'move')).toEqual(FOUND)
    const swapped = renameTool(renameTool(FOUND, 'move', 'go'), 'look', 'move')
    expect(calledTool(swapped, { name: 'move', arguments: {} })?.id).toBe('look')
  })
})

it('describeTool describes the tool or a parameter, and knows both', () => {
  expect(describeTool(FOUND, 'move', 'Go.').tools[0]?.tool.function.description).toBe('Go.')
  expect(parameter(describeTool(FOUND, 'move', 'How fast', 'speed'), 'speed')).toEqual({
    type: 'number',
    minimum: 0,
    maximum: 10,
    description: 'How fast',
  })
  expect(() => describeTool(FOUND, 'jump', 'x')).toThrow('has no tool "jump"')
  expect(() => describeTool(FOUND, 'move', 'x', 'colour')).toThrow('has no parameter "colour"')
})

describe('restrictParameter', () => {
  it('lists fewer values, and the check then refuses the others', () => {
    const edited = restrictParameter(FOUND, 'move', 'to', { enum: ['left', 'right'] })
    const call = (to: string) => ({ name: 'move', arguments: { to, speed: 1, note: '', gear: 1 } })
    expect(checkToolCall(call('stay'), shownTools(edited))).toContain('"left", "right"')
    expect(checkToolCall(call('left'), shownTools(edited))).toBeNull()
  })

  it('narrows a range, never widens it', () => {
    const edited = restrictParameter(FOUND, 'move', 'speed', { maximum: 5 })
    expect(parameter(edited, 'speed')).toMatchObject({ minimum: 0, maximum: 5 })
    expect(parameter(restrictParameter(edited, 'move', 'speed', { minimum: 2, maximum: 99 }), 'speed')).toMatchObject({ minimum: 2, maximum: 5 })
    expect(parameter(restrictParameter(FOUND, 'move', 'gear', { minimum: 1 }), 'gear')).toMatchObject({ minimum: 1 })
  })

  it('twice leaves what both allow, in either order; nothing left is refused', () => {
    const twice = (...edits: Restriction[]) => parameter(edits.reduce((found, to) => restrictParameter(found, 'move', 'speed', to), FOUND), 'speed')
    expect(twice({ enum: [1, 5, 8] }, { maximum: 6 }).enum).toEqual([1, 5])
    expect(twice({ maximum: 6 }, { enum: [1, 5, 8] }).enum).toEqual([1, 5])
    expect(twice({ enum: [1, 5] }, { enum: [5, 8] }).enum).toEqual([5])
    for (const edits of [[{ enum: [8] }, { maximum: 6 }], [{ maximum: 6 }, { enum: [8] }], [{ enum: [1] }, { enum: [5] }], [{ maximum: 2 }, { minimum: 3 }]]) {
      expect(() => twice(...edits)).toThrow('No value of move.speed would be left: its restrictions exclude each other')
    }
  })

  it('counts in whole numbers where the parameter does, also inside a union with null', () => {
    const gear = { anyOf: [{ type: 'integer', minimum: 0, maximum: 5 }, { type: 'null' }] }
    const found: DiscoveredEnvironment = { ...FOUND, ...toolsFound('h', [tool('shift', { gear })]) }
    expect(parameter(restrictParameter(found, 'shift', 'gear', { minimum: 1.5, maximum: 9 }), 'gear')).toEqual({ type: 'integer', minimum: 2, maximum: 5 })
    expect(() => restrictParameter(found, 'shift', 'gear', { minimum: 1.2, maximum: 1.8 })).toThrow('from 2 to 1')
    expect(() => restrictParameter(found, 'shift', 'gear', { minimum: 6 })).toThrow('from 6 to 5')
  })

  it.each<[string, JsonSchema, Restriction, unknown, boolean]>([
    ['no default that is known', { type: 'integer' }, { maximum: 3 }, undefined, true],
    ['a default outside', { type: 'integer', default: 9 }, { maximum: 3 }, undefined, true],
    ['a default outside the list', { type: 'string', enum: ['a', 'b'], default: 'b' }, { enum: ['a'] }, undefined, true],
    ['a default of null', { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null }, { maximum: 3 }, undefined, true],
    ['null for left out', { type: 'integer', nullable: true }, { maximum: 3 }, undefined, true],
    ['a default inside', { type: 'integer', default: 2 }, { maximum: 3 }, 2, false],
  ])('an optional parameter with %s: the server cannot fill in what was not allowed', (_, schema, to, fallback, isRequired) => {
    const bare = tool('go', { far: schema, on: { type: 'boolean' } })
    const optional: Tool = { ...bare, function: { ...bare.function, parameters: { ...bare.function.parameters, required: ['on'] } } }
    const edited = restrictParameter({ ...FOUND, ...toolsFound('h', [optional]) }, 'go', 'far', to)
    const shown = shownTools(edited)
    expect(shown[0]?.function.parameters.required).toEqual(isRequired ? ['on', 'far'] : ['on'])
    expect(parameter(edited, 'far').default).toBe(fallback)
    const wrong = checkToolCall({ name: 'go', arguments: { on: true } }, shown)
    expect(wrong).toBe(isRequired ? 'The tool "go" needs the argument "far".' : null)
    expect(checkToolCall({ name: 'go', arguments: { on: true, far: null } }, shown)).toContain('"far" of "go" must be')
    expect(optional.function.parameters.required).toEqual(['on'])
  })

  it.each<[string, string, Restriction, string]>([
    ['a value that it does not have', 'to', { enum: ['up'] }, '"up" is no value of move.to'],
    ['a value of another type', 'speed', { enum: ['fast'] }, '"fast" is no value'],
    ['a value outside its range', 'speed', { enum: [11] }, '11 is no value'],
    ['no value at all', 'to', { enum: [] }, 'No value of move.to would be left'],
    ['an empty range', 'speed', { minimum: 6, maximum: 5 }, 'from 6 to 5'],
    ['a range beyond its own', 'speed', { minimum: 11 }, 'from 11 to 10'],
    ['a range of a text', 'note', { maximum: 5 }, 'is not a number'],
    ['a bound that is none', 'speed', { maximum: NaN }, 'NaN is no bound'],
    ['a value outside the new range', 'speed', { enum: [1, 8], maximum: 5 }, '8 is not from 0 to 5'],
    ['an unknown parameter', 'colour', { enum: ['red'] }, 'no parameter "colour"'],
  ])('refuses %s', (_, name, to, words) => {
    expect(() => restrictParameter(FOUND, 'move', name, to)).toThrow(words)
    expect(() => restrictParameter(FOUND, 'move', name, to)).toThrow(PlaygroundError)
  })
})

it('hideTool leaves at least one', () => {
  const left = hideTool(FOUND, 'move')
  expect(shownTools(left)).toEqual([LOOK])
  expect(() => hideTool(left, 'look')).toThrow('only tool')
})

it('applyToolEdits makes all edits in order, by the ids that were found, and survives JSON', () => {
  const edits: ToolEdit[] = [
    { kind: 'rename', tool: 'move', name: 'go' },
    { kind: 'describe', tool: 'move', description: 'Go.' },
    { kind: 'describe', tool: 'move', parameter: 'to', description: 'Where' },
    { kind: 'restrict', tool: 'move', parameter: 'to', enum: ['left', 'right'] },
    { kind: 'restrict', tool: 'move', parameter: 'speed', minimum: 1, maximum: 2 },
    { kind: 'hide', tool: 'look' },
  ]
  const edited = applyToolEdits(FOUND, JSON.parse(JSON.stringify(edits)) as ToolEdit[])
  expect(shownTools(edited)).toEqual([
    {
      type: 'function',
      function: {
        name: 'go',
        description: 'Go.',
        parameters: {
          type: 'object',
          properties: {
            ...MOVE.function.parameters.properties,
            to: { type: 'string', enum: ['left', 'right'], description: 'Where' },
            speed: { type: 'number', minimum: 1, maximum: 2, description: 'km/h' },
          },
          required: ['to', 'speed', 'note', 'gear'],
        },
      },
    },
  ])
  expect(() => applyToolEdits(FOUND, [{ kind: 'rename', tool: 'gone', name: 'x' }])).toThrow('has no tool "gone"')
})

it('a range leaves no other kind of value through: of int | str, "99" is refused as 99 is', () => {
  const kinds: JsonSchema[] = [
    { anyOf: [{ type: 'integer' }, { type: 'string' }], description: 'd' },
    { anyOf: [{ type: 'string' }, { type: 'integer', maximum: 9 }, { type: 'null' }], default: '7' },
    { type: ['integer', 'string', 'null'] as unknown as string },
    { anyOf: [{ type: 'integer' }, { type: 'number' }, { type: 'string' }] },
  ]
  for (const schema of kinds) {
    const edited = restrictParameter(toolsFound('h', [tool('bet', { n: schema })]), 'bet', 'n', { minimum: 1, maximum: 3 })
    const accepted = ['99', '2', 99, 2, true, null].filter((n) => checkToolCall({ name: 'bet', arguments: { n } }, shownTools(edited)) === null)
    expect(accepted).toEqual([2])
    expect(parameter(edited, 'n')).not.toHaveProperty('default')
  }
  const listed = restrictParameter(toolsFound('h', [tool('bet', { n: kinds[0] as JsonSchema })]), 'bet', 'n', { enum: ['all', 2] })
  expect(parameter(restrictParameter(listed, 'bet', 'n', { minimum: 1 }), 'n').enum).toEqual([2])
})
