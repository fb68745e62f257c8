import { describe, expect, it } from 'vitest'
import type { JsonSchema, Tool } from '../../core/tools'
import { toolMethod, typeHint, type Sent } from './tool-methods'

const toolOf = (properties: Record<string, JsonSchema>, required: string[] = Object.keys(properties), description = 'Does it.'): Tool => ({
  type: 'function',
  function: { name: 'do-it', description, parameters: { type: 'object', properties, required } },
})

describe('type hints', () => {
  it.each<[JsonSchema, string]>([
    [{ type: 'string' }, 'str'],
    [{ type: 'integer', minimum: 1 }, 'int'],
    [{ type: 'number' }, 'float'],
    [{ type: 'boolean' }, 'bool'],
    [{ type: 'object' }, 'dict[str, Any]'],
    [{ type: 'array' }, 'list'],
    [{ type: 'array', items: { type: 'array', items: { type: 'integer' } } }, 'list[list[int]]'],
    [{ type: 'string', enum: ['a"', 'b'] }, 'Literal["a\\"", "b"]'],
    [{ type: 'integer', enum: [1, 2] }, 'Literal[1, 2]'],
    // Literal knows no fractions.
    [{ type: 'number', enum: [0.5] }, 'float'],
    [{ type: 'string', nullable: true }, 'str | None'],
    [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, 'str | int'],
    [{ type: ['string', 'null'] as unknown as string }, 'str | None'],
    [{}, 'Any'],
    [{ anyOf: [{}, { type: 'integer' }] }, 'Any'],
  ])('%j is %s', (schema, hint) => {
    expect(typeHint(schema)).toBe(hint)
  })
})

describe('methods', () => {
  const body = (tool: Tool, sent: Sent) => toolMethod(tool, 'do_it', sent).split('\n')

  it('of a typed action: required parameters first, optional ones with None', () => {
    const tool = toolOf({ tests: { type: 'string' }, code: { type: 'string', description: 'Source,\n  all of it' } }, ['code'])
    const fields = { core: { kind: 'argument', from: 'code' }, kind: { kind: 'constant', value: 'run' }, test: { kind: 'argument', from: 'tests' } } as const
    expect(body(tool, { kind: 'action', fields })).toEqual([
      '    @tool("do-it")',
      '    def do_it(self, code: str, tests: str | None = None):',
      '        """Does it.',
      '',
      '        Args:',
      '            code: Source, all of it',
      '            tests: Not described.',
      '        """',
      '        return Step({"core": code, "kind": "run", "test": tests})',
    ])
  })

  it('of words for the server’s values, of templates and of further steps', () => {
    const tool = toolOf({ way: { type: 'string', enum: ['left'] } })
    const fields = {
      id: { kind: 'argument', from: 'way', choices: { left: 0 } },
      text: { kind: 'text', template: 'go({way!r})', unless: '^\\s*\\[[^]*\\]$' },
    } as const
    expect(body(tool, { kind: 'action', fields, then: { action: { type: 'observe' }, times: 9 } }).at(-1)).toBe(
      '        return Step({"id": {"left": 0}.get(way, way), "text": filled("go({way!r})", "^\\\\s*\\\\[[\\\\s\\\\S]*\\\\]$", way=way)}, then={"type": "observe"}, times=9)',
    )
  })

  it('of an MCP tool passes on what the model gave', () => {
    expect(body(toolOf({ a: { type: 'string' } }), { kind: 'mcp', tool: 'own"name' }).at(-1)).toBe('        return call_tool("own\\"name", self._given)')
  })

  it('takes a dictionary where Python could not name a parameter', () => {
    const lines = body(toolOf({ from: { type: 'string' }, 'x-y': {} }), { kind: 'game', name: 'go' })
    expect(lines[1]).toBe('    def do_it(self, **arguments: Any):')
    expect(lines.at(-1)).toBe('        return "go", {"from": arguments.get("from"), "x-y": arguments.get("x-y")}')
    // `self` would be given twice.
    expect(body(toolOf({ self: { type: 'string' } }), { kind: 'game', name: 'go' })[1]).toContain('**arguments')
  })

  it('marks a tool of which nobody knows what is sent, and does not go on silently', () => {
    const text = body(toolOf({}), { kind: 'unknown' }).join('\n')
    expect(text).toContain('# STUB:')
    expect(text).toContain('raise NotImplementedError')
  })

  it('lets no description out of its docstring', () => {
    const text = toolMethod(toolOf({ a: { type: 'string', description: '"""\nimport os' } }, ['a'], '"""\n    evil()'), 'do_it', { kind: 'game', name: 'go' })
    expect(text.match(/(?<!\\)"""/g)).toHaveLength(2)
  })
})
