/** From an address to a place that takes connections: the host of a Space, woken if it slept, with signed addresses if it is private. */

import { PlaygroundError } from '../../core/errors'
import { sleep } from '../../core/sleep'
import { cutText } from '../../core/text'
import { inBrackets, isPassing, notShown, type HubSilence, SpacesApi, type SpaceInfo } from './spaces-api'
import { awaitRunning, isRunning } from './spaces-stage'
import { isLoopback, type ServerAddress, spaceHost, spaceSubdomain } from './url'

/** Where an environment is, and how it is reached. */
export interface Place {
  /** owner/name of a Space that the Hub knows, also where its host was pasted; else as it was pasted, or null. */
  spaceId: string | null
  /** For sentences. */
  host: string
  /** Base of the HTTP routes, without a trailing slash. */
  http: string
  /** Address of a new socket; signed where the Space is private. Throws PlaygroundError('environment') when it cannot be signed. */
  socketUrl(): Promise<string>
  /** The given fetch, which signs what goes to a private Space. */
  fetch: typeof fetch
  /** A Space that has just been started may refuse a moment longer. */
  justStarted: boolean
  /** What is likely at fault when no connection comes about; null where nothing is known. */
  doubt: PlaygroundError | null
}

export interface LocateOptions {
  hub?: string
  fetch: typeof fetch
  token: () => string | null
  signal: AbortSignal
  onDetail: (detail: string) => void
  /** Resolves after so many ms, early when `signal` aborts. */
  sleep?: (ms: number) => Promise<void>
  random?: () => number
  /** Milliseconds. */
  now?: () => number
}

/** A signature that does not tell its end is taken anew after this. */
const SIGNED_MS = 5 * 60_000

const fail = (message: string, advice: string) => new PlaygroundError('environment', message, advice)

/**
 * Finds the place of an address; for one that is no Space nothing is asked. A Space that sleeps is woken and waited for.
 * Throws PlaygroundError('environment') for a Space that is not there, not visible or will not run; 'stopped' after an abort.
 */
export async function locate(address: ServerAddress, given: LocateOptions): Promise<Place> {
  const subdomain = spaceSubdomain(address.host)
  const { spaceId: id, ws, http, host: near } = address
  const direct: Place = { spaceId: id, host: near, http, socketUrl: async () => ws, fetch: given.fetch, justStarted: false, doubt: null }
  if (id === null && subdomain === null) return direct
  const options = { sleep: (ms: number) => sleep(ms, given.signal), random: Math.random, now: Date.now, ...given }
  const api = new SpacesApi(options)
  options.onDetail(`Asking the Hub for ${id === null ? `the Space at ${near}` : `Space ${id}`}`)
  if (id === null) {
    const answer = await api.bySubdomain(subdomain ?? '')
    // Protected Spaces are not shown, and yet everybody may use their host.
    return answer.ok ? reach(answer.value, { ws, http }, api, options) : { ...direct, doubt: unseen(near, answer, api.hasToken) }
  }
  const host = await api.host(id)
  // A Hub that does not answer is not asked as often again.
  const info = await api.info(id, host.ok || !isPassing(host.status) ? undefined : 1)
  if (!info.ok) {
    if (!isPassing(info.status)) throw await misnamed(id, info, api)
    const doubt = fail(`The Hub could not be asked for the Space ${id}${inBrackets(info.status)}, and ${near}, where it should be, does not answer.`, 'Connect again later, or paste the address of its host.')
    return host.ok ? { ...unsigned(id, origin(host.value, id), options), doubt } : { ...direct, doubt }
  }
  const base = host.ok ? host.value : (info.value.host ?? `https://${spaceHost(id)}`)
  return reach(info.value, origin(base, id), api, options)
}

type Options = LocateOptions & Required<Pick<LocateOptions, 'sleep' | 'random' | 'now'>>

type Base = Pick<ServerAddress, 'ws' | 'http'>

/** Socket and HTTP base of the address that the Hub names. */
function origin(base: string, id: string): Base {
  if (URL.canParse(base)) {
    const { protocol, host, hostname, pathname } = new URL(base)
    // Plain HTTP is for a Hub on this machine alone.
    const plain = protocol === 'http:' && isLoopback(hostname)
    const rest = `${host}${pathname.replace(/\/+$/, '')}`
    if (plain || protocol === 'https:') return { ws: `${plain ? 'ws' : 'wss'}://${rest}/ws`, http: `${protocol}//${rest}` }
  }
  throw fail(`The Hub names "${cutText(base, 100)}" as the host of ${id}, which is no address of a Space.`, 'Open the Space on the Hub and paste the address of its host.')
}

function unsigned(spaceId: string, { ws, http }: Base, options: Options): Omit<Place, 'doubt'> {
  return { spaceId, host: new URL(http).host, http, socketUrl: async () => ws, fetch: options.fetch, justStarted: false }
}

/** The place of a Space that the Hub knows, once it runs. */
async function reach(info: SpaceInfo, base: Base, api: SpacesApi, options: Options): Promise<Place> {
  const { id } = info
  const { ws, http } = base
  if (info.sdk === 'static') throw fail(`The Space ${id} is a static page: no server runs in it.`, 'Choose a Space with an OpenEnv server, which has the sdk docker.')
  const sign = info.isPrivate ? signer(id, api, options) : null
  const signed = async (url: string) => (sign === null ? url : withSign(url, await sign()))
  // Fails before the waiting where the token may not sign.
  const front = isRunning(info.stage) ? '' : await signed(`${http}/`)
  const wake = () => {
    // It may answer only once it runs, and a page of another origin may not read it: asking is enough.
    void options.fetch(front, { mode: 'no-cors', cache: 'no-store', credentials: 'omit', signal: options.signal }).catch(() => undefined)
  }
  const { waited } = await awaitRunning(info, { ...options, api, wake })
  const place: Place = { ...unsigned(id, base, options), socketUrl: () => signed(ws), justStarted: waited, doubt: doubtOf(info) }
  return sign === null ? place : { ...place, fetch: async (input, init) => options.fetch(typeof input === 'string' ? await signed(input) : input, init) }
}

function doubtOf({ id, sdk }: SpaceInfo): PlaygroundError {
  const what = sdk === null || sdk === 'docker' ? 'is no OpenEnv server, or one older than 0.2' : `is a ${sdk} app, not an OpenEnv server`
  return fail(`The Space ${id} runs, but opens no socket at /ws: it ${what}.`, 'Look at its page on the Hub, or choose another Space.')
}

function withSign(url: string, signature: string): string {
  const target = new URL(url)
  target.searchParams.set('__sign', signature)
  return target.href
}

/** Gives a valid signature, asked for anew when the last one is about to end. */
function signer(id: string, api: SpacesApi, { now }: Options): () => Promise<string> {
  let kept: { signature: string; until: number } | null = null
  return async () => {
    if (kept === null || kept.until <= now()) {
      const signature = await api.sign(id)
      kept = { signature, until: (expiryOf(signature) ?? now() + SIGNED_MS) - 15_000 }
    }
    return kept.signature
  }
}

/** `exp` of a JWT, in ms; null where it cannot be read. */
function expiryOf(jwt: string): number | null {
  try {
    const claims: unknown = JSON.parse(atob((jwt.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/')))
    const exp = (claims as { exp?: unknown } | null)?.exp
    return typeof exp === 'number' ? exp * 1000 : null
  } catch {
    return null
  }
}

/** A name that is none of a Space that is shown: maybe a model's or a dataset's. */
async function misnamed(id: string, silence: HubSilence, api: SpacesApi): Promise<PlaygroundError> {
  const kind = silence.status === 401 || silence.status === 404 ? await api.otherKind(id) : null
  if (kind === null) return notShown(id, silence, api.hasToken)
  const advice = kind === 'model' ? 'Choose models under Model; here belongs the name of a Space, for example openenv/echo_env.' : 'Here belongs the name of a Space, for example openenv/echo_env.'
  return fail(`${id} is a ${kind}, not a Space.`, advice)
}

function unseen(host: string, { status }: HubSilence, hasToken: boolean): PlaygroundError | null {
  if (isPassing(status)) return null
  const token = hasToken ? 'Check the spelling, and that the account of your token may see it.' : 'Check the spelling. A private Space needs a Hub token: paste one under Model, Hub token, and connect again.'
  return fail(`No connection to ${host}, and the Hub shows no Space with this host (${status}): it is misspelt or private.`, token)
}
