/** A tool as a method of the Python environment: a typed signature, a docstring, and what is sent for a call. */

import type { ActionValue, CallMapping } from '../../core/discovered'
import type { JsonSchema, Tool } from '../../core/tools'
import { comment, docstring, isIdentifier, py, pyString } from './python'

/** What a call of a tool becomes: the environment's own name for it where nothing else is known. */
export type Sent = { kind: 'game'; name: string } | CallMapping | { kind: 'unknown' }

const TYPES: Readonly<Record<string, string>> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', object: 'dict[str, Any]', null: 'None' }
/** Names that the method's own code uses. */
const OWN_NAMES = ['self', 'Any', 'Literal', 'Step', 'call_tool', 'filled']

/** A parameter's schema as a type hint, from which transformers makes that schema again as far as a type can say it. */
export function typeHint(schema: JsonSchema): string {
  const hint = plainHint(schema)
  return schema.nullable === true && hint !== 'Any' ? `${hint} | None` : hint
}

function plainHint(schema: JsonSchema): string {
  const { enum: values, type, items } = schema
  const literal = values !== undefined && values.length > 0 && values.every((value) => typeof value !== 'number' || Number.isInteger(value))
  if (literal) return `Literal[${values.map((value) => py(value)).join(', ')}]`
  const choices = schema.anyOf ?? schema.oneOf
  if (Array.isArray(choices) && choices.length > 0) return union(choices.map((choice) => typeHint(choice as JsonSchema)))
  if (Array.isArray(type)) return union((type as unknown[]).map((each) => plainHint({ type: String(each) })))
  if (type === 'array') return items === undefined ? 'list' : `list[${typeHint(items)}]`
  return TYPES[type ?? ''] ?? 'Any'
}

const union = (hints: readonly string[]): string => (hints.includes('Any') ? 'Any' : [...new Set(hints)].join(' | '))

/** The method of a tool, indented by four. `method` is its name in Python; the model calls it by the tool's own. */
export function toolMethod(tool: Tool, method: string, sent: Sent): string {
  const { name, description, parameters } = tool.function
  const given = Object.entries(parameters.properties ?? {})
  const required = parameters.required ?? []
  // Others reach the method as a dictionary: it cannot name them.
  const named = parameters.properties !== undefined && given.every(([key]) => isIdentifier(key) && !OWN_NAMES.includes(key))
  const ordered = [...given.filter(([key]) => required.includes(key)), ...given.filter(([key]) => !required.includes(key))]
  const signature = named
    ? ordered.map(([key, schema]) => (required.includes(key) ? `${key}: ${typeHint(schema)}` : `${key}: ${optional(typeHint(schema))} = None`))
    : ['**arguments: Any']
  const described = named ? ordered.map(([key, schema]) => `    ${key}: ${oneLine(schema.description ?? 'Not described.')}`) : []
  const text = [description || 'Not described.', ...(described.length > 0 ? ['', 'Args:', ...described] : [])].join('\n')
  const read = (key: string): string => (named ? key : `arguments.get(${pyString(key)})`)
  return [
    `    @tool(${pyString(name)})`,
    `    def ${method}(${['self', ...signature].join(', ')}):`,
    `        ${docstring(text, 8)}`,
    ...sentFor(sent, given.map(([key]) => key), read).map((line) => (line === '' ? '' : `        ${line}`)),
  ].join('\n')
}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ')
const optional = (hint: string): string => (hint === 'Any' || hint.endsWith('| None') ? hint : `${hint} | None`)

/** Lines that return what is sent. */
function sentFor(sent: Sent, keys: readonly string[], read: (key: string) => string): string[] {
  switch (sent.kind) {
    case 'game':
      return [`return ${pyString(sent.name)}, {${keys.map((key) => `${pyString(key)}: ${read(key)}`).join(', ')}}`]
    case 'mcp':
      return [`return call_tool(${pyString(sent.tool)}, self._given)`]
    case 'action': {
      const fields = Object.entries(sent.fields).map(([field, value]) => `${pyString(field)}: ${fieldValue(value, read)}`)
      const action = `{${fields.join(', ')}}`
      return [sent.then ? `return Step(${action}, then=${py(sent.then.action)}, times=${sent.then.times})` : `return Step(${action})`]
    }
    case 'unknown':
      return [
        comment('STUB: the run does not say what its server gets for this tool. Return Step({...}) with the fields of the'),
        comment('server’s action (its /schema tells them), or call_tool("NAME", self._given) for a tool of an MCP server.'),
        'raise NotImplementedError("environment.py: say what this tool sends")',
      ]
  }
}

/** Where a field of an action comes from, as an expression. None leaves the field out. */
function fieldValue(value: ActionValue, read: (key: string) => string): string {
  switch (value.kind) {
    case 'constant':
      return py(value.value)
    case 'argument':
      return value.choices === undefined ? read(value.from) : `${py(value.choices)}.get(${read(value.from)}, ${read(value.from)})`
    case 'text': {
      const names = [...new Set([...value.template.matchAll(/\{(\w+)(?:!r)?\}/g)].map(([, name]) => name as string))]
      // As keywords they would have to be identifiers.
      const given = `**{${names.map((name) => `${pyString(name)}: ${read(name)}`).join(', ')}}`
      const keywords = names.every(isIdentifier) ? names.map((name) => `${name}=${read(name)}`) : [given]
      const unless = value.unless === undefined ? [] : [pyString(pythonPattern(value.unless))]
      return `filled(${[pyString(value.template), ...unless, ...keywords].join(', ')})`
    }
  }
}

/** JavaScript's `[^]`, any letter, is written otherwise in Python. */
export const pythonPattern = (pattern: string): string => pattern.replaceAll('[^]', '[\\s\\S]')
