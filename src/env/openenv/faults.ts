/** Answers that look like a refused call but are not the model's doing: a backend that is down, a closed environment, a tool of ours that does not fit. */

import { PlaygroundError } from '../../core/errors'
import { isRecord } from '../../core/records'
import { cutText } from '../../core/text'
import { describeFieldErrors, type ErrorFrame, type ObservationFrame } from './protocol'

/** Kinds of MCP errors that no call could have avoided. */
const BACKEND_FAULTS = new Set(['timeout', 'transport_error', 'connection_error'])
/** What the library itself says through execution_error once a session is closed. A tool's own words stand behind "Error calling tool". */
const CLOSED = /^(MCP (client|server) is not available\b|Server session was closed unexpectedly|Session terminated)/
/** How official servers, by their kind, tell in a field that what they call is not there. Elsewhere the same words may be the model's. */
const MISSING_BACKENDS: Readonly<Record<string, { field: string; words: RegExp }>> = {
  julia: { field: 'stderr', words: /^Julia not found in PATH/ },
  websearch: { field: 'content', words: /^\[ERROR\] Search failed due to/ },
}
/** pydantic's error types for an action whose fields are not the server's. */
const FOREIGN_FIELDS = new Set(['missing', 'extra_forbidden'])

/**
 * Throws PlaygroundError('environment') when the tool's error is the environment's own failure; the episode is then unscorable, not 0.
 * `entry` is the catalogue's name of the environment, null where it is not known.
 */
export function throwBackendFault(host: string, { observation }: ObservationFrame, entry: string | null = null): void {
  const { error } = observation
  const missing = entry !== null && Object.hasOwn(MISSING_BACKENDS, entry) ? MISSING_BACKENDS[entry] : undefined
  const said = missing && observation[missing.field]
  if (typeof said === 'string' && missing?.words.test(said)) {
    const advice = 'Give the server what it lacks; no call of the model could have worked.'
    throw new PlaygroundError('environment', `${host} could not do what was asked: ${cutText(said, 200)}`, advice, { recurrence: 'lasting' })
  }
  if (!isRecord(error)) return
  const kind = typeof error['error_type'] === 'string' ? error['error_type'] : ''
  const message = typeof error['message'] === 'string' ? error['message'] : ''
  if (!BACKEND_FAULTS.has(kind) && !(kind === 'execution_error' && CLOSED.test(message))) return
  throw new PlaygroundError('environment', `The tool at ${host} failed without the model's doing (${kind}): ${message || 'no reason given'}.`, 'Look at the log of the environment.')
}

/** Throws PlaygroundError('environment') when a reset was answered by an episode that is over and, in metadata, by why: a key that the server lacks, mostly. */
export function throwFailedReset(host: string, { done, metadata: { status, error } }: ObservationFrame): void {
  if (!done || status !== 'error') return
  const why = typeof error === 'string' && error !== '' ? error.replace(/\.$/, '') : 'it did not say why'
  throw new PlaygroundError('environment', `${host} could not start an episode: ${why}.`, 'Set up the server as its environment asks.', { recurrence: 'lasting' })
}

/**
 * Throws PlaygroundError('environment') when the server refuses the fields of a call that fits the tool we showed the model: the tool
 * is wrong then, and 0 would blame the model. Values that a validator refuses stay the model's.
 */
export function throwForeignFields(host: string, frame: ErrorFrame): void {
  if (frame.code !== 'VALIDATION_ERROR' || !frame.errors.some(({ type }) => FOREIGN_FIELDS.has(type))) return
  const advice = 'The server is of another version than its tools say: connect again, or leave this tool out under Tools.'
  throw new PlaygroundError('environment', `${host} wants other fields than its tool has: ${describeFieldErrors(frame)}.`, advice, { recurrence: 'lasting' })
}
