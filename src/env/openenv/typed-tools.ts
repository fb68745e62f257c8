/** Named tools for a typed action, and from a call of a tool to the action that the server gets. */

import { calledTool } from '../../core/tool-edits'
import { shownTools, type ActionValue, type DiscoveredEnvironment, type DiscoveredTool } from '../../core/discovered'
import { checkToolCall } from '../../core/tool-schema'
import type { JsonSchema, Tool, ToolCall } from '../../core/tools'
import { JSON_TYPES, type ActionFacts, type Choice, type EntryTool } from './catalogue'
import { argument, constant, tool } from './catalogue/entry'

export type CallPlan =
  /** Not sent; `text` is the sentence for the model. */
  | { kind: 'refused'; text: string }
  /** One step, then `times` further ones with the action `then`. */
  | { kind: 'send'; action: Record<string, unknown>; then: { action: Record<string, unknown>; times: number } | null }

const refused = (sentence: string): CallPlan => ({ kind: 'refused', text: `Error: ${sentence}` })

/**
 * What to send for a call that names a tool as the model sees it. Typed calls are checked against the tool first, as some sessions die
 * of a refused action; an MCP server judges its calls itself, unknown tools included. Never throws.
 */
export function planCall(found: DiscoveredEnvironment, call: ToolCall): CallPlan {
  const called = calledTool(found, call)
  if (found.family === 'mcp') {
    const tool_name = called?.mapping.kind === 'mcp' ? called.mapping.tool : call.name
    return { kind: 'send', action: { type: 'call_tool', tool_name, arguments: call.arguments }, then: null }
  }
  const wrong = checkToolCall(call, shownTools(found))
  if (wrong !== null) return refused(wrong)
  if (called?.mapping.kind !== 'action') return refused(`There is no tool ${call.name}.`)
  const { fields, then } = called.mapping
  const action: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    const given = fieldValue(value, call.arguments, called.tool.function.parameters)
    if (given !== undefined) action[name] = given
  }
  return { kind: 'send', action, then: then ? { action: { ...then.action }, times: then.times } : null }
}

function fieldValue(value: ActionValue, given: Readonly<Record<string, unknown>>, { required = [], properties = {} }: JsonSchema): unknown {
  if (value.kind === 'constant') return value.value
  if (value.kind === 'argument') {
    const argument = given[value.from]
    // Null is the same as left out, unless the field must be given or the server would fill in something else.
    const isLeftOut = argument === null && !required.includes(value.from) && (properties[value.from]?.default ?? null) === null
    if (argument === undefined || isLeftOut) return undefined
    return value.choices !== undefined && typeof argument === 'string' && Object.hasOwn(value.choices, argument)
      ? value.choices[argument]
      : argument
  }
  const { template, unless } = value
  const lone = /^\W*\{(\w+)\}\W*$/.exec(template)?.[1]
  const whole = lone === undefined ? undefined : given[lone]
  if (unless !== undefined && typeof whole === 'string' && new RegExp(unless).test(whole)) return whole.trim()
  return template.replace(/\{(\w+)(!r)?\}/g, (_, name: string, literal?: string) => {
    const argument = given[name]
    return literal === undefined ? plain(argument) : pythonLiteral(argument)
  })
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** A text as Python source: in single quotes, with escapes, so that what a model writes cannot end the string. */
export function pythonLiteral(value: unknown): string {
  if (typeof value !== 'string') return plain(value)
  const escaped = [...value].map((letter) => {
    if (letter === '\\' || letter === "'") return `\\${letter}`
    if (letter === '\n') return '\\n'
    const code = letter.charCodeAt(0)
    return code < 0x20 || code === 0x7f ? `\\x${code.toString(16).padStart(2, '0')}` : letter
  })
  return `'${escaped.join('')}'`
}

/** A discovered tool from a catalogue's or a derived one. */
export function discoveredTool({ tool, fields, then }: EntryTool): DiscoveredTool {
  return { id: tool.function.name, original: tool, tool, mapping: { kind: 'action', fields, ...(then && { then }) } }
}

/** A tool that an MCP server offers. */
export function mcpTool(tool: Tool): DiscoveredTool {
  return { id: tool.function.name, original: tool, tool, mapping: { kind: 'mcp', tool: tool.function.name } }
}

/** Fields that say which of several things an action does. */
const KIND_FIELD = /^(action|action_type|type|kind|command|operation|op)$/
/** More tools than this would fill a small model's context. */
const MOST_TOOLS = 24

/**
 * Tools for an action that the catalogue does not know: one for each value of the field that tells actions apart, where there is one,
 * else a single one, named after the action. Null when the types of required fields are unknown.
 */
export function deriveTools(facts: ActionFacts): EntryTool[] | null {
  const schemas = fieldSchemas(facts)
  if (schemas === null || Object.keys(schemas).length === 0) return null
  const kind = Object.keys(schemas).find((name) => KIND_FIELD.test(name) && (schemas[name]?.enum?.length ?? 0) > 1)
  const values = kind === undefined ? [] : [...new Set<Choice>(schemas[kind]?.enum ?? [])].filter((value) => value !== null)
  const others = Object.entries(schemas).filter(([name]) => name !== kind)
  const make = (name: string, description: string, given: typeof others, fixed: Record<string, ActionValue>): EntryTool => {
    const optional = given.map(([field]) => field).filter((field) => !facts.required.includes(field))
    const fields = Object.fromEntries(given.map(([field]) => [field, argument(field)]))
    return { tool: tool(name, description, Object.fromEntries(given), optional), fields: { ...fixed, ...fields } }
  }
  // A field like `direction` with nothing beside it is a parameter, not a family of tools.
  if (kind !== undefined && values.length > 1 && values.length <= MOST_TOOLS && (others.length > 0 || kind.startsWith('action_'))) {
    const names = toolNames(values.map(String), kind)
    return values.map((value, i) => make(names[i] ?? kind, `The action ${String(value)}.`, others, { [kind]: constant(value) }))
  }
  const [only, ...more] = facts.required
  const title = identifier(facts.title.replace(/Action$/, ''))
  const name = title !== '' ? title : only !== undefined && more.length === 0 ? identifier(`set_${only}`) : 'act'
  return [make(name, `Takes the action${facts.title === '' ? '' : ` ${facts.title}`}.`, Object.entries(schemas), {})]
}

/**
 * The entry's tool with the fields as the server's schema describes them, optional ones included: for an entry that stands for any server
 * whose action has its field. The tool as it is where no schema could be read.
 */
export function toolInItsWords(own: EntryTool, facts: ActionFacts): EntryTool {
  const schemas = facts.fields === null ? null : fieldSchemas(facts)
  if (schemas === null) return own
  const { name, description, parameters } = own.tool.function
  const described = Object.entries(schemas).map(([field, schema]): [string, JsonSchema] => {
    const words = schema.description ?? parameters.properties?.[field]?.description
    return [field, words === undefined ? schema : { ...schema, description: words }]
  })
  const fields = Object.fromEntries(described.map(([field]) => [field, argument(field)]))
  const optional = Object.keys(fields).filter((field) => !facts.required.includes(field))
  return { tool: tool(name, description, Object.fromEntries(described), optional), fields }
}

/** A name for each value, all different: `+`, of which no letter is left, is named after its field and place; a second `up` is up_2. */
function toolNames(values: readonly string[], kind: string): string[] {
  const taken = new Set<string>()
  return values.map((value, i) => {
    const name = identifier(value) || `${identifier(kind)}_${i + 1}`
    let free = name
    for (let n = 2; taken.has(free); n++) free = `${name}_${n}`
    taken.add(free)
    return free
  })
}

/** Every field's schema: from /schema, else the required ones as the refusals tell. */
function fieldSchemas(facts: ActionFacts): Record<string, JsonSchema> | null {
  const { fields, required, choices, types } = facts
  if (fields !== null) {
    const kept = Object.entries(fields).filter(([name]) => name !== 'metadata')
    return Object.fromEntries(kept.map(([name, field]) => [name, field.enum?.length === 0 ? withoutEnum(field) : field]))
  }
  const known: Record<string, JsonSchema> = {}
  const optional = Object.keys(choices).filter((name) => !required.includes(name))
  for (const name of [...required, ...optional]) {
    const type = types[name]
    const allowed = choices[name]
    if (allowed !== undefined && allowed.length > 0) known[name] = choiceSchema(allowed)
    else if (type !== undefined && JSON_TYPES[type]) known[name] = { type: JSON_TYPES[type] }
    else return null
  }
  return known
}

function withoutEnum({ enum: _, ...rest }: JsonSchema): JsonSchema {
  return rest
}

/** The schema of a field that allows these values alone; without a type where they differ in it. */
function choiceSchema(allowed: readonly Choice[]): JsonSchema {
  const values = allowed.filter((value) => value !== null)
  const kinds = new Set(values.map((value) => typeof value))
  const [kind] = kinds
  const type = kind === 'number' && values.every(Number.isInteger) ? 'integer' : kind
  return {
    ...(kinds.size === 1 && type !== undefined && { type }),
    ...(values.length > 0 && { enum: values }),
    ...(values.length < allowed.length && { nullable: true }),
  }
}

/** `MoveForward` and `move-forward` → move_forward; '' when nothing is left. */
function identifier(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
  const plainName = words.replace(/\W+/g, '_').replace(/^_+|_+$/g, '')
  return /^\d/.test(plainName) ? `do_${plainName}` : plainName
}
