/** From a tool's JSON schema to the fields of a form, and from what was typed back to a call. Pure; every refusal is a sentence. */

import { checkToolCall } from '../../core/tool-schema'
import type { JsonSchema, Tool, ToolCall } from '../../core/tools'
import { readNumber, readWhole } from '../../core/typed-number'

export type Scalar = string | number | boolean

export type Field = {
  name: string
  description: string
  /** An optional one may be left out: empty text. */
  required: boolean
  /** What the control shows at first. */
  initial: string
} & (
  | { kind: 'choice'; options: readonly Scalar[] }
  | { kind: 'number'; integer: boolean; minimum: number | null; maximum: number | null }
  | { kind: 'text' }
  /** Arrays, objects and whatever the schema leaves open. */
  | { kind: 'json'; type: string }
)

export type Typed = Readonly<Record<string, string>>
export type ReadCall = { ok: true; call: ToolCall } | { ok: false; field: string | null; why: string }

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value)
const isScalar = (value: unknown): value is Scalar => ['string', 'number', 'boolean'].includes(typeof value)
const numberOr = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/** The only branch of a union beside null (pydantic's Optional), with what stands around it; else the schema itself. */
function unwrapped(schema: JsonSchema): JsonSchema {
  const { anyOf, oneOf, ...rest } = schema
  const branches = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list.filter(isSchema) : [])).filter(({ type }) => type !== 'null')
  const [only] = branches
  return only && branches.length === 1 ? { ...only, ...rest } : schema
}

/** The fields of a tool's form, in the schema's order. */
export function fieldsOf(tool: Tool): Field[] {
  const { properties = {}, required = [] } = tool.function.parameters
  return Object.entries(properties).map(([name, schema]) => fieldOf(name, isSchema(schema) ? unwrapped(schema) : {}, required.includes(name)))
}

function fieldOf(name: string, schema: JsonSchema, required: boolean): Field {
  const options = (Array.isArray(schema.enum) ? schema.enum : schema.type === 'boolean' ? [true, false] : []).filter(isScalar)
  const fallback = schema['default']
  const common = { name, description: schema.description ?? '', required }
  if (options.length > 0) {
    const first = options.some((option) => option === fallback) ? fallback : required ? options[0] : undefined
    return { ...common, kind: 'choice', options, initial: first === undefined ? '' : JSON.stringify(first) }
  }
  if (schema.type === 'number' || schema.type === 'integer') {
    const limits = { minimum: numberOr(schema['minimum']), maximum: numberOr(schema['maximum']) }
    return { ...common, kind: 'number', integer: schema.type === 'integer', ...limits, initial: typeof fallback === 'number' ? String(fallback) : '' }
  }
  if (schema.type === 'string') return { ...common, kind: 'text', initial: typeof fallback === 'string' ? fallback : '' }
  const type = typeof schema.type === 'string' ? schema.type : 'value'
  return { ...common, kind: 'json', type, initial: fallback === undefined || fallback === null ? '' : JSON.stringify(fallback) }
}

/** What a field accepts, in words: "a whole number from 0 to 9". */
export function limitsOf(field: Extract<Field, { kind: 'number' }>): string {
  const { integer, minimum, maximum } = field
  const noun = integer ? 'a whole number' : 'a number'
  if (minimum !== null && maximum !== null) return `${noun} from ${minimum} to ${maximum}`
  if (minimum !== null) return `${noun} from ${minimum}`
  return maximum === null ? noun : `${noun} up to ${maximum}`
}

const EXAMPLE: Readonly<Record<string, string>> = { array: '[1, 2]', object: '{"a": 1}' }

type ReadField = { ok: true; value: unknown } | { ok: true; left: true } | { ok: false; why: string }

/** What was typed into one field as a value; an optional field that is empty is left out. */
export function readField(field: Field, text: string): ReadField {
  const { name, required } = field
  const empty = field.kind === 'text' ? text === '' : text.trim() === ''
  if (empty && !required) return { ok: true, left: true }
  switch (field.kind) {
    case 'text':
      return { ok: true, value: text }
    case 'choice': {
      const value = field.options.find((option) => JSON.stringify(option) === text)
      return value === undefined ? { ok: false, why: `Choose a value for ${name}.` } : { ok: true, value }
    }
    case 'number': {
      const { integer, minimum, maximum } = field
      const value = integer ? readWhole(text) : readNumber(text)
      const fits = value >= (minimum ?? -Infinity) && value <= (maximum ?? Infinity)
      return fits ? { ok: true, value } : { ok: false, why: `${name} must be ${limitsOf(field)}${empty ? '' : `, not "${text}"`}.` }
    }
    case 'json':
      try {
        return { ok: true, value: JSON.parse(text) }
      } catch {
        const example = EXAMPLE[field.type] ?? '"text", 3 or true'
        return { ok: false, why: `${name} must be written as JSON, such as ${example}${empty ? '' : `; this cannot be read: ${text.slice(0, 40)}`}.` }
      }
  }
}

/** The call that the form says, or the first thing that is wrong with it, as the schema check puts it to the model. */
export function readCall(tool: Tool, typed: Typed): ReadCall {
  const args: Record<string, unknown> = {}
  for (const field of fieldsOf(tool)) {
    const read = readField(field, typed[field.name] ?? field.initial)
    if (!read.ok) return { ok: false, field: field.name, why: read.why }
    if ('value' in read) args[field.name] = read.value
  }
  const call = { name: tool.function.name, arguments: args }
  const why = checkToolCall(call, [tool])
  return why === null ? { ok: true, call } : { ok: false, field: null, why }
}

/** A list of values for `enum`, typed with commas between them: as the type of the argument asks. */
export function readValues(text: string, schema: JsonSchema): Scalar[] {
  const { type } = unwrapped(schema)
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      if (type === 'number' || type === 'integer') return Number.isNaN(readNumber(part)) ? part : readNumber(part)
      if (type === 'boolean') return part === 'true' ? true : part === 'false' ? false : part
      return part
    })
}

/** How an argument may be narrowed: by ticking values, by limits, or by a list of values. null for arrays and objects. */
export function narrowingOf(schema: JsonSchema): { kind: 'values'; all: readonly Scalar[] } | { kind: 'limits' } | { kind: 'list' } | null {
  const field = fieldOf('', unwrapped(schema), true)
  if (field.kind === 'choice') return { kind: 'values', all: field.options }
  if (field.kind === 'number') return { kind: 'limits' }
  return field.kind === 'text' ? { kind: 'list' } : null
}
