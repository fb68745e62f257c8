/** What the Hub's refusals and broken connections mean, as sentences for a person. */

import { PlaygroundError } from '../core/errors'
import { cutText } from '../core/text'

/** What was wanted when it failed. */
export interface HubContext {
  /** What the repository should hold; a model unless said. */
  what?: 'model' | 'adapter' | 'dataset'
  repo: string
  /** As a person wrote it, not the commit. */
  revision: string
  /** A file of the repository; absent for its description and file list. */
  path?: string
  /** Whether a token was sent. */
  hasToken: boolean
  /** How often it was tried. */
  tries?: number
}

export type HubFailure =
  | {
      kind: 'status'
      status: number
      /** X-Error-Code and X-Error-Message, where they could be read. */
      code: string | null
      message: string | null
      /** Of the last hop. */
      url: string
      /** Seconds, where Retry-After could be read. */
      retryAfter: number | null
    }
  /** fetch itself failed: browsers do not say why. */
  | { kind: 'network'; cause: unknown; url: string }
  /** The connection stopped delivering. */
  | { kind: 'broken'; what: string; url: string }

/** Reads what an answer says of its own failure. */
export function failureOf(response: Response): HubFailure {
  const { headers } = response
  const failure = { code: headers.get('X-Error-Code'), message: headers.get('X-Error-Message'), url: response.url }
  return { kind: 'status', status: response.status, ...failure, retryAfter: retryAfterSeconds(headers.get('Retry-After')) }
}

/** Seconds of a Retry-After (a number, or a date against `now` in ms); null when there is none. */
export function retryAfterSeconds(value: string | null, now = Date.now()): number | null {
  if (value === null || value.trim() === '') return null
  if (/^\d+$/.test(value.trim())) return Number(value)
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - now) / 1000))
}

/** Text of other origin, fit to be shown: nothing that looks like a token, no queries (they are signed), one line. */
export function cleaned(text: string): string {
  return cutText(text.replace(/hf_\w+/g, 'hf_…').replace(/\?\S*/g, '').replace(/\s+/g, ' ').trim(), 300)
}

/** What to do about a web page in a file's place. */
export const SIGN_IN = 'A network with a sign-in page may stand between: open any web page, sign in, and load the model again.'

const NEW_TOKEN = 'Make one with read access at https://huggingface.co/settings/tokens and paste it'

/** What is loaded, and the address of its page. */
const loaded = ({ what }: Pick<HubContext, 'what'>): string => (what === 'dataset' ? 'dataset' : 'model')
const pageOf = ({ repo, what }: Pick<HubContext, 'repo' | 'what'>): string => `https://huggingface.co/${what === 'dataset' ? 'datasets/' : ''}${repo}`

/** The sentence and the next step. Every one of kind 'model'. */
export function hubError(failure: HubFailure, context: HubContext): PlaygroundError {
  const it = loaded(context)
  const tried = (context.tries ?? 1) > 1 ? `, tried ${context.tries} times` : ''
  if (failure.kind === 'network') return networkError(failure.cause, failure.url, context, tried)
  if (failure.kind === 'broken') {
    const message = `The download of ${named(context)} broke off: ${cleaned(failure.what)}${tried}.`
    return new PlaygroundError('model', message, `Check the connection and load the ${it} again.`)
  }
  const { status, code, message: said } = failure
  const quote = said ? ` (“${cleaned(said)}”)` : ''
  if (status === 401) return unauthorized(code, context)
  if (status === 403) return forbidden(code, quote, failure.url, context)
  if (status === 404) return notFound(code, failure.url, context)
  if (status === 429) {
    const wait = failure.retryAfter === null ? 'a few minutes (the Hub counts requests in windows of 5 minutes)' : `${failure.retryAfter} s`
    const advice = `Wait ${wait} and load the ${it} again${context.hasToken ? '' : '; with a token of your account the limit is higher'}.`
    return new PlaygroundError('model', `The Hub refuses more requests for now (429) for ${named(context)}${tried}.`, advice)
  }
  if (status >= 500) {
    const advice = `Look at https://status.huggingface.co and load the ${it} again later.`
    return new PlaygroundError('model', `The Hub has a fault of its own (${status}) at ${named(context)}${tried}.`, advice)
  }
  return new PlaygroundError('model', `The Hub refused ${named(context)} with ${status}${quote}.`, `Check the id of the ${it} and load it again.`)
}

/** 'config.json of me/model' or 'me/model', with the revision unless it is main. */
function named({ repo, revision, path }: HubContext): string {
  const at = revision === 'main' ? repo : `${repo} at ${revision}`
  return path === undefined ? at : `${path} of ${at}`
}

function unauthorized(code: string | null, context: HubContext): PlaygroundError {
  const { repo, hasToken, what = 'model' } = context
  if (code === 'GatedRepo') return gated(context, `${repo} is gated, and the Hub does not know who asks (401).`)
  if (hasToken && code === null) {
    const advice = `It may be mistyped, expired or revoked. ${NEW_TOKEN} again, or remove the token for public ${loaded(context)}s.`
    return new PlaygroundError('model', `The Hub does not accept this token (401) for ${repo}.`, advice)
  }
  const advice = `Check the spelling. If the repository is private, it needs a token of an account that may read it. ${NEW_TOKEN}.`
  return new PlaygroundError('model', `The Hub shows no ${what} ${repo} to strangers (401): the id is wrong or the repository is private.`, advice)
}

function gated(context: HubContext, message: string): PlaygroundError {
  return new PlaygroundError('model', message, `Accept its licence at ${pageOf(context)}, then paste a token of that account.`)
}

function forbidden(code: string | null, quote: string, url: string, context: HubContext): PlaygroundError {
  const { repo, hasToken } = context
  if (code === 'GatedRepo') return gated(context, `${repo} is gated, and the account of this token has no access to it yet (403).`)
  if (hasToken && !isStorage(url)) {
    const advice =
      `Edit the token at https://huggingface.co/settings/tokens: a fine-grained token needs read access to ${repo}, and for gated models ` +
      '“Read access to contents of all public gated repos you can access”.'
    return new PlaygroundError('model', `This token lacks a permission for ${repo} (403)${quote}.`, advice)
  }
  return new PlaygroundError('model', `The Hub refused ${named(context)} (403)${quote}.`, `Load the ${loaded(context)} again; if that does not help, look at its page on the Hub.`)
}

/** Signed addresses of files carry no X-Error-Code, and the token never gets there. */
function isStorage(url: string): boolean {
  return /[?&](Signature|X-Amz-Signature)=/i.test(url)
}

function notFound(code: string | null, url: string, context: HubContext): PlaygroundError {
  const { repo, revision, path, hasToken, what = 'model' } = context
  if (code === 'RevisionNotFound') {
    const advice = `Take main, or a branch, tag or commit that is listed at ${pageOf(context)}/commits/main.`
    return new PlaygroundError('model', `${repo} has no revision '${revision}' (404).`, advice)
  }
  if (code === 'EntryNotFound' || (code === null && path !== undefined)) return missingFile(repo, revision, path ?? new URL(url).pathname, what)
  const advice = hasToken
    ? 'Check the spelling; if the repository is private, the account of this token must be allowed to read it.'
    : 'Check the spelling against the address of its page on the Hub.'
  return new PlaygroundError('model', `The Hub has no ${what} ${repo}${hasToken ? ' that this token may see' : ''} (404).`, advice)
}

/** The error for a file that the repository does not have. */
export function missingFile(repo: string, revision: string, path: string, what: HubContext['what'] = 'model'): PlaygroundError {
  const must = what === 'dataset' ? '.' : ': the repository must hold config.json, tokenizer.json and safetensors weights.'
  const advice = `Look at ${pageOf({ repo, what })}/tree/${revision}${must}`
  return new PlaygroundError('model', `${repo} has no file '${path}' at revision '${revision}' (404).`, advice)
}

function networkError(cause: unknown, url: string, context: HubContext, tried: string): PlaygroundError {
  const reason = cleaned(cause instanceof Error ? cause.message : String(cause))
  const offline = typeof navigator !== 'undefined' && navigator.onLine === false
  const host = URL.canParse(url) ? new URL(url).host : 'the Hub'
  const message = offline
    ? `${named(context)} could not be downloaded: this computer is offline${tried}.`
    : `${host} could not be reached for ${named(context)} (${reason}${tried}).`
  const advice = offline
    ? `Connect and load the ${loaded(context)} again${context.what === 'dataset' ? '' : '; what has already come is kept'}.`
    : `Check the connection, and whether a blocker, a firewall or a company proxy stops huggingface.co and *.hf.co; then load the ${loaded(context)} again.`
  return new PlaygroundError('model', message, advice, { cause })
}
