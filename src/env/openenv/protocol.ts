/** OpenEnv's frames on /ws: what we send, and a tolerant reading of what comes back. */

import { z } from 'zod/mini'
import { cutText } from '../../core/text'
import { readJson } from './json'

const record = z.record(z.string(), z.unknown())

/** What a client may send. Strict: servers refuse any extra key, so there is no request id. */
export const clientFrame = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('reset'), data: z.optional(record) }),
  z.strictObject({ type: z.literal('step'), data: record }),
  z.strictObject({ type: z.literal('state') }),
  z.strictObject({
    type: z.literal('mcp'),
    data: z.strictObject({ jsonrpc: z.literal('2.0'), id: z.number(), method: z.string(), params: record }),
  }),
  z.strictObject({ type: z.literal('close') }),
])
export type ClientFrame = z.infer<typeof clientFrame>
/** A frame that is answered by exactly one frame. */
export type Request = Exclude<ClientFrame, { type: 'close' }>

export interface ObservationFrame {
  kind: 'observation'
  /** The environment's own fields, without reward, done and metadata. */
  observation: Record<string, unknown>
  /** null = none given (NaN and infinities arrive so, too); booleans count as 0 and 1. */
  reward: number | null
  done: boolean
  metadata: Record<string, unknown>
}

export interface ErrorFrame {
  kind: 'error'
  /** The server's code; 'UNKNOWN' where it gave none. Whether the session lives on is told by the socket, not by the code. */
  code: string
  message: string
  /** Of VALIDATION_ERROR: what did not fit, as pydantic lists it. */
  errors: readonly FieldError[]
  /** Of CAPACITY_REACHED. */
  activeSessions: number | null
  maxSessions: number | null
}

export type ServerFrame =
  | ObservationFrame
  | ErrorFrame
  | { kind: 'state'; state: Record<string, unknown> }
  | { kind: 'mcp'; result: unknown; error: { code: number; message: string } | null }
  /** A type that we do not know; the sender is newer than we are. */
  | { kind: 'unknown'; type: string }
  /** Not a frame. `why` is half a sentence: "it is not JSON". */
  | { kind: 'garbage'; why: string }

const fieldError = z.object({
  type: z._default(z.string(), ''),
  loc: z._default(z.array(z.union([z.string(), z.number()])), []),
  msg: z._default(z.string(), ''),
  ctx: z.catch(z.optional(record), undefined),
})
export type FieldError = z.infer<typeof fieldError>

/** A server may put a whole log into an error; people, policies and episodes get the head of it. */
const MAX_MESSAGE = 2000
const MAX_FIELD_ERRORS = 10
const cut = (text: string, most = MAX_MESSAGE): string => (text.length > most ? `${cutText(text, most)} …` : text)

const envelope = z.object({ type: z.string(), data: z.optional(z.unknown()) })
const count = z._default(z.catch(z.nullable(z.int().check(z.nonnegative())), null), null)
const errorData = z.object({
  message: z._default(z.catch(z.string(), ''), ''),
  code: z._default(z.catch(z.string(), 'UNKNOWN'), 'UNKNOWN'),
  errors: z._default(z.catch(z.array(z.unknown()), []), []),
  active_sessions: count,
  max_sessions: count,
})
const rewardValue = z.union([z.number(), z.boolean(), z.null()])
const doneValue = z.union([z.boolean(), z.null()])
const rpcData = z.object({
  result: z.optional(z.unknown()),
  error: z.nullish(z.object({ code: z.catch(z.number(), 0), message: z.catch(z.string(), '') })),
})

/** The value from the envelope where it stands there at all, else from inside the observation (home-made servers). */
function either(key: string, data: Record<string, unknown>, inside: Record<string, unknown>): unknown {
  return (Object.hasOwn(data, key) ? data[key] : inside[key]) ?? null
}

function readObservation(data: Record<string, unknown>): ServerFrame {
  const nested = record.safeParse(data['observation'])
  if (Object.hasOwn(data, 'observation') && !nested.success && data['observation'] !== null) {
    return { kind: 'garbage', why: 'its observation is not an object' }
  }
  const inside = nested.success ? nested.data : data
  const reward = rewardValue.safeParse(either('reward', data, inside))
  // JSON's 1e999 is infinite once parsed: not a reward. zod's number refuses it already.
  if (!reward.success && typeof either('reward', data, inside) !== 'number') return { kind: 'garbage', why: 'its reward is not a number' }
  const done = doneValue.safeParse(either('done', data, inside))
  if (!done.success) return { kind: 'garbage', why: 'its done is neither true nor false' }
  const metadata = record.safeParse(data['metadata'] ?? inside['metadata'] ?? {})
  const envelopeKeys = nested.success ? ['reward', 'done', 'metadata'] : ['reward', 'done', 'metadata', 'observation']
  const own = Object.entries(inside).filter(([key]) => !envelopeKeys.includes(key))
  return {
    kind: 'observation',
    observation: Object.fromEntries(own),
    reward: reward.success && reward.data !== null ? Number(reward.data) : null,
    done: done.data ?? false,
    metadata: metadata.success ? metadata.data : {},
  }
}

/**
 * Longer frames are not read, since parsing takes many times a text's own memory. A screenshot of 1280×720 as numbers takes 12 MB, and a
 * text of 12 MB from an MCP tool 36: the library sends it three times.
 */
export const MAX_FRAME_CHARACTERS = 40 * 2 ** 20

/** Reads one text frame. Never throws: what cannot be read is 'garbage', what is not known is 'unknown'. */
export function parseServerFrame(text: string): ServerFrame {
  if (text.length > MAX_FRAME_CHARACTERS) {
    return { kind: 'garbage', why: `it has ${(text.length / 2 ** 20).toFixed(1)} MiB, more than the ${MAX_FRAME_CHARACTERS / 2 ** 20} that are read` }
  }
  const json = readJson(text)
  if (!json.ok) return { kind: 'garbage', why: json.why }
  const frame = envelope.safeParse(json.value)
  if (!frame.success) return { kind: 'garbage', why: 'it is not an object with a type' }
  const { type, data } = frame.data
  if (!['observation', 'state', 'mcp', 'error'].includes(type)) return { kind: 'unknown', type }
  const body = record.safeParse(data)
  if (!body.success) return { kind: 'garbage', why: `the data of its ${type} is not an object` }
  if (type === 'observation') return readObservation(body.data)
  if (type === 'state') return { kind: 'state', state: body.data }
  if (type === 'mcp') {
    const rpc = rpcData.safeParse(body.data)
    return rpc.success
      ? { kind: 'mcp', result: rpc.data.result, error: rpc.data.error ?? null }
      : { kind: 'garbage', why: 'it is not a JSON-RPC response' }
  }
  const error = errorData.parse(body.data)
  const errors = error.errors.slice(0, MAX_FIELD_ERRORS).flatMap((e) => fieldError.safeParse(e).data ?? [])
  return {
    kind: 'error',
    code: cut(error.code),
    message: cut(error.message),
    errors,
    activeSessions: error.active_sessions,
    maxSessions: error.max_sessions,
  }
}

/** A VALIDATION_ERROR's list as one sentence a field, for the policy: `to: Input should be 'left', 'stay' or 'right'`. */
export function describeFieldErrors(frame: ErrorFrame): string {
  const lines = frame.errors.map(({ loc, msg }) => cut(loc.length > 0 ? `${loc.join('.')}: ${msg}` : msg, 300))
  return lines.length > 0 ? lines.join('; ') : frame.message
}
