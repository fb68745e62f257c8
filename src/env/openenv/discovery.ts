/** Finds out over one session what an OpenEnv server offers: MCP tools, or a typed action that we know. */

import { z } from 'zod'
import { PlaygroundError } from '../../core/errors'
import type { JsonSchema, Tool } from '../../core/tools'
import { findKnown, type ActionFacts, type KnownEnvironment } from './catalogue'
import type { ErrorFrame } from './protocol'
import type { Reply, SessionSocket } from './socket'

export type Family = { kind: 'mcp'; tools: readonly Tool[] } | { kind: 'typed'; known: KnownEnvironment }

const mcpTool = z.object({
  name: z.string(),
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()).nullish(),
  inputSchema: z.record(z.string(), z.unknown()).nullish(),
})
const toolList = z.object({ tools: z.array(mcpTool) })

const fieldSchema = z.looseObject({
  type: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  $ref: z.string().optional(),
  default: z.unknown().optional(),
})
const actionSchema = z.object({
  title: z.string().default(''),
  required: z.array(z.string()).default([]),
  properties: z.record(z.string(), fieldSchema).default({}),
  $defs: z.record(z.string(), fieldSchema).default({}),
})
const schemas = z.object({ action: actionSchema })
type ActionSchema = z.infer<typeof actionSchema>

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a keyword holds what JSON Schema says it holds; a server that dumps its models may write null or true there. */
function wellFormed(key: string, value: unknown): boolean {
  if (value === undefined || value === null) return false
  if (key === 'enum' || key === 'anyOf') return Array.isArray(value)
  if (key === 'required') return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string')
  if (key === 'properties' || key === '$defs' || key === 'items') return isRecord(value)
  return true
}

/** What matters of a tool's schema, in the key order of transformers' get_json_schema; titles, flags and malformed keywords left out. */
function tidy(schema: unknown): JsonSchema {
  const out: JsonSchema = {}
  if (!isRecord(schema)) return out
  for (const key of [
    'type',
    'enum',
    'anyOf',
    'items',
    'properties',
    'required',
    'default',
    'description',
    'minimum',
    'maximum',
    '$ref',
    '$defs',
  ]) {
    const value = schema[key]
    if (!wellFormed(key, value)) continue
    if (key === 'properties') out[key] = Object.fromEntries(Object.entries(value as object).map(([name, field]) => [name, tidy(field)]))
    else out[key] = key === 'items' ? tidy(value) : value
  }
  return out
}

/** The tools of an MCP listing in prompt form; null when it is none or empty. */
export function readTools(result: unknown): Tool[] | null {
  const listing = toolList.safeParse(result)
  if (!listing.success || listing.data.tools.length === 0) return null
  return listing.data.tools.map((entry) => ({
    type: 'function',
    function: {
      name: entry.name,
      description: entry.description ?? '',
      parameters: tidy(entry.input_schema ?? entry.inputSchema ?? { type: 'object', properties: {} }),
    },
  }))
}

/** Pydantic's `'left', 'stay' or 'right'` as a list. */
function expected(error: ErrorFrame['errors'][number]): string[] {
  const list = error.ctx?.['expected']
  return typeof list === 'string' ? [...list.matchAll(/'([^']*)'/g)].map((match) => match[1] ?? '') : []
}

/** What the server's refusals of our probes tell. `missing`: nothing given; `wrong`: every required field given as a nonsense string. */
export function factsFromRefusals(missing: ErrorFrame, wrong: ErrorFrame | null): ActionFacts {
  const required = missing.errors
    .filter((e) => e.type === 'missing' && e.loc.length === 1)
    .map((e) => String(e.loc[0]))
    .sort()
  const choices: Record<string, string[]> = {}
  const types: Record<string, string> = {}
  for (const field of wrong === null ? [] : required) {
    const error = wrong?.errors.find((e) => e.loc[0] === field)
    if (error === undefined) types[field] = 'string'
    else if (error.type === 'literal_error' || error.type === 'enum') choices[field] = expected(error)
    else types[field] = error.type.startsWith('int') ? 'integer' : error.type.replace(/_.*/, '')
  }
  return { required, choices, types, title: '', game: '' }
}

/** What `/schema`'s action tells. */
export function factsFromSchema(schema: ActionSchema): ActionFacts {
  const choices: Record<string, string[]> = {}
  const types: Record<string, string> = {}
  for (const [name, field] of Object.entries(schema.properties)) {
    const real = field.$ref === undefined ? field : (schema.$defs[field.$ref.replace('#/$defs/', '')] ?? field)
    if (real.enum) choices[name] = real.enum.map(String)
    if (real.type !== undefined) types[name] = real.type
  }
  const game = schema.properties['game_name']?.default
  return { required: [...schema.required].sort(), choices, types, title: schema.title, game: typeof game === 'string' ? game : '' }
}

/** Servers send no CORS headers, so in a browser this mostly fails; that says nothing about the server. */
async function fetchSchema(http: string, fetcher: typeof fetch, deadlineMs: number): Promise<ActionFacts | null> {
  try {
    const response = await fetcher(`${http}/schema`, { signal: AbortSignal.timeout(deadlineMs) })
    const parsed = schemas.safeParse(await response.json())
    return parsed.success ? factsFromSchema(parsed.data.action) : null
  } catch {
    return null
  }
}

const refusalIn = (reply: Reply | null): ErrorFrame | null => (reply?.kind === 'error' && reply.code === 'VALIDATION_ERROR' ? reply : null)

/** Asks with an action that no server accepts (unknown keys are forbidden) and reads from the refusal what it lacks. */
async function probe(socket: SessionSocket, host: string, deadlineMs: number): Promise<ActionFacts> {
  const reply = await socket.request({ type: 'step', data: { __probe__: 1 } }, deadlineMs)
  const missing = refusalIn(reply)
  if (missing === null) {
    throw new PlaygroundError(
      'environment',
      `${host} did not say which action it takes${reply.kind === 'error' ? `: ${reply.message || reply.code}` : ''}.`,
      'Use an environment with MCP tools, or one of the known typed ones.',
    )
  }
  const first = factsFromRefusals(missing, null)
  const nonsense = Object.fromEntries(first.required.map((field) => [field, '__probe__']))
  // A validator of the environment's own may fail on nonsense and take the session with it: then types stay unknown.
  const wrong = await socket.request({ type: 'step', data: { ...nonsense, __probe__: 1 } }, deadlineMs).catch(() => null)
  return factsFromRefusals(missing, refusalIn(wrong))
}

/** The game that the server's state names; only asked where the action alone does not tell. */
async function playedGame(socket: SessionSocket, deadlineMs: number): Promise<string> {
  const reply = await socket.request({ type: 'state' }, deadlineMs).catch(() => null)
  const game = reply?.kind === 'state' ? reply.state['game_name'] : ''
  return typeof game === 'string' ? game : ''
}

export interface DiscoveryOptions {
  host: string
  /** Base of the HTTP routes. */
  http: string
  fetch: typeof fetch
  deadlineMs: number
}

/**
 * Finds the family of the server behind a fresh session. `hello` is the reply to `tools/list`, which changes nothing on the server.
 * Throws PlaygroundError('environment') for a typed action that is not in the catalogue, naming the fields it wants.
 */
export async function discover(hello: Reply, socket: SessionSocket, options: DiscoveryOptions): Promise<Family> {
  const { host, http, deadlineMs } = options
  const tools = hello.kind === 'mcp' ? readTools(hello.result) : null
  if (tools !== null) return { kind: 'mcp', tools }
  const [probed, schema] = await Promise.all([probe(socket, host, deadlineMs), fetchSchema(http, options.fetch, deadlineMs)])
  const required = probed.required.length > 0 ? probed.required : (schema?.required ?? [])
  const game = required.includes('action_id') ? await playedGame(socket, deadlineMs) : ''
  const facts: ActionFacts = {
    required,
    choices: { ...schema?.choices, ...probed.choices },
    types: { ...schema?.types, ...probed.types },
    title: schema?.title ?? '',
    game: game || (schema?.game ?? ''),
  }
  const known = findKnown(facts)
  if (known !== null) return { kind: 'typed', known }
  const fields = required.map((name) => {
    const detail = facts.choices[name]?.join(' | ') ?? facts.types[name]
    return detail === undefined ? name : `${name} (${detail})`
  })
  const what = fields.length > 0 ? `an action with the fields ${fields.join(', ')}` : 'an action without required fields'
  throw new PlaygroundError(
    'environment',
    `${host} takes ${what}${facts.game ? ` and plays ${facts.game}` : ''}, which this page does not know.`,
    'Use an environment with MCP tools, or one of the known typed ones (catch, echo, TextArena, grid world, Connect Four, chess).',
  )
}

/** The request that opens every session: harmless, needs no reset, and tells MCP servers from typed ones. */
export const HELLO = { type: 'mcp', data: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } } as const
