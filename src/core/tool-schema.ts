/**
 * Checks a tool call against the tool's JSON schema before the environment sees it, and says in a sentence for the model
 * what is wrong. Knows type, enum, const, nullable, anyOf/oneOf, minimum, maximum, minLength, maxLength, items, properties,
 * required and additionalProperties; keywords that it does not know accept everything.
 */

import type { JsonSchema, Tool, ToolCall } from './tools'
import { isRecord } from './records'

/** Values and names that the model wrote are cut to this many characters in a message. */
const SHOWN = 40

/** null when the call fits one of the tools, else a sentence for the model. */
export function checkToolCall(call: ToolCall, tools: readonly Tool[]): string | null {
  const tool = tools.find((candidate) => candidate.function.name === call.name)
  if (tool === undefined) {
    const names = tools.map((candidate) => candidate.function.name).join(', ')
    return `There is no tool named ${shown(call.name)}. ${names === '' ? 'There are no tools.' : `The tools are: ${names}.`}`
  }
  const { parameters } = tool.function
  const { properties } = parameters
  const given = call.arguments
  for (const name of parameters.required ?? []) {
    if (!Object.hasOwn(given, name)) return `The tool ${shown(call.name)} needs the argument ${shown(name)}.`
  }
  for (const [name, value] of Object.entries(given)) {
    const schema = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
    if (schema === undefined) {
      // A Python tool refuses an argument it does not know, so an absent additionalProperties means false here.
      if (properties === undefined || (parameters.additionalProperties ?? false) !== false) continue
      const known = Object.keys(properties).join(', ')
      const hint = known === '' ? 'It has none.' : `Its arguments are: ${known}.`
      return `The tool ${shown(call.name)} has no argument ${shown(name)}. ${hint}`
    }
    const expected = mismatch(value, schema)
    if (expected !== null) return `The argument ${shown(name)} of ${shown(call.name)} must be ${expected}, not ${shown(value)}.`
  }
  return null
}

/** null when the value fits, else what it must be. */
function mismatch(value: unknown, schema: JsonSchema): string | null {
  if (typeof schema !== 'object' || schema === null) return null
  if (value === null && schema.nullable === true) return null
  const choices = schema.anyOf ?? schema.oneOf
  if (Array.isArray(choices) && choices.length > 0) {
    const expected = choices.map((choice) => mismatch(value, choice as JsonSchema))
    if (expected.every((each) => each !== null)) return [...new Set(expected)].join(' or ')
  }
  if ('const' in schema && !sameJson(value, schema.const)) return shown(schema.const)
  if (schema.enum !== undefined && !schema.enum.some((choice) => sameJson(value, choice))) {
    return `one of ${schema.enum.map((choice) => JSON.stringify(choice)).join(', ')}`
  }
  const types: unknown[] = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type]
  if (types.length > 0 && !types.some((type) => hasType(value, type))) return types.map(typeInWords).join(' or ')
  const size = sizeMismatch(value, schema)
  if (size !== null) return size
  if (Array.isArray(value) && schema.items !== undefined) {
    for (const item of value) {
      const expected = mismatch(item, schema.items)
      if (expected !== null) return `a list of which each item is ${expected}`
    }
  }
  return isRecord(value) ? objectMismatch(value, schema) : null
}

/** Of numbers the range, of texts the length in characters. */
function sizeMismatch(value: unknown, schema: JsonSchema): string | null {
  const limit = (key: string): number | null => (typeof schema[key] === 'number' ? schema[key] : null)
  const low = limit(typeof value === 'number' ? 'minimum' : 'minLength')
  const high = limit(typeof value === 'number' ? 'maximum' : 'maxLength')
  if (typeof value !== 'number' && typeof value !== 'string') return null
  const size = typeof value === 'number' ? value : [...value].length
  if ((low === null || size >= low) && (high === null || size <= high)) return null
  const range = low === null ? `at most ${high}` : high === null ? `at least ${low}` : `from ${low} to ${high}`
  return typeof value === 'number' ? `a number ${range}` : `a string of length ${range}`
}

function objectMismatch(value: Record<string, unknown>, schema: JsonSchema): string | null {
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) return `an object with ${shown(name)}`
  }
  for (const [name, child] of Object.entries(value)) {
    const childSchema = schema.properties !== undefined && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    if (childSchema === undefined) {
      if (schema.additionalProperties === false) return `an object without ${shown(name)}`
      continue
    }
    const expected = mismatch(child, childSchema)
    if (expected !== null) return `an object in which ${shown(name)} is ${expected}`
  }
  return null
}

function hasType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'number':
      return typeof value === type
    case 'integer':
      return Number.isInteger(value)
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isRecord(value)
    case 'null':
      return value === null
    default:
      return true
  }
}

function typeInWords(type: unknown): string {
  const words: Record<string, string> = {
    string: 'a string',
    boolean: 'true or false',
    number: 'a number',
    integer: 'an integer',
    array: 'a list',
    object: 'an object',
    null: 'null',
  }
  return words[String(type)] ?? String(type)
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
