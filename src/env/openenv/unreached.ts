/** The first contact with a server: what no connection means, as far as a page can find out, and patience with one that just started. */

import { PlaygroundError } from '../../core/errors'
import type { Place } from './spaces'
import { spaceSubdomain } from './url'

/** No socket came about. */
export class Unreached extends PlaygroundError {
  constructor(cause: PlaygroundError) {
    super(cause.kind, cause.message, cause.advice, { cause, recurrence: 'passing' })
  }
}

export interface FirstContact {
  pageProtocol: string | undefined
  loopback: boolean
  sleep: (ms: number) => Promise<void>
  signal: AbortSignal
  onDetail: (detail: string) => void
}

/** Pauses before a Space that has just been started is tried again, seconds. */
const PAUSES = [2, 4, 8, 8, 8]
const HEALTH_MS = 5000
const UPDATE = 'Update it (pip install --upgrade openenv) and start it again: this page speaks to it over a WebSocket alone.'

/** What `open` gives. Rejects as it does; where no socket came about, with what is known of the cause. */
export async function firstContact<T>(open: () => Promise<T>, place: Place, options: FirstContact): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof Unreached) || options.signal.aborted) throw error
      const pause = place.justStarted ? PAUSES[attempt] : undefined
      if (pause === undefined) throw await explain(error, place, options)
      for (let left = pause; left > 0; left--) {
        options.onDetail(`${place.host} has started and takes no connection yet · tried again in ${left} s`)
        await options.sleep(1000)
      }
    }
  }
}

/** A better sentence than "no connection", from what is known and from what the server answers to HTTP. */
async function explain(error: Unreached, { host, http, fetch, doubt }: Place, options: FirstContact): Promise<PlaygroundError> {
  const { pageProtocol, loopback, signal } = options
  const limit = () => AbortSignal.any([signal, AbortSignal.timeout(HEALTH_MS)])
  const fail = (message: string, advice: string) => new PlaygroundError('environment', message, advice, { cause: error })
  if (!loopback && typeof navigator !== 'undefined' && navigator.onLine === false) {
    return fail(`${host} could not be reached: this computer is offline.`, 'Connect to a network and try again. The built-in games need none.')
  }
  const response = await fetch(`${http}/health`, { signal: limit() }).catch(() => null)
  if (response !== null && (await isHealthy(response))) {
    return fail(`${host} is an OpenEnv server without a socket at /ws: it is older than 0.2 and speaks HTTP only.`, UPDATE)
  }
  if (doubt !== null) return doubt
  // The front of the Spaces answers for all of them, also for those that are not there.
  if (spaceSubdomain(host) !== null) return error
  if (response !== null) {
    return fail(`${host} answers to HTTP (${response.status} at /health) but opens no socket at /ws: it is no OpenEnv server.`, 'Check the address and the port.')
  }
  // Without CORS headers an answer cannot be read, but it can be told from none, except where the page is isolated.
  const answers = await fetch(`${http}/health`, { mode: 'no-cors', signal: limit() }).then(() => true, () => false)
  if (answers) return fail(`${host} answers to HTTP but opens no socket at /ws: it is no OpenEnv server, or one older than 0.2.`, `Check the address. ${UPDATE}`)
  const blocked = loopback && pageProtocol === 'https:' ? ' Chrome and Firefox let an https page reach this machine (allow it if they ask); Safari does not.' : ''
  return fail(error.message, `${error.advice} If ${http}/health opens in a tab, the server is older than OpenEnv 0.2 and has to be updated.${blocked}`)
}

async function isHealthy(response: Response): Promise<boolean> {
  if (!response.ok) return false
  const body: unknown = await response.json().catch(() => null)
  return typeof body === 'object' && body !== null && 'status' in body && body.status === 'healthy'
}
