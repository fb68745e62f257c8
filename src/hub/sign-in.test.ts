/** Signing in against a local Hub: there and back, what is kept meanwhile and after, and every way in which it can fail. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startHub, type Hub } from '../../e2e/hub/server'
import { describeError, PlaygroundError } from '../core/errors'
import { publishing } from './testing/publishing'
import { openTab, type Tab } from './testing/tab'
import { addressOutOfFrame, expiryProblem, finishSignIn, lackingScopes, redirectAddress, scopesFor, signIn, signOut, siteClientId, TOKEN_KEY, whoIsSignedIn } from './sign-in'

const PAGE = 'https://someone.test/play/'
const HASH = '#v=1&env=lane&user_prompt=a+secret+prompt'
const scopes = ['openid', 'profile', 'contribute-repos', 'write-repos']

let hub: Hub
let tab: Tab
beforeAll(async () => {
  const app = { redirectUris: [PAGE], scopes, user: 'ada', orgs: ['lovelace'] }
  hub = await startHub({ repos: {}, oauth: { app, short: { ...app, seconds: 30 }, denying: { ...app, denies: true } } })
  vi.stubEnv('VITE_HUB_ENDPOINT', hub.endpoint)
})
beforeEach(() => {
  hub.requests.length = 0
  tab = openTab(PAGE + HASH)
})
afterEach(() => {
  hub.clearFaults()
  vi.unstubAllGlobals()
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await hub.stop()
})

/** The way to the Hub's page and back, as the browser goes it. Returns the address that the Hub sends back to. */
async function there(options: Partial<Parameters<typeof signIn>[0]> = {}): Promise<string> {
  let left = ''
  await signIn({ clientId: 'app', ...options, leave: (url) => void (left = url) })
  const page = await fetch(left, { redirect: 'manual' })
  const back = page.headers.get('location')
  if (back === null) throw new Error(`${page.status} ${await page.text()}`)
  return back
}
async function thereAndBack(options: Partial<Parameters<typeof signIn>[0]> = {}) {
  tab.open(await there(options))
  return finishSignIn()
}
const failure = async (promise: Promise<unknown>): Promise<PlaygroundError> => {
  const error = await promise.then(() => { throw new Error('it worked') }, (e: unknown) => e)
  expect(error).toBeInstanceOf(PlaygroundError)
  return error as PlaygroundError
}

describe('signing in', () => {
  it('gives a token with its end, its account and its scopes, kept under one key of sessionStorage', async () => {
    const before = Date.now()
    const signed = await thereAndBack()
    expect(signed).toMatchObject({ token: expect.stringMatching(/^hf_oauth_/), user: 'ada', orgs: ['lovelace'], scopes: ['openid', 'profile', 'contribute-repos'] })
    expect((signed?.expiresAt ?? 0) - before).toBeGreaterThan(7.9 * 3_600_000)
    expect(Object.keys(tab.storage())).toEqual([TOKEN_KEY])
    expect(whoIsSignedIn()).toEqual(signed)
  })

  it('brings the settings back and leaves nothing of the answer in the address, before the first pause', async () => {
    tab.open(await there())
    expect(tab.address()).toContain('code=')
    const going = finishSignIn()
    expect(tab.address()).toBe(PAGE + HASH)
    await going
    expect(tab.address()).toBe(PAGE + HASH)
    // A reload finds nothing to do.
    expect(await finishSignIn()).toBeNull()
    expect(whoIsSignedIn()?.user).toBe('ada')
  })

  it('tells the Hub nothing of the settings, and stores nothing but what it needs on the way', async () => {
    await there()
    expect(Object.keys(tab.storage())).toEqual(['grpo-playground:sign-in'])
    expect(hub.requests.map(({ url }) => decodeURIComponent(url)).join()).not.toContain('secret prompt')
    expect(hub.requests.find(({ path }) => path === '/oauth/authorize')?.url).toContain(`redirect_uri=${encodeURIComponent(PAGE)}`)
  })

  it('publishes', async () => {
    const signed = await thereAndBack()
    const { done } = publishing(hub.endpoint, signed?.token ?? null, { repo: { type: 'model', name: 'ada/lane-lora' } })
    expect(await done).toMatchObject({ verified: true })
    expect(hub.requests.filter(({ url }) => url.includes('hf_oauth'))).toEqual([])
  })

  it('asks for more only when more is wanted', async () => {
    expect((await thereAndBack({ scopes: scopesFor({ toExisting: true, asPullRequest: false }) }))?.scopes).toContain('write-repos')
  })
})

describe('a page that nobody comes back to', () => {
  it.each(['', '?debug=1', '?code=abc', '?state=x'])('with the query %j is left as it is', async (query) => {
    tab.open(PAGE + query + HASH)
    expect(await finishSignIn()).toBeNull()
    expect(tab.address()).toBe(PAGE + query + HASH)
    expect(hub.requests).toEqual([])
  })

  it('does not exchange a code that was not asked for here, and takes it out of the address', async () => {
    tab.open(`${PAGE}?keep=1&code=abc&state=%7B%22nonce%22%3A%22x%22%7D#v=1`)
    expect(await finishSignIn()).toBeNull()
    expect(tab.address()).toBe(`${PAGE}?keep=1#v=1`)
    expect(hub.requests).toEqual([])
  })
})

describe('what goes wrong', () => {
  it('a person who declines is told so, and keeps the settings', async () => {
    const error = await failure(thereAndBack({ clientId: 'denying' }))
    expect([error.kind, describeError(error)]).toEqual(['stopped', 'The sign-in was cancelled at the Hub. Sign in again when you like, or paste a token.'])
    expect([tab.address(), tab.storage()]).toEqual([PAGE + HASH, {}])
  })

  it.each<[string, Partial<Parameters<typeof signIn>[0]>, RegExp]>([
    ['rights that the application may not have', { scopes: ['openid', 'manage-repos'] }, /may not ask for these rights \(The app may not ask for this\)/],
    ['no client id', { clientId: '' }, /There is no client id to sign in with\. Take that of an OAuth application/],
    ['a client id with spaces', { clientId: 'a b' }, /'a b' is no client id/],
  ])('%s', async (_, options, sentence) => {
    expect(describeError(await failure(thereAndBack(options)))).toMatch(sentence)
    expect(whoIsSignedIn()).toBeNull()
  })

  it("an unknown client id or another address stays on the Hub's own page", async () => {
    await expect(there({ clientId: 'unknown' })).rejects.toThrow('400 <h1>Unknown client_id')
    await expect(there({ redirectUrl: `${PAGE}?x` })).rejects.toThrow('400 <h1>redirect_uri does not match')
  })

  it('an answer of another sign-in is not taken', async () => {
    const first = await there()
    await there()
    tab.open(first)
    expect(describeError(await failure(finishSignIn()))).toMatch(/the answer does not belong to this sign-in\. Sign in again/)
    expect(hub.requests.filter(({ path }) => path === '/oauth/token')).toEqual([])
  })

  it('a code that somebody else has used, and a wrong proof, give no token', async () => {
    const back = await there()
    const form = { grant_type: 'authorization_code', code: new URL(back).searchParams.get('code') ?? '', redirect_uri: PAGE, code_verifier: 'guessed' }
    expect((await fetch(`${hub.endpoint}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })).status).toBe(400)
    tab.open(back)
    const error = await failure(finishSignIn())
    expect(error.message).toBe('The sign-in did not work: the Hub did not accept it (400).')
    expect(error.cause).toBeUndefined()
    expect(tab.storage()).toEqual({})
  })

  it('a Hub that cannot be asked', async () => {
    hub.fault({ kind: 'status', status: 503, on: 'openid-configuration' })
    expect(describeError(await failure(there()))).toMatch(/did not accept it \(503\)\. Check the connection/)
    expect(tab.storage()).toEqual({})
  })

  it('a frame of another page cannot sign in; its own address can', async () => {
    tab = openTab(PAGE + HASH, true)
    expect(addressOutOfFrame()).toBe(PAGE + HASH)
    expect(describeError(await failure(signIn({ clientId: 'app' })))).toMatch(/inside a frame.*in a tab of its own/)
    tab = openTab(PAGE + HASH)
    expect(addressOutOfFrame()).toBeNull()
  })
})

describe('a token', () => {
  it('is forgotten when it has expired, and refused a minute before that', async () => {
    const signed = await thereAndBack({ clientId: 'short' })
    if (!signed) throw new Error('nobody is signed in')
    expect(expiryProblem(signed)?.message).toBe('Your sign-in ends within a minute.')
    expect(expiryProblem(signed, signed.expiresAt)?.message).toBe('Your sign-in has expired.')
    expect(expiryProblem({ expiresAt: Date.now() + 120_000 })).toBeNull()
    expect(whoIsSignedIn(signed.expiresAt)).toBeNull()
    expect(tab.storage()).toEqual({})
  })

  it('is forgotten on signing out', async () => {
    await thereAndBack()
    signOut()
    expect([whoIsSignedIn(), tab.storage()]).toEqual([null, {}])
  })

  it('is not read out of what something else wrote', () => {
    sessionStorage.setItem(TOKEN_KEY, '{"token":1}')
    expect(whoIsSignedIn()).toBeNull()
  })
})

describe('scopes', () => {
  const own = { toExisting: false, asPullRequest: false }
  it('are the least that will do', () => {
    expect(scopesFor(own)).toEqual(['openid', 'profile', 'contribute-repos'])
    expect(scopesFor({ toExisting: true, asPullRequest: false })).toContain('write-repos')
    expect(scopesFor({ toExisting: true, asPullRequest: true })).toEqual(['openid', 'profile', 'contribute-repos', 'write-discussions'])
  })

  it('that lack are named', () => {
    expect(lackingScopes({ scopes: ['openid', 'profile'] }, own)).toEqual(['contribute-repos'])
    expect(lackingScopes({ scopes: ['openid', 'profile', 'manage-repos'] }, { toExisting: true, asPullRequest: false })).toEqual([])
    expect(lackingScopes({ scopes: scopesFor(own) }, { toExisting: true, asPullRequest: true })).toEqual(['write-discussions'])
  })
})

it('the client id comes from a Space, else from the build, else from a person', () => {
  expect(siteClientId()).toBeNull()
  vi.stubEnv('VITE_HF_CLIENT_ID', 'built')
  expect(siteClientId()).toBe('built')
  Object.assign(window, { huggingface: { variables: { OAUTH_CLIENT_ID: 'space' } } })
  expect(siteClientId()).toBe('space')
  expect(redirectAddress()).toBe(PAGE)
})
