/** How long to wait before the Hub is asked again. */

import { PlaygroundError } from '../core/errors'
import type { HubFailure } from './sentences'

export { sleep, type Sleep } from '../core/sleep'

/** Statuses after which the same request may succeed. */
export function isPassing(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500
}

/** A rate limit's window is 5 minutes, so there is no sense in waiting longer. */
const MAX_RETRY_AFTER = 300

/**
 * Seconds to wait after failure number `tries` (from 1) in a row: Retry-After where it could be read, else doubling from half a
 * second to 30 s, for a rate limit from 5 s to 120 s, half of it jitter.
 * @param random in [0, 1)
 */
export function waitSeconds(failure: HubFailure, tries: number, random: number): number {
  if (failure.kind === 'status' && failure.retryAfter !== null) return Math.min(failure.retryAfter, MAX_RETRY_AFTER) + random
  const limited = failure.kind === 'status' && failure.status === 429
  const longest = limited ? Math.min(120, 5 * 2 ** (tries - 1)) : Math.min(30, 0.5 * 2 ** (tries - 1))
  return longest * (0.5 + random / 2)
}

/** The error of everything that a person stopped. */
export function stopped(what: string): PlaygroundError {
  return new PlaygroundError('stopped', `The download of ${what} was stopped.`)
}
