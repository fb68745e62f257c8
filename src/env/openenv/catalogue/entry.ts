/** What an entry of the catalogue says, and short ways to write one. */

import type { ActionValue, CallMapping, DiscoveredEnvironment, Quirk } from '../../../core/discovered'
import type { JsonSchema, Tool } from '../../../core/tools'
import type { ObservationFrame } from '../protocol'

/** A value that a field allows. */
export type Choice = string | number | boolean | null

/** What discovery could find out about a typed action. */
export interface ActionFacts {
  /** Required fields, sorted. */
  required: readonly string[]
  /** Values a field allows, where the server tells. */
  choices: Readonly<Record<string, readonly Choice[]>>
  /** JSON type of a field ('integer', 'string' ...), where the server tells. */
  types: Readonly<Record<string, string>>
  /** Schema of every field in plain form; null when /schema could not be read. */
  fields: Readonly<Record<string, JsonSchema>> | null
  /** Title of the action's schema, e.g. EchoAction; '' when /schema could not be read. */
  title: string
  /** Game that the server's state names (OpenSpiel, Atari, TextArena), else ''. */
  game: string
  /** Fields of the server's state, where it was asked. */
  stateFields: readonly string[]
  /** Fields that the server refused as unknown. */
  absent: readonly string[]
  /** Host, Space id and name in /metadata, apart by spaces. */
  names: string
}

/** Nothing was told. */
export const NO_FACTS: ActionFacts = { required: [], choices: {}, types: {}, fields: null, title: '', game: '', stateFields: [], absent: [], names: '' }

/** Pydantic's and JSON Schema's names of types. */
export const JSON_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'integer',
  int: 'integer',
  float: 'number',
  number: 'number',
  bool: 'boolean',
  boolean: 'boolean',
  list: 'array',
  array: 'array',
  dict: 'object',
  object: 'object',
}

/** What a field of an entry's action may be: of a type, where the server tells no values, or of values, where it does. */
export interface FieldKind {
  type?: string
  /** Just these values. */
  exactly?: readonly Choice[]
  /** These values and any others. */
  among?: readonly Choice[]
}

export interface EntryTool {
  tool: Tool
  fields: Readonly<Record<string, ActionValue>>
  then?: Extract<CallMapping, { kind: 'action' }>['then']
}

/** What a server of the entry's kind is found to be, as far as the entry alone can say. */
type Known = Pick<
  DiscoveredEnvironment,
  'title' | 'evidence' | 'family' | 'prompts' | 'observation' | 'reward' | 'resetData' | 'stepSeconds' | 'quirks' | 'needs' | 'notes' | 'recording'
>

export interface Entry extends Known {
  /** Key, unique. */
  id: string
  /** MCP: names of which the server must offer every one. */
  offers?: readonly string[]
  /** Typed: the required fields, sorted and joined by commas; null where there is no action to recognise it by. */
  required: string | null
  /** Typed: what other versions require. */
  alsoRequired?: readonly string[]
  /** Typed: what its fields are; a server that tells otherwise is something else. */
  action?: Readonly<Record<string, FieldKind>>
  /** Typed: titles of its action's schema. A server that tells another title is something else. */
  titles?: readonly string[]
  /** Typed: fields of the server's state that no other environment with these required fields has; they stand for its name. */
  marks?: readonly string[]
  /** Typed: what it is called in hosts, Spaces and metadata: lower case, no separators. */
  called?: readonly string[]
  /** Typed: no other environment would call its required field, or just these values of it, so. */
  isRare?: boolean
  /** Typed: narrows where several entries have the same action. MCP: decides where no tools are named. */
  suits?: (facts: ActionFacts) => boolean
  /** MCP: whether tools beyond `offers` are allowed. Default true. */
  more?: boolean
  /** Typed: one for each thing that a policy can do. MCP: none, the server's own are taken. */
  tools: readonly EntryTool[]
  /** Better text than the observation's fields; null = use them. Pictures have become placeholders already. */
  text?: (frame: ObservationFrame) => string | null
  /** What a panel draws; null = the observation's fields. `start` is the text after reset. */
  scene?: (frame: ObservationFrame, text: string, start: string) => unknown
  /** Sessions by default; null = set by the server's owner. */
  sessions: number | null
  /** Public hosts named in the official examples; none of them was contacted. */
  hosts: readonly string[]
  /** Why this page cannot play it, one sentence. */
  unsupported: string | null
  /** Why there is no recorded episode, one sentence; null where there is one, or where `unsupported` says it. */
  unrecorded: string | null
}

type Given = Pick<Entry, 'id' | 'title' | 'observation'> & Partial<Entry>

/** An entry with the usual defaults: typed, known from its source, one session, the envelope's rewards added up. */
export function entry(given: Given): Entry {
  return {
    evidence: 'source',
    family: 'typed',
    required: null,
    tools: [],
    prompts: { system: '', user: '' },
    reward: { take: 'sum', successAt: 1 },
    resetData: {},
    quirks: [],
    needs: [],
    notes: [],
    sessions: 1,
    recording: null,
    hosts: [],
    unsupported: null,
    unrecorded: null,
    ...given,
  }
}

/** A tool in transformers' key order; parameters are required unless named in `optional`. */
export function tool(name: string, description: string, properties: Record<string, JsonSchema>, optional: readonly string[] = []): Tool {
  const required = Object.keys(properties).filter((key) => !optional.includes(key))
  const parameters: JsonSchema = { type: 'object', properties, ...(required.length > 0 && { required }) }
  return { type: 'function', function: { name, description, parameters } }
}

export const text = (description: string): JsonSchema => ({ type: 'string', description })
export const choice = (description: string, values: readonly (string | number)[]): JsonSchema => ({
  type: typeof values[0] === 'number' ? 'integer' : 'string',
  enum: values,
  description,
})
export const integer = (description: string, minimum?: number, maximum?: number): JsonSchema => ({
  type: 'integer',
  ...(minimum !== undefined && { minimum }),
  ...(maximum !== undefined && { maximum }),
  description,
})

export const argument = (from: string, choices?: Readonly<Record<string, unknown>>): ActionValue =>
  choices === undefined ? { kind: 'argument', from } : { kind: 'argument', from, choices }
export const template = (written: string, unless?: string): ActionValue =>
  unless === undefined ? { kind: 'text', template: written } : { kind: 'text', template: written, unless }
export const constant = (value: unknown): ActionValue => ({ kind: 'constant', value })

export const SEED_IGNORED = {
  kind: 'seed-ignored',
  text: 'Servers older than 0.15 accept a seed and ignore it, so the members of a group may get different tasks.',
} as const satisfies Quirk
export const neverDone = (who: string) =>
  ({
    kind: 'never-done',
    text: `${who} never says done: an episode ends when the model answers without a call or its budget is used up.`,
  }) as const satisfies Quirk
export const SINGLE_STEP = { kind: 'single-step', text: 'One call ends the episode.' } as const satisfies Quirk
