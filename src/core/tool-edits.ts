/**
 * Edits that a person makes to an environment's tools: other names, descriptions, and narrower parameters. The model sees the
 * edited tool; the server gets the original. All functions are pure, and name tools by the id under which they were found.
 */

import type { DiscoveredEnvironment, DiscoveredTool } from './discovered'
import { PlaygroundError } from './errors'
import { checkToolCall } from './tool-schema'
import type { JsonSchema, Tool, ToolCall } from './tools'

/** What a parameter may be narrowed to; `minimum` and `maximum` are inclusive. */
export interface Restriction {
  enum?: readonly (string | number | boolean)[]
  minimum?: number
  maximum?: number
}

/** An edit as data, so that it can be stored with a run and made again after the next discovery. */
export type ToolEdit =
  | { kind: 'rename'; tool: string; name: string }
  /** Without `parameter`, the tool's own description. */
  | { kind: 'describe'; tool: string; parameter?: string; description: string }
  | ({ kind: 'restrict'; tool: string; parameter: string } & Restriction)
  | { kind: 'hide'; tool: string }

/** The names that OpenEnv keeps for itself. */
const RESERVED = ['reset', 'step', 'state', 'close']

const refuse = (message: string, advice: string) => new PlaygroundError('config', message, advice)

function find(found: DiscoveredEnvironment, id: string): DiscoveredTool {
  const tool = found.tools.find((each) => each.id === id)
  if (tool) return tool
  const known = found.tools.map((each) => each.id).join(', ')
  throw refuse(`${found.host} has no tool ${JSON.stringify(id)}.`, known === '' ? 'It has no tools left.' : `Its tools are: ${known}.`)
}

function replaced(found: DiscoveredEnvironment, id: string, change: (tool: Tool['function']) => Tool['function']): DiscoveredEnvironment {
  const tools = found.tools.map((each) =>
    each.id === id ? { ...each, tool: { ...each.tool, function: change(each.tool.function) } } : each,
  )
  return { ...found, tools }
}

/** The tool `id` under another name. Throws PlaygroundError('config') for a name that no model could call or that is taken. */
export function renameTool(found: DiscoveredEnvironment, id: string, name: string): DiscoveredEnvironment {
  find(found, id)
  if (!/^[A-Za-z_][\w.-]{0,63}$/.test(name)) {
    throw refuse(
      `A tool cannot be named ${JSON.stringify(name)}.`,
      'Use up to 64 letters, digits, dots, hyphens and underscores, a letter first.',
    )
  }
  if (RESERVED.includes(name)) throw refuse(`OpenEnv keeps the name ${name} for itself.`, 'Choose another name.')
  if (found.tools.some((each) => each.id !== id && each.tool.function.name === name)) {
    throw refuse(`There is another tool named ${name}.`, 'Choose another name, or rename that tool first.')
  }
  return replaced(found, id, (tool) => ({ ...tool, name }))
}

/** Another description of the tool, or of one of its parameters. Throws PlaygroundError('config') when there is no such thing. */
export function describeTool(found: DiscoveredEnvironment, id: string, description: string, parameter?: string): DiscoveredEnvironment {
  const { tool } = find(found, id)
  if (parameter === undefined) return replaced(found, id, (each) => ({ ...each, description }))
  const schema = parameterOf(tool, parameter)
  return replaced(found, id, (each) => withParameter(each, parameter, { ...schema, description }))
}

/**
 * The tool with a narrower parameter: fewer values, or a smaller range, within what earlier restrictions left. It must be given, unless
 * its own default lies within: what the model leaves out, the server would fill in as it likes. Throws PlaygroundError('config') when a
 * value would not be accepted by the original parameter, when nothing would be left, or when a range is asked of what is no number.
 */
export function restrictParameter(found: DiscoveredEnvironment, id: string, parameter: string, to: Restriction): DiscoveredEnvironment {
  const { original, tool } = find(found, id)
  const before = parameterOf(original, parameter)
  if (to.enum === undefined && to.minimum === undefined && to.maximum === undefined) return found
  checkRestriction(before, to, id, parameter)
  const narrowed = intersection(parameterOf(tool, parameter), to, `${id}.${parameter}`)
  const given = accepts(narrowed, narrowed.default)
  if (!given) delete narrowed.default
  return replaced(found, id, (each) => {
    const { required = [] } = each.parameters
    const changed = withParameter(each, parameter, narrowed)
    if (given || required.includes(parameter)) return changed
    return { ...changed, parameters: { ...changed.parameters, required: [...required, parameter] } }
  })
}

/** Throws for what does not fit the original parameter, whatever other restrictions it has. */
function checkRestriction(before: JsonSchema, to: Restriction, id: string, parameter: string): void {
  const where = `${id}.${parameter}`
  if (to.enum?.length === 0) throw refuse(`No value of ${where} would be left.`, 'Allow at least one.')
  for (const value of to.enum ?? []) {
    const wrong = mismatchOf(before, value, id, parameter)
    if (wrong !== null)
      throw refuse(`${JSON.stringify(value)} is no value of ${where}. ${wrong}`, 'Take only values that the environment accepts.')
  }
  if (to.minimum === undefined && to.maximum === undefined) return
  if (!isNumeric(before)) throw refuse(`${where} is not a number, so it has no range.`, 'List the values that it may have instead.')
  for (const bound of [to.minimum, to.maximum]) {
    if (bound !== undefined && !Number.isFinite(bound)) throw refuse(`${bound} is no bound of ${where}.`, 'Give a number.')
  }
  const { low, high } = rangeOf(withoutNull(before), to)
  if (low > high) throw refuse(`No value of ${where} lies from ${low} to ${high}.`, 'Give a minimum that is not above the maximum.')
  const outside = to.enum?.find((value) => typeof value !== 'number' || value < low || value > high)
  if (outside !== undefined) throw refuse(`${outside} is not from ${low} to ${high}, as ${where} must be.`, 'Give values or a range.')
}

/** What `now` and the restriction both accept, null never: it means "left out". Throws when that is nothing. */
function intersection(now: JsonSchema, to: Restriction, where: string): JsonSchema {
  const schema = to.minimum === undefined && to.maximum === undefined ? withoutNull(now) : numbersOf(withoutNull(now))
  const { low, high } = rangeOf(schema, to)
  const within = (value: unknown) => accepts(schema, value) && (typeof value !== 'number' || (value >= low && value <= high))
  const listed = to.enum ?? schema.enum
  const nothing = () =>
    refuse(`No value of ${where} would be left: its restrictions exclude each other.`, 'Undo one of them, or allow something that both allow.')
  if (listed !== undefined) {
    const values = listed.filter(within)
    if (values.length === 0) throw nothing()
    return { ...schema, enum: values }
  }
  if (low > high) throw nothing()
  return { ...schema, ...(low !== -Infinity && { minimum: low }), ...(high !== Infinity && { maximum: high }) }
}

/** The limits of a number that fits both; of whole numbers, the outermost whole ones. */
function rangeOf(schema: JsonSchema, to: Restriction): { low: number; high: number } {
  const low = Math.max(to.minimum ?? -Infinity, bound(schema.minimum, -Infinity))
  const high = Math.min(to.maximum ?? Infinity, bound(schema.maximum, Infinity))
  return schema.type === 'integer' ? { low: Math.ceil(low), high: Math.floor(high) } : { low, high }
}

/** null when the parameter takes the value, else why not. */
function mismatchOf(schema: JsonSchema, value: unknown, id = '', parameter = ''): string | null {
  const alone = { type: 'function', function: { name: id, description: '', parameters: { properties: { [parameter]: schema } } } } as const
  return checkToolCall({ name: id, arguments: { [parameter]: value } }, [alone])
}

const accepts = (schema: JsonSchema, value: unknown): boolean => value !== undefined && mismatchOf(schema, value) === null

/** The environment without the tool. Throws PlaygroundError('config') when it is the last one. */
export function hideTool(found: DiscoveredEnvironment, id: string): DiscoveredEnvironment {
  find(found, id)
  if (found.tools.length === 1) throw refuse(`${id} is the only tool: without it the model could do nothing.`, 'Leave one tool.')
  return { ...found, tools: found.tools.filter((each) => each.id !== id) }
}

/** All edits, in order. Throws PlaygroundError('config') at the first that does not fit what was found. */
export function applyToolEdits(found: DiscoveredEnvironment, edits: readonly ToolEdit[]): DiscoveredEnvironment {
  return edits.reduce((current, edit) => {
    switch (edit.kind) {
      case 'rename':
        return renameTool(current, edit.tool, edit.name)
      case 'describe':
        return describeTool(current, edit.tool, edit.description, edit.parameter)
      case 'restrict': {
        const { enum: values, minimum, maximum } = edit
        const to: Restriction = {}
        if (values !== undefined) to.enum = values
        if (minimum !== undefined) to.minimum = minimum
        if (maximum !== undefined) to.maximum = maximum
        return restrictParameter(current, edit.tool, edit.parameter, to)
      }
      case 'hide':
        return hideTool(current, edit.tool)
    }
  }, found)
}

/** The tool that the model called by the name it sees, or undefined. */
export function calledTool(found: DiscoveredEnvironment, call: ToolCall): DiscoveredTool | undefined {
  return found.tools.find(({ tool }) => tool.function.name === call.name)
}

function parameterOf(tool: Tool, parameter: string): JsonSchema {
  const { properties = {} } = tool.function.parameters
  const schema = Object.hasOwn(properties, parameter) ? properties[parameter] : undefined
  if (schema) return schema
  const known = Object.keys(properties).join(', ')
  throw refuse(
    `The tool ${tool.function.name} has no parameter ${JSON.stringify(parameter)}.`,
    known === '' ? 'It has none.' : `Its parameters are: ${known}.`,
  )
}

function withParameter(tool: Tool['function'], parameter: string, schema: JsonSchema): Tool['function'] {
  const { parameters } = tool
  return { ...tool, parameters: { ...parameters, properties: { ...parameters.properties, [parameter]: schema } } }
}

/** Whether a number fits; a parameter that may also be null (pydantic's Optional) counts as what it is besides. */
function isNumeric(schema: JsonSchema): boolean {
  const kinds = [schema, ...(Array.isArray(schema.anyOf) ? (schema.anyOf as JsonSchema[]) : [])].flatMap((each): unknown[] => (Array.isArray(each?.type) ? each.type : [each?.type]))
  return kinds.includes('integer') || kinds.includes('number')
}

/** The schema of everything but null; a union of one with it becomes plain. */
function withoutNull({ nullable: _, ...schema }: JsonSchema): JsonSchema {
  const isNull = (each: unknown) => (each as JsonSchema | null)?.type === 'null'
  const { anyOf, ...rest } = schema
  if (Array.isArray(anyOf) && anyOf.some(isNull)) {
    const others = (anyOf as JsonSchema[]).filter((each) => !isNull(each))
    return others.length === 1 ? withoutNull({ ...others[0], ...rest }) : { ...rest, anyOf: others }
  }
  const out: JsonSchema = { ...schema }
  const types: unknown = schema.type
  if (Array.isArray(types)) {
    const [only, ...more] = (types as string[]).filter((type) => type !== 'null')
    if (only !== undefined) Object.assign(out, { type: more.length === 0 ? only : [only, ...more] })
  }
  if (out.enum !== undefined) out.enum = out.enum.filter((value) => value !== null)
  return out
}

/** The numbers among what a schema takes: of `int | str`, "99" would pass by any range. A union of one becomes plain. */
function numbersOf(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema
  if (Array.isArray(anyOf)) {
    const others = (anyOf as JsonSchema[]).filter((each) => each !== null && isNumeric(each)).map(numbersOf)
    return others.length === 1 ? { ...others[0], ...rest } : { ...rest, anyOf: others }
  }
  const types: unknown = schema.type
  if (!Array.isArray(types)) return schema
  // Every integer is a number.
  const type = types.includes('number') ? 'number' : 'integer'
  return { ...schema, type }
}

const bound = (value: unknown, otherwise: number) => (typeof value === 'number' ? value : otherwise)
