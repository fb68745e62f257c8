/** Signs a person in at the Hub by OAuth, page side: there and back by redirect, the token in this tab's sessionStorage until it expires. */

import { z } from 'zod/mini'
import { PlaygroundError } from '../core/errors'
import { checkToken } from './check-token'
import { cleaned } from './sentences'

export interface SignedIn {
  token: string
  /** Milliseconds since 1970. */
  expiresAt: number
  /** Name of the account. */
  user: string
  /** Organisations that the person gave access to. */
  orgs: string[]
  scopes: string[]
}

/** What is to be published where: more than making one's own repositories needs more scopes. */
export interface PublishWish {
  /** Into a repository that was not made by this page. */
  toExisting: boolean
  asPullRequest: boolean
}

const HUB = 'https://huggingface.co'
/** The one place where the token is kept. */
export const TOKEN_KEY = 'grpo-playground:hub'
/** What must survive the way to the Hub and back: no token. */
const PENDING_KEY = 'grpo-playground:sign-in'
const LEAST = ['openid', 'profile', 'contribute-repos']
/** A token that ends during an upload is no use. */
const MARGIN_MS = 60_000
const OAUTH_ANSWER = ['code', 'state', 'error', 'error_description']

const stored = z.object({ token: z.string(), expiresAt: z.number(), user: z.string(), orgs: z.array(z.string()), scopes: z.array(z.string()) })
const pending = z.object({ nonce: z.string(), codeVerifier: z.string(), hash: z.string() })

/** The endpoint that the site was built for. */
function hubEndpoint(): string {
  return ((import.meta.env.VITE_HUB_ENDPOINT as string | undefined) ?? HUB).replace(/\/+$/, '')
}

/** The least scopes for this. */
export function scopesFor({ toExisting, asPullRequest }: PublishWish): string[] {
  return [...LEAST, ...(toExisting && !asPullRequest ? ['write-repos'] : []), ...(asPullRequest ? ['write-discussions'] : [])]
}

/** Scopes that this needs and the person has not granted. */
export function lackingScopes({ scopes }: Pick<SignedIn, 'scopes'>, wish: PublishWish): string[] {
  // manage-repos holds everything that the two about repositories allow.
  const covered = (scope: string) => scopes.includes(scope) || (['contribute-repos', 'write-repos'].includes(scope) && scopes.includes('manage-repos'))
  return scopesFor(wish).filter((scope) => !covered(scope) && !(wish.asPullRequest && scope === 'contribute-repos'))
}

/** The client id that comes with the place where the page lies: a Space's, or the one it was built with; null where a person must give one. */
export function siteClientId(): string | null {
  const { huggingface } = window as { huggingface?: { variables?: { OAUTH_CLIENT_ID?: string } } }
  return huggingface?.variables?.OAUTH_CLIENT_ID ?? (import.meta.env.VITE_HF_CLIENT_ID as string | undefined) ?? null
}

/** This page without query and settings: what must stand, to the letter, among the redirect addresses of the OAuth application. */
export function redirectAddress(): string {
  return location.origin + location.pathname
}

/**
 * This page's own address where it is shown in a frame of another (a Space within huggingface.co), to be opened in a new tab: the
 * Hub's sign-in refuses frames, and a frame's storage is not the tab's. null in a tab of its own.
 */
export function addressOutOfFrame(): string | null {
  return window.top === window ? null : location.href
}

/**
 * Leaves for the Hub's sign-in page, which comes back to `redirectUrl`; there `finishSignIn` goes on.
 * @throws PlaygroundError('config') in a frame or without a client id, 'model' when the Hub cannot be reached
 */
export async function signIn({
  clientId,
  scopes = LEAST,
  redirectUrl = redirectAddress(),
  leave = (url) => location.assign(url),
}: {
  clientId: string
  scopes?: readonly string[]
  redirectUrl?: string
  leave?: (url: string) => void
}): Promise<void> {
  if (addressOutOfFrame() !== null) throw new PlaygroundError('config', 'Nobody can sign in inside a frame of another page.', 'Open this page in a tab of its own, and sign in there.')
  if (!/^\S+$/.test(clientId)) {
    const advice = 'Take that of an OAuth application from https://huggingface.co/settings/applications, or paste a token instead.'
    throw new PlaygroundError('config', clientId === '' ? 'There is no client id to sign in with.' : `'${clientId}' is no client id.`, advice)
  }
  const { oauthLoginUrl } = await import('@huggingface/hub')
  const keys: { nonce?: string; codeVerifier?: string } = {}
  const url = await oauthLoginUrl({ clientId, scopes: scopes.join(' '), redirectUrl, hubUrl: hubEndpoint(), localStorage: keys }).catch((error: unknown) => {
    throw failed(error, 'Check the connection and sign in again, or paste a token.')
  })
  // The settings stay here instead of in the Hub's address: prompts are nobody's business, and may be long.
  sessionStorage.setItem(PENDING_KEY, JSON.stringify({ ...keys, hash: location.hash }))
  leave(url)
}

/**
 * Takes the Hub's answer out of the address, if there is one, and exchanges it for a token. Before its first pause the address
 * is as it was when the person left, settings included: call it before anything else reads the address.
 *
 * @returns null when nobody comes from signing in
 * @throws PlaygroundError 'stopped' when the person declined, 'model' when it did not work
 */
export async function finishSignIn(): Promise<SignedIn | null> {
  const { href } = location
  const url = new URL(href)
  if (!url.searchParams.has('state') || !(url.searchParams.has('code') || url.searchParams.has('error'))) return null
  const began = read(PENDING_KEY, pending)
  forget(PENDING_KEY)
  for (const name of OAUTH_ANSWER) url.searchParams.delete(name)
  // A reload must not send the code, which holds once, again; nor should it stand in a link that is shared.
  history.replaceState(history.state, '', url.pathname + url.search + (began?.hash ?? url.hash))
  const answer = new URL(href).searchParams
  const error = answer.get('error')
  if (error !== null) throw declined(error, answer.get('error_description') ?? '')
  // Somebody else's link, or a second tab: without what was noted on leaving, the code is worth nothing.
  if (!began) return null
  const { oauthHandleRedirect } = await import('@huggingface/hub')
  const { nonce, codeVerifier } = began
  const result = await oauthHandleRedirect({ hubUrl: hubEndpoint(), redirectedUrl: href, nonce, codeVerifier }).catch((cause: unknown) => {
    throw failed(cause, 'Sign in again, or paste a token.')
  })
  const { accessToken, accessTokenExpiresAt, userInfo, scope } = result
  const token = checkToken(accessToken)
  if (token === null) throw failed(new Error('the Hub gave no token'), 'Sign in again, or paste a token.')
  const orgs = (userInfo.orgs ?? []).map(({ preferred_username }) => preferred_username)
  const signedIn = { token, expiresAt: accessTokenExpiresAt.getTime(), user: userInfo.preferred_username, orgs, scopes: (scope ?? '').split(' ').filter(Boolean) }
  sessionStorage.setItem(TOKEN_KEY, JSON.stringify(signedIn))
  return signedIn
}

/** Who is signed in in this tab; null for nobody, and once the token has expired, which forgets it. */
export function whoIsSignedIn(now = Date.now()): SignedIn | null {
  const found = read(TOKEN_KEY, stored)
  if (found && now < found.expiresAt) return found
  forget(TOKEN_KEY)
  return null
}

/** Where a browser forbids the storage there is nothing in it. */
function forget(key: string): void {
  try {
    sessionStorage.removeItem(key)
  } catch {
    return
  }
}

/** Forgets the token. The worker's copy is forgotten by its own command. */
export function signOut(): void {
  forget(TOKEN_KEY)
  forget(PENDING_KEY)
}

/** Why a publication must not begin with this token: it has expired, or will in a minute; null when there is time. */
export function expiryProblem({ expiresAt }: Pick<SignedIn, 'expiresAt'>, now = Date.now()): PlaygroundError | null {
  if (now + MARGIN_MS < expiresAt) return null
  const message = now < expiresAt ? 'Your sign-in ends within a minute.' : 'Your sign-in has expired.'
  return new PlaygroundError('config', message, 'Sign in again and publish; the run stays here meanwhile.', { recurrence: 'lasting' })
}

function read<T>(key: string, schema: z.ZodMiniType<T>): T | null {
  try {
    return schema.parse(JSON.parse(sessionStorage.getItem(key) ?? 'null'))
  } catch {
    return null
  }
}

function declined(error: string, description: string): PlaygroundError {
  if (error === 'access_denied') return new PlaygroundError('stopped', 'The sign-in was cancelled at the Hub.', 'Sign in again when you like, or paste a token.')
  const said = cleaned(description)
  if (error === 'invalid_scope') {
    return new PlaygroundError('config', `This application may not ask for these rights (${said}).`, 'Ask for less, allow them in the application’s settings on the Hub, or paste a token.')
  }
  return new PlaygroundError('model', `The Hub refused the sign-in: ${cleaned(error)}${said ? ` (${said})` : ''}.`, 'Sign in again, or paste a token.')
}

/** Without the cause: the library's messages hold the address with the code. */
function failed(error: unknown, advice: string): PlaygroundError {
  const status = error instanceof Error && 'statusCode' in error ? ` (${String(error.statusCode)})` : ''
  const foreign = error instanceof Error && /Invalid oauth state/.test(error.message)
  const reason = foreign ? 'the answer does not belong to this sign-in' : status ? `the Hub did not accept it${status}` : 'the Hub could not be reached'
  return new PlaygroundError('model', `The sign-in did not work: ${reason}.`, advice, { recurrence: 'passing' })
}
