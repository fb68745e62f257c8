/** JSON Schema as servers write it (pydantic, FastMCP) → the plain form that stands in a prompt. */

import type { JsonSchema } from '../../core/tools'
import { isRecord } from '../../core/records'
import type { Fields } from './fields'

/** Schemas that nest or refer deeper are left open there. */
const DEEPEST = 12
/** Keywords that are kept, in the key order of transformers' get_json_schema; titles, flags and the rest are left out. */
const KEPT = [
  'type',
  'nullable',
  'enum',
  'anyOf',
  'oneOf',
  'items',
  'prefixItems',
  'properties',
  'required',
  'default',
  'description',
] as const
const BOUNDS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'pattern', 'minItems', 'maxItems', 'uniqueItems'],
]

/** Whether a keyword holds what JSON Schema says it holds; a server that dumps its models may write null or true there. */
function wellFormed(key: string, value: unknown): boolean {
  if (value === undefined || value === null) return false
  if (['enum', 'anyOf', 'oneOf', 'prefixItems'].includes(key)) return Array.isArray(value)
  if (key === 'required') return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string')
  if (key === 'properties' || key === 'items') return isRecord(value)
  if (key === 'type') return typeof value === 'string' || Array.isArray(value)
  return key === 'description' || key === 'pattern' ? typeof value === 'string' : true
}

/** What `#/$defs/Name` stands for. */
function target(reference: unknown, defs: Fields): Fields | null {
  if (typeof reference !== 'string') return null
  const found = defs[reference.replace(/^#\/(\$defs|definitions)\//, '')]
  return isRecord(found) ? found : null
}

/**
 * The plain form of a schema: references resolved, `const` as a list of one, "X or null" as X with `nullable`, titles dropped.
 * Never throws; what is malformed accepts everything.
 */
export function plainSchema(schema: unknown, defs: Fields = {}, depth = 0): JsonSchema {
  if (!isRecord(schema) || depth > DEEPEST) return {}
  const known = isRecord(schema['$defs']) ? { ...defs, ...schema['$defs'] } : defs
  const all: unknown = schema['allOf']
  const reference = schema['$ref'] ?? (Array.isArray(all) && all.length === 1 && isRecord(all[0]) ? all[0]['$ref'] : undefined)
  const referred = target(reference, known)
  if (referred !== null) {
    const { $ref: _, allOf: __, ...rest } = schema
    return plainSchema({ ...referred, ...rest }, known, depth + 1)
  }
  const inner = (value: unknown) => plainSchema(value, known, depth + 1)
  const source: Fields = 'const' in schema ? { ...schema, enum: [schema['const']] } : { ...schema }
  const choices: unknown = source['anyOf']
  if (Array.isArray(choices)) {
    const others = choices.filter((each) => !isRecord(each) || each['type'] !== 'null')
    if (others.length === 1 && others.length < choices.length && isRecord(others[0])) {
      const { anyOf: _, ...rest } = source
      const described = plainSchema({ ...others[0], ...rest }, known, depth + 1)
      // A default of null only says that the parameter may be left out.
      if (described.default === null) delete described.default
      return { ...described, nullable: true }
    }
  }
  const out: JsonSchema = {}
  for (const key of [...KEPT, ...BOUNDS]) {
    const value = source[key]
    if (!wellFormed(key, value)) continue
    if (key === 'properties') out[key] = Object.fromEntries(Object.entries(value as Fields).map(([name, field]) => [name, inner(field)]))
    else if (key === 'items') out[key] = inner(value)
    else if (key === 'anyOf' || key === 'oneOf' || key === 'prefixItems') out[key] = (value as unknown[]).map(inner)
    else Object.assign(out, { [key]: value })
  }
  return out
}
