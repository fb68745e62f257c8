/** The local Hub's OAuth: OpenID configuration, an authorize page that sends back at once, tokens after the PKCE check, userinfo. */

import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TokenInput } from './accounts'
import { readBody } from './send'
import type { HubState } from './server'
import type { Reply } from './write-api'

/** A registered application, and the account that signs in with it. */
export interface OAuthApp {
  redirectUris: string[]
  /** Most that it may ask for. */
  scopes: string[]
  user: string
  orgs?: string[]
  /** Of a token; 8 hours. */
  seconds?: number
  /** The person presses Cancel. */
  denies?: boolean
}

interface Grant {
  app: OAuthApp
  redirectUri: string
  challenge: string
  scopes: string[]
}

const OWN_PATHS = ['/.well-known/openid-configuration', '/oauth/authorize', '/oauth/token', '/oauth/userinfo']

export const isOAuth = (pathname: string): boolean => OWN_PATHS.includes(pathname)

export class OAuthDesk {
  private readonly grants = new Map<string, Grant>()

  constructor(private readonly apps: Readonly<Record<string, OAuthApp>>) {}

  async answer(state: HubState, request: IncomingMessage, response: ServerResponse, { json, refuse }: Reply): Promise<void> {
    const url = new URL(request.url ?? '/', state.endpoint)
    switch (url.pathname) {
      case '/.well-known/openid-configuration': {
        const at = (path: string) => `${state.endpoint}/oauth/${path}`
        return json({ issuer: state.endpoint, authorization_endpoint: at('authorize'), token_endpoint: at('token'), userinfo_endpoint: at('userinfo') })
      }
      case '/oauth/authorize':
        return this.authorize(url, response)
      case '/oauth/token':
        return this.token(state, new URLSearchParams((await readBody(request)).toString()), { json, refuse })
      default: {
        const token = state.tokens[request.headers.authorization?.replace(/^Bearer /, '') ?? '']
        if (token?.role !== 'oauth') return refuse({ status: 401, code: null, message: 'Invalid token' })
        const { user = '', orgs = [] } = token
        const who = (name: string) => ({ sub: `id-${name}`, name, preferred_username: name, picture: '' })
        return json({ ...who(user), profile: `${state.endpoint}/${user}`, isPro: false, orgs: orgs.map((name) => ({ ...who(name), roleInOrg: 'write' })) })
      }
    }
  }

  private authorize(url: URL, response: ServerResponse): void {
    const query = (name: string) => url.searchParams.get(name) ?? ''
    const app = this.apps[query('client_id')]
    const redirectUri = query('redirect_uri')
    // It refuses framing, and says what is wrong on its own page: nobody is sent to an address that is not registered.
    const page = (status: number, text: string) => void response.writeHead(status, { 'Content-Type': 'text/html', 'X-Frame-Options': 'DENY' }).end(`<h1>${text}</h1>`)
    if (!app) return page(400, 'Unknown client_id')
    if (!app.redirectUris.includes(redirectUri)) return page(400, 'redirect_uri does not match')
    const back = new URL(redirectUri)
    const send = (answer: Record<string, string>) => {
      for (const [key, value] of Object.entries({ ...answer, state: query('state') })) back.searchParams.set(key, value)
      response.writeHead(302, { Location: back.href, 'X-Frame-Options': 'DENY' }).end()
    }
    const scopes = query('scope').split(' ').filter(Boolean)
    if (app.denies) return send({ error: 'access_denied', error_description: 'The user denied access' })
    if (scopes.some((scope) => !app.scopes.includes(scope))) return send({ error: 'invalid_scope', error_description: 'The app may not ask for this' })
    if (query('response_type') !== 'code' || query('code_challenge_method') !== 'S256' || query('code_challenge') === '') return page(400, 'PKCE is needed')
    const code = randomBytes(12).toString('hex')
    this.grants.set(code, { app, redirectUri, challenge: query('code_challenge'), scopes })
    send({ code })
  }

  private token(state: HubState, form: URLSearchParams, { json, refuse }: Reply): void {
    const code = form.get('code') ?? ''
    const grant = this.grants.get(code)
    // A code holds once.
    this.grants.delete(code)
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url')
    const fits = grant !== undefined && form.get('grant_type') === 'authorization_code' && form.get('redirect_uri') === grant.redirectUri && challenge === grant.challenge
    if (!fits) return refuse({ status: 400, code: null, message: 'invalid_grant' })
    const { app, scopes } = grant
    const token = `hf_oauth_${randomBytes(16).toString('hex')}`
    const made: TokenInput = { user: app.user, orgs: app.orgs ?? [], role: 'oauth', scopes, created: new Set() }
    state.tokens[token] = made
    json({ access_token: token, token_type: 'bearer', expires_in: app.seconds ?? 28_800, scope: scopes.join(' '), id_token: 'unused' })
  }
}
