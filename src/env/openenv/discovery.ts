/** Finds out over one session what an OpenEnv server offers: MCP tools, a typed action that we know, or one that tells its fields. */

import { z } from 'zod'
import type { DiscoveredEnvironment } from '../../core/discovered'
import { PlaygroundError } from '../../core/errors'
import type { JsonSchema, Tool } from '../../core/tools'
import { isRecord } from '../../core/records'
import { cutText } from '../../core/text'
import { findMcp, findTyped, needsState, NO_FACTS, proofOf, type ActionFacts, type Choice, type Entry } from './catalogue'
import type { ErrorFrame } from './protocol'
import { said } from './said'
import { plainSchema } from './schema'
import type { Reply, SessionSocket } from './socket'
import { deriveTools, discoveredTool, mcpTool, toolInItsWords } from './typed-tools'

const toolEntry = z.object({
  name: z.string(),
  description: z.string().nullish().catch(null),
  input_schema: z.unknown().optional(),
  inputSchema: z.unknown().optional(),
})
/** Characters of a tool's JSON, as the prompt shows it: more than an observation may have, and far more than a model reads of one tool. */
const LONGEST_TOOL = 20_000

const toolList = z.object({ tools: z.array(z.unknown()) })

/** HTTP is a bonus: servers send no CORS headers, so nobody waits for it longer than this. */
const HTTP_MS = 3000

/** The tools of an MCP listing in prompt form; null when it is none or empty. Entries without a name are left out. */
export function readTools(result: unknown): Tool[] | null {
  const listing = toolList.safeParse(result)
  if (!listing.success) return null
  const tools = listing.data.tools.flatMap((value): Tool[] => {
    const entry = toolEntry.safeParse(value)
    if (!entry.success) return []
    const { name, description, input_schema, inputSchema } = entry.data
    const schema = input_schema ?? inputSchema ?? { type: 'object', properties: {} }
    return [{ type: 'function', function: { name, description: description ?? '', parameters: plainSchema(schema) } }]
  })
  return tools.length > 0 ? tools : null
}

/** Python's literals: a text in either quotes, a number, or a constant. */
const LITERAL = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(?<![\w.])(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?![\w.])|\b(true|false|none|null)\b/gi
const ESCAPE = /\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8})|(.))/g
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }
const CONSTANTS: Readonly<Record<string, boolean | null>> = { true: true, false: false, none: null, null: null }

function unescaped(text: string): string {
  return text.replace(ESCAPE, (whole, x?: string, u?: string, long?: string, letter?: string) => {
    const code = parseInt(x ?? u ?? long ?? '', 16)
    if (Number.isNaN(code)) return ESCAPED[letter ?? ''] ?? letter ?? whole
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

/** Pydantic's `'left', "it's", 2 or True` as a list of JSON values. */
function expected(error: ErrorFrame['errors'][number]): Choice[] {
  const list = error.ctx?.['expected']
  if (typeof list !== 'string') return []
  return [...list.matchAll(LITERAL)].map(([, single, double, number, constant]) => {
    if (number !== undefined) return Number(number)
    if (constant !== undefined) return CONSTANTS[constant.toLowerCase()] ?? null
    return unescaped(single ?? double ?? '')
  })
}

/**
 * What the server's refusals of our probes tell. `missing`: nothing given; `wrong`: every required field given as a nonsense string
 * (and `action_type` where none is required).
 */
export function factsFromRefusals(missing: ErrorFrame, wrong: ErrorFrame | null): ActionFacts {
  const required = missing.errors
    .filter((e) => e.type === 'missing' && e.loc.length === 1)
    .map((e) => String(e.loc[0]))
    .sort()
  const choices: Record<string, readonly Choice[]> = {}
  const types: Record<string, string> = {}
  const absent: string[] = []
  for (const field of wrong === null ? [] : probed(required)) {
    const error = wrong?.errors.find((e) => e.loc[0] === field)
    if (error?.type === 'missing') continue
    if (error?.type === 'extra_forbidden') {
      absent.push(field)
      continue
    }
    if (error === undefined) types[field] = 'string'
    else if (error.type === 'literal_error' || error.type === 'enum') {
      const values = expected(error)
      if (values.length > 0) choices[field] = values
      else types[field] = 'string'
    } else types[field] = error.type.startsWith('int') ? 'integer' : error.type.replace(/_.*/, '')
  }
  return { ...NO_FACTS, required, choices, types, absent }
}

/** Fields that the second probe gives as nonsense. An action without required fields often has this one, which tells what it can do. */
const probed = (required: readonly string[]): readonly string[] => (required.length > 0 ? required : ['action_type'])

/** What `/schema`'s action tells; null when it is no schema of an object. */
export function factsFromSchema(action: unknown): ActionFacts | null {
  if (!isRecord(action) || !isRecord(action['properties'])) return null
  const plain = plainSchema(action)
  const fields: Record<string, JsonSchema> = plain.properties ?? {}
  const choices: Record<string, readonly Choice[]> = {}
  const types: Record<string, string> = {}
  for (const [name, field] of Object.entries(fields)) {
    if (field.enum !== undefined && field.enum.length > 0) choices[name] = field.enum
    if (typeof field.type === 'string') types[name] = field.type
  }
  const game = fields['game_name']?.default
  const title = typeof action['title'] === 'string' ? action['title'] : ''
  return {
    ...NO_FACTS,
    required: [...(plain.required ?? [])].sort(),
    choices,
    types,
    fields,
    title,
    game: typeof game === 'string' ? game : '',
  }
}

/** A route's JSON, or null: in a browser the request mostly fails, which says nothing about the server. */
async function fetchJson(route: string, { http, fetch: fetcher, deadlineMs, signal }: DiscoveryOptions): Promise<Record<string, unknown> | null> {
  const limit = AbortSignal.timeout(Math.min(deadlineMs, HTTP_MS))
  try {
    const response = await fetcher(`${http}${route}`, { signal: signal ? AbortSignal.any([signal, limit]) : limit })
    const value: unknown = await response.json()
    return response.ok && isRecord(value) ? value : null
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
      `${host} did not say which action it takes${reply.kind === 'error' ? `: ${said(reply.message) || reply.code}` : ''}.`,
      'Use an environment with MCP tools, or one of the known typed ones.',
    )
  }
  // Agent World Model's actions: MCP's own, though tools/list was refused.
  const union = missing.errors.find((error) => error.type === 'union_tag_not_found')
  if (union !== undefined) {
    throw new PlaygroundError(
      'environment',
      `${host} takes several kinds of action and listed no tools, as Agent World Model does, which lists them only after a reset that names one of its worlds.`,
      'This page must know the tools before it resets: choose another environment.',
    )
  }
  const first = factsFromRefusals(missing, null)
  const nonsense = Object.fromEntries(probed(first.required).map((field) => [field, '__probe__']))
  // A validator of the environment's own may fail on nonsense and take the session with it: then types stay unknown.
  const wrong = await socket.request({ type: 'step', data: { ...nonsense, __probe__: 1 } }, deadlineMs).catch(() => null)
  return factsFromRefusals(missing, refusalIn(wrong))
}

/** Which game the server's state names, and the names of its fields; their values are not looked at, as they may hold the answer. */
async function askState(socket: SessionSocket, deadlineMs: number): Promise<Pick<ActionFacts, 'game' | 'stateFields'>> {
  const reply = await socket.request({ type: 'state' }, deadlineMs).catch(() => null)
  if (reply?.kind !== 'state') return { game: '', stateFields: [] }
  const game = reply.state['game_name'] ?? reply.state['env_id']
  return { game: typeof game === 'string' ? game : '', stateFields: Object.keys(reply.state) }
}

export interface DiscoveryOptions {
  host: string
  /** Base of the HTTP routes. */
  http: string
  fetch: typeof fetch
  deadlineMs: number
  /** Ends what is asked over HTTP. */
  signal?: AbortSignal
  /** owner/name where it is known. */
  spaceId?: string | null
}

/**
 * Finds out what is behind a fresh session. `hello` is the reply to `tools/list`, which changes nothing on the server.
 * Throws PlaygroundError('environment') for an action whose fields cannot be found out, or that this page cannot play.
 */
export async function discover(hello: Reply, socket: SessionSocket, options: DiscoveryOptions): Promise<DiscoveredEnvironment> {
  const { host, deadlineMs } = options
  const tools = hello.kind === 'mcp' ? readTools(hello.result) : null
  // A server builds an environment to tell its name, which can take it seconds in which it answers nobody: asked only where nothing else tells.
  const askName = () => fetchJson('/metadata', options)
  if (tools !== null) {
    const known = findMcp(tools, namesOf(options, null))
    const about = known === null ? await askName() : null
    const entry = known ?? findMcp(tools, namesOf(options, about))
    const recognised = entry ? `It offers the tools of ${entry.title}.` : 'It offers tools that the catalogue does not know.'
    return describe(options, about, entry, { family: 'mcp', recognised, tools: tools.map(mcpTool) })
  }
  const first = await probe(socket, host, deadlineMs)
  const state = needsState(first.required.join()) ? await askState(socket, deadlineMs) : { game: '', stateFields: [] }
  const schema = await fetchJson('/schema', options)
  const told = factsFromSchema(schema?.['action'])
  const required = first.required.length > 0 ? first.required : (told?.required ?? [])
  const facts: ActionFacts = {
    ...NO_FACTS,
    required,
    choices: { ...told?.choices, ...first.choices },
    types: { ...told?.types, ...first.types },
    fields: told?.fields ?? null,
    title: told?.title ?? '',
    game: state.game || (told?.game ?? ''),
    stateFields: state.stateFields,
    absent: first.absent,
    names: namesOf(options, null),
  }
  const known = findTyped(facts)
  const about = known === null || known.id === 'message' ? await askName() : null
  facts.names = namesOf(options, about)
  const entry = about === null ? known : findTyped(facts)
  const how = told === null ? 'its refusals of our questions' : 'its own schema'
  if (entry !== null) {
    if (entry.unsupported !== null)
      throw new PlaygroundError('environment', `${host} is ${entry.title}. ${entry.unsupported}`, 'Choose another environment.')
    const isAny = entry.id === 'message'
    const tools = isAny ? entry.tools.map((each) => toolInItsWords(each, facts)) : entry.tools
    const recognised = isAny
      ? `It takes a message, as ${how} tell, and nothing proves which known environment it is.${told === null ? UNREAD : ''}`
      : `Its action fits ${entry.title}; what proves it: ${proofOf(facts)}.`
    return describe(options, about, entry, { family: 'typed', recognised, tools: tools.map(discoveredTool) })
  }
  const derived = deriveTools(facts)
  if (derived === null) throw unknownAction(host, facts, told !== null)
  const recognised = `Nothing proves that it is an environment of the catalogue; its tools are made from ${how}.${told === null ? UNREAD : ''}`
  return describe(options, about, null, { family: 'typed', recognised, tools: derived.map(discoveredTool) })
}

function namesOf({ host, spaceId }: DiscoveryOptions, about: Record<string, unknown> | null): string {
  const name = about?.['name']
  // One name of several words stays one.
  return [host, spaceId ?? '', typeof name === 'string' ? name.replace(/[\s./]+/g, '_') : ''].join(' ')
}

/** Throws PlaygroundError('environment') for a tool that is too long: to count its tokens alone would take minutes. */
function assertShort(host: string, tools: readonly Tool[]): void {
  for (const tool of tools) {
    const { length } = JSON.stringify(tool)
    if (length <= LONGEST_TOOL) continue
    const name = cutText(tool.function.name, 80)
    const message = `${host} describes its tool ${name} with ${length.toLocaleString('en')} characters; at most ${LONGEST_TOOL.toLocaleString('en')} are read.`
    throw new PlaygroundError('environment', message, 'Shorten its description on the server.')
  }
}

function describe(
  { host }: DiscoveryOptions,
  about: Record<string, unknown> | null,
  entry: Entry | null,
  found: Pick<DiscoveredEnvironment, 'family' | 'recognised' | 'tools'>,
): DiscoveredEnvironment {
  assertShort(host, found.tools.map(({ tool }) => tool))
  const name = about?.['name']
  const description = about?.['description']
  const told = typeof description === 'string' && description !== '' ? [`The server says: ${cutText(description, 500)}`] : []
  return {
    host,
    ...found,
    entry: entry?.id ?? null,
    title: entry?.title ?? (typeof name === 'string' && name !== '' ? name : host),
    evidence: entry?.evidence ?? 'server',
    prompts: entry?.prompts ?? { system: '', user: '' },
    observation: entry?.observation ?? 'Its field text, a tool’s result, or its fields as JSON with boards as lines.',
    reward: entry?.reward ?? { take: 'sum', successAt: 1 },
    resetData: entry?.resetData ?? {},
    ...(entry?.stepSeconds !== undefined && { stepSeconds: entry.stepSeconds }),
    quirks: entry?.quirks ?? [],
    needs: entry?.needs ?? [],
    notes: [...(entry?.notes ?? []), ...told],
    defaultSessions: entry?.sessions ?? null,
    recording: entry?.recording ?? null,
  }
}

function unknownAction(host: string, facts: ActionFacts, isRead: boolean): PlaygroundError {
  const advice = 'Let the server send CORS headers, so that its /schema can be read, or give its environment MCP tools.'
  if (facts.required.length === 0 && !isRead) {
    const known = Object.entries(facts.types).map(([name, type]) => ` but ${name} (${type})`)
    return new PlaygroundError(
      'environment',
      `${host} requires no field of its action, and without its /schema, which could not be read, nothing tells which optional ones there are${known.join('')}.`,
      advice,
    )
  }
  const fields = facts.required.map((name) => {
    const detail = facts.choices[name]?.join(' | ') ?? facts.types[name]
    return detail === undefined ? name : `${name} (${detail})`
  })
  const what = fields.length > 0 ? `an action with the fields ${fields.join(', ')}` : 'an action without required fields'
  return new PlaygroundError(
    'environment',
    `${host} takes ${what}, which this page does not know, and what they may hold could not be found out.`,
    advice,
  )
}

/** What a page of another origin mostly cannot read: servers send no CORS headers. */
const UNREAD = ' Its /schema could not be read, so its fields are without the server’s own descriptions, and optional fields, if it has any, are missing.'

/** The request that opens every session: harmless, needs no reset, and tells MCP servers from typed ones. */
export const HELLO = { type: 'mcp', data: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } } as const
