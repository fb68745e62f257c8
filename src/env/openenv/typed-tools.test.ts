/** Tools made from what an unknown action tells, and what a model's words become on their way to the server. */

import { describe, expect, it } from 'vitest'
import { toolsFound, type DiscoveredEnvironment } from '../../core/discovered'
import { boardRows, boardText, foldRows } from './boards'
import { NO_FACTS, type ActionFacts } from './catalogue'
import { sumUp } from './rewards'
import { plainSchema } from './schema'
import { deriveTools, discoveredTool, mcpTool, planCall, pythonLiteral } from './typed-tools'

const facts = (given: Partial<ActionFacts>): ActionFacts => ({ ...NO_FACTS, ...given })
const derived = (given: Partial<ActionFacts>) => deriveTools(facts(given))?.map(({ tool }) => tool.function)
const shell = (family: 'mcp' | 'typed', tools: DiscoveredEnvironment['tools']): DiscoveredEnvironment => ({ ...toolsFound('h', []), title: '', family, tools })

describe('deriveTools', () => {
  it('makes one tool for each kind of action, with the fields that are left', () => {
    const made = deriveTools(
      facts({
        required: ['action_type', 'target'],
        fields: { action_type: { type: 'string', enum: ['PickUp', 'put-down'] }, target: { type: 'string' }, force: { type: 'number' } },
      }),
    )
    expect(made?.map(({ tool }) => tool.function.name)).toEqual(['pick_up', 'put_down'])
    expect(made?.[0]?.tool.function.parameters).toEqual({
      type: 'object',
      properties: { target: { type: 'string' }, force: { type: 'number' } },
      required: ['target'],
    })
    const plan = planCall(shell('typed', (made ?? []).map(discoveredTool)), { name: 'put_down', arguments: { target: 'cup' } })
    expect(plan).toEqual({ kind: 'send', action: { action_type: 'put-down', target: 'cup' }, then: null })
  })

  it.each<[string, (string | number | boolean)[], string[]]>([
    ['signs', ['+', '-', '上'], ['action_1', 'action_2', 'action_3']],
    ['spellings of one name', ['up', 'UP', 'Up!', 'up_2'], ['up', 'up_2', 'up_3', 'up_2_2']],
    ['numbers', [3, -3, 1.5], ['do_3', 'do_3_2', 'do_1_5']],
    ['values of several types', ['3', 3, true], ['do_3', 'do_3_2', 'true']],
  ])('%s: each tool has a name of its own and sends its own value', (_, values, names) => {
    const made = deriveTools(facts({ required: ['action', 'x'], choices: { action: values }, types: { x: 'integer' } })) ?? []
    expect(made.map(({ tool }) => tool.function.name)).toEqual(names)
    const found = shell('typed', made.map(discoveredTool))
    const sent = names.map((name) => planCall(found, { name, arguments: { x: 1 } }))
    expect(sent).toEqual(values.map((action) => ({ kind: 'send', action: { action, x: 1 }, then: null })))
  })

  it('knows types from refusals alone, pydantic’s names included', () => {
    const types = { a: 'float', b: 'bool', c: 'list', d: 'int', e: 'dict' }
    expect(derived({ required: Object.keys(types), types })?.[0]).toMatchObject({
      name: 'act',
      parameters: {
        properties: { a: { type: 'number' }, b: { type: 'boolean' }, c: { type: 'array' }, d: { type: 'integer' }, e: { type: 'object' } },
      },
    })
    expect(derived({ required: ['a'], types: { a: 'custom' } })).toBeUndefined()
    expect(derived({})).toBeUndefined()
    expect(derived({ fields: { metadata: { type: 'object' } } })).toBeUndefined()
  })

  it('one field with choices is one tool; more kinds than a prompt can hold are one tool, too', () => {
    expect(derived({ required: ['action'], choices: { action: ['a', 'b'] } })?.map(({ name }) => name)).toEqual(['set_action'])
    const many = Array.from({ length: 30 }, (_, i) => `kind${i}`)
    expect(derived({ required: ['action_type'], choices: { action_type: many } })).toHaveLength(1)
  })
})

describe('planCall', () => {
  it('sends null where the server would fill in something else, and leaves out what was left out', () => {
    const made = deriveTools(facts({ required: ['a'], fields: { a: { type: 'integer', nullable: true }, b: { type: 'integer', nullable: true, default: 5 }, c: { type: 'integer', default: 5 }, d: { type: 'integer', nullable: true } } })) ?? []
    const found = shell('typed', made.map(discoveredTool))
    const name = made[0]?.tool.function.name ?? ''
    const plan = (args: Record<string, unknown>) => planCall(found, { name, arguments: args })
    expect(plan({ a: null, b: null, d: null })).toEqual({ kind: 'send', action: { a: null, b: null }, then: null })
    expect(plan({ a: 1 })).toEqual({ kind: 'send', action: { a: 1 }, then: null })
    expect(plan({ a: 1, c: null })).toMatchObject({ kind: 'refused', text: expect.stringContaining('"c" of') as string })
  })


  const say = { type: 'function', function: { name: 'say', description: '', parameters: { type: 'object', properties: {} } } } as const
  it('an MCP call goes to the server as it is, unknown tools and arguments included: the server is the judge', () => {
    for (const name of ['say', 'nope']) {
      const plan = planCall(shell('mcp', [mcpTool(say)]), { name, arguments: { x: 1 } })
      expect(plan).toEqual({ kind: 'send', action: { type: 'call_tool', tool_name: name, arguments: { x: 1 } }, then: null })
    }
  })
  it('a renamed MCP tool is called by its old name', () => {
    const renamed = { ...mcpTool(say), tool: { ...say, function: { ...say.function, name: 'speak' } } }
    expect(planCall(shell('mcp', [renamed]), { name: 'speak', arguments: {} })).toMatchObject({ action: { tool_name: 'say' } })
  })
})

it.each([
  ['plain', "'plain'"],
  ["it's", "'it\\'s'"],
  ["'); import os #", "'\\'); import os #'"],
  ['back\\', "'back\\\\'"],
  ['line\nand\ttab\u0000', "'line\\nand\\x09tab\\x00'"],
  ['日本 🙂', "'日本 🙂'"],
  [13, '13'],
])('pythonLiteral(%j) cannot be left', (value, literal) => expect(pythonLiteral(value)).toBe(literal))

describe('plainSchema', () => {
  it('resolves references, even circular ones, and null unions', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/Node' } }, title: 'Node' }
    const plain = plainSchema({ $ref: '#/$defs/Node', $defs: { Node: node } })
    expect(plain).toMatchObject({ type: 'object', properties: { next: { type: 'object' } } })
    expect(JSON.stringify(plain).length).toBeLessThan(2000)
    expect(plainSchema({ anyOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }], default: null, description: 'd' })).toEqual({
      type: 'string',
      maxLength: 3,
      description: 'd',
      nullable: true,
    })
    expect(plainSchema({ const: 'x' })).toEqual({ enum: ['x'] })
    expect(plainSchema({ allOf: [{ $ref: '#/$defs/E' }], default: 'a', $defs: { E: { enum: ['a'], title: 'E' } } })).toEqual({
      enum: ['a'],
      default: 'a',
    })
    expect(plainSchema({ type: 'array', prefixItems: [{ type: 'integer', title: 'I' }] })).toEqual({
      type: 'array',
      prefixItems: [{ type: 'integer' }],
    })
  })
  it('keeps every bound that the server enforces', () => {
    const bounds = [
      { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 5, multipleOf: 2 },
      { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 3, uniqueItems: true },
      { type: 'string', minLength: 1, maxLength: 3, pattern: '^[a-z]{3}$' },
    ]
    for (const schema of bounds) expect(plainSchema({ ...schema, title: 'T' })).toEqual(schema)
    expect(plainSchema({ type: 'string', pattern: 5, minLength: null })).toEqual({ type: 'string' })
  })
  it.each([null, 5, 'x', [], { $ref: '#/$defs/Gone' }, { type: 7, properties: [] }])('%j accepts everything', (schema) =>
    expect(plainSchema(schema)).toEqual({}),
  )
})

describe('boards', () => {
  it('are read by rows or folded, and drawn in columns', () => {
    expect(
      boardText(
        [
          ['1', '-1'],
          ['0', '1'],
        ],
        { '-1': 'O', '1': 'X', '0': '.' },
      ),
    ).toBe('X O\n. X')
    expect(foldRows([1, 2, 3, 4], 2, 2)).toEqual([
      ['1', '2'],
      ['3', '4'],
    ])
  })
  it.each<[unknown, unknown]>([
    [2, 3],
    [1e-9, 4e9],
    [0.5, 8],
    [-2, -2],
    ['2', 2],
    [NaN, 2],
  ])('four cells are not %j by %j', (width, height) => expect(foldRows([1, 2, 3, 4], width, height)).toBeNull())
  it.each([
    [[[1], [2]]],
    [[[1, 2], [3]]],
    [
      [
        [1, [2]],
        [3, 4],
      ],
    ],
    [
      [
        ['a long sentence', 'x'],
        ['y', 'z'],
      ],
    ],
    ['ab'],
  ])('%j is no board', (value) => expect(boardRows(value)).toBeNull())
})

it.each<[Parameters<typeof sumUp>[0], (number | null)[], number | null]>([
  [{ take: 'sum', successAt: 1 }, [null, 0.5, 0.25], 0.75],
  [{ take: 'last', successAt: 1 }, [0.2, 1, null], 1],
  [{ take: 'sum', floor: 0, successAt: 1 }, [0, -1], 0],
  [{ take: 'sum', floor: 0, successAt: 1 }, [null, null], null],
  [{ take: 'last', successAt: 1 }, [], null],
])('%j of %j is %j', (rule, rewards, reward) => expect(sumUp(rule, rewards)).toBe(reward))
