/** Reads JSDoc comments: what a method does, what its parameters are, and their types as JSON schema in get_json_schema's key order. */

import type { JsonSchema } from '../../core/tools'

export interface DocParam {
  name: string
  /** As it was written, without braces; null where there is none. */
  type: string | null
  optional: boolean
  description: string
}

export interface Doc {
  description: string
  params: DocParam[]
  returns: { type: string | null; description: string } | null
}

/** The text of a block comment (what stands between slash-star and star-slash), read as JSDoc. */
export function readDoc(comment: string): Doc {
  const text = comment
    .replace(/^\*/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trim())
    .join('\n')
  // A tag may stand on the description's own line.
  const [before = '', ...tags] = text.split(/(?:^|\s)@(?=[a-z]+\b)/i)
  const doc: Doc = { description: oneLine(before), params: [], returns: null }
  for (const tag of tags) {
    const { type, rest } = typeOf(tag.replace(/^\w+/, ''))
    if (/^(param|arg|argument)\b/i.test(tag)) {
      const found = /^(\[)?\s*([\w$]+)(?:\s*=[^\]]*)?\s*\]?\s*(?:[-–—:]\s*)?([^]*)$/.exec(rest)
      if (!found) continue
      const open = found[1] !== undefined || (type?.endsWith('=') ?? false)
      doc.params.push({ name: found[2] as string, type: type?.replace(/=$/, '') ?? null, optional: open, description: oneLine(found[3] ?? '') })
    } else if (/^returns?\b/i.test(tag)) {
      doc.returns = { type, description: oneLine(rest.replace(/^[-–—:]\s*/, '')) }
    }
  }
  return doc
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** The type in braces at the beginning, braces inside it balanced, and what follows it. */
function typeOf(text: string): { type: string | null; rest: string } {
  const from = text.trimStart()
  if (!from.startsWith('{')) return { type: null, rest: from }
  let depth = 0
  for (let i = 0; i < from.length; i++) {
    if (from[i] === '{') depth++
    if (from[i] === '}' && --depth === 0) return { type: from.slice(1, i).trim(), rest: from.slice(i + 1).trimStart() }
  }
  return { type: null, rest: from }
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'string',
  str: 'string',
  number: 'number',
  float: 'number',
  integer: 'integer',
  int: 'integer',
  boolean: 'boolean',
  bool: 'boolean',
  object: 'object',
  array: 'array',
}

/**
 * A JSDoc type as JSON schema: string, number, integer, boolean, object, T[], Array<T>, 'a'|'b', a union, and null or a leading ? for
 * nullable. null for what is none of these.
 */
export function schemaOf(type: string): JsonSchema | null {
  const text = type.trim()
  if (text === '*' || text === 'any') return {}
  const parts = splitUnion(text.replace(/^\?/, ''))
  const values = parts.filter((part) => part !== 'null' && part !== 'undefined')
  const nullable = text.startsWith('?') || values.length < parts.length ? { nullable: true } : {}
  const literals = values.map(literalOf)
  if (literals.length > 0 && literals.every((value) => value !== null)) {
    const types = [...new Set(literals.map((value) => (typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value)))]
    return types.length === 1 ? { type: types[0] as string, ...nullable, enum: literals } : null
  }
  const schemas = values.map(singleSchema)
  const [only] = schemas
  if (!only || schemas.includes(null)) return null
  if (schemas.length === 1) return { ...only, ...nullable }
  const basic = schemas.map((schema) => (schema && Object.keys(schema).length === 1 ? schema.type : undefined))
  // As transformers writes a union of plain types: sorted names.
  if (basic.every((name) => name !== undefined)) return { type: [...basic].sort() as unknown as string, ...nullable }
  return { anyOf: schemas, ...nullable }
}

function singleSchema(type: string): JsonSchema | null {
  const text = type.replace(/^\(([^]*)\)$/, '$1').trim()
  const list = /^(?:Array|List)\s*\.?<([^]+)>$/i.exec(text) ?? /^([^]+)\[\]$/.exec(text)
  if (list) {
    const items = schemaOf((list[1] as string).replace(/^\(([^]*)\)$/, '$1'))
    return items && { type: 'array', items }
  }
  if (/^Record<[^]*>$|^\{[^]*\}$/.test(text)) return { type: 'object' }
  const name = NAMES[text.toLowerCase()]
  return name === undefined ? null : { type: name }
}

/** Parts of a union; a bar inside quotes or brackets is none. */
function splitUnion(text: string): string[] {
  return (text.match(/(?:'[^']*'|"[^"]*"|\([^)]*\)|<[^>]*>|\{[^}]*\}|[^|])+/g) ?? []).map((part) => part.trim()).filter((part) => part !== '')
}

function literalOf(text: string): string | number | boolean | null {
  const quoted = /^'([^']*)'$|^"([^"]*)"$/.exec(text)
  if (quoted) return quoted[1] ?? quoted[2] ?? ''
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  return text === 'true' || text === 'false' ? text === 'true' : null
}
