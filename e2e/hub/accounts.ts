/** Accounts of the local Hub: what a token may read and write, and what whoami-v2 says of it. */

import type { Refusal } from './repository'

/** A permission list of a fine-grained token, as whoami-v2 shows it. */
export interface TokenScope {
  entity: { type: 'user' | 'org' | 'model' | 'dataset'; name: string }
  permissions: string[]
}

/** A token and what it may do; one that is not in the list is invalid. */
export interface TokenInput {
  /** Private repositories that it may read beside its account's own. */
  reads?: string[]
  /** Gated repositories whose conditions its account has accepted. */
  accepted?: string[]
  /** A fine-grained token without the permission for gated repositories. */
  noGatedScope?: boolean
  /** Its account; none owns nothing. */
  user?: string
  /** Organisations of the account, all with the role of a writer. */
  orgs?: string[]
  /** 'read' where it is left out; 'oauth' is what signing in gives. */
  role?: 'read' | 'write' | 'fineGrained' | 'oauth'
  /** Of a fine-grained token. */
  scoped?: TokenScope[]
  global?: string[]
  /** Of an OAuth token. */
  scopes?: string[]
  /** An OAuth token with contribute-repos writes into these. */
  created?: Set<string>
}

export function tokenOf(tokens: Readonly<Record<string, TokenInput>>, authorization: string | undefined): TokenInput | 'invalid' | null {
  return authorization === undefined ? null : (tokens[authorization.replace(/^Bearer /, '')] ?? 'invalid')
}

/** 'owner' of 'owner/name' and 'datasets/owner/name'. */
export function ownerOf(id: string): string {
  return id.split('/').at(-2) ?? ''
}

/** Whether the account itself may do everything in this namespace. */
function isHome(token: TokenInput, namespace: string): boolean {
  return token.user !== undefined && (token.user === namespace || (token.orgs?.includes(namespace) ?? false))
}

export function mayRead(token: TokenInput | null, id: string): boolean {
  if (!token) return false
  return (token.reads?.includes(id) ?? false) || isHome(token, ownerOf(id))
}

const grants = (token: TokenInput, permission: string, names: readonly string[]): boolean =>
  token.scoped?.some(({ entity, permissions }) => names.includes(entity.name) && permissions.includes(permission)) ?? false

export function mayWrite(token: TokenInput, id: string): boolean {
  const owner = ownerOf(id)
  if (token.role === 'fineGrained') return grants(token, 'repo.write', [owner, id.replace(/^datasets\//, '')])
  if (!isHome(token, owner)) return false
  if (token.role === 'write') return true
  const scopes = token.scopes ?? []
  return token.role === 'oauth' && (scopes.includes('write-repos') || scopes.includes('manage-repos') || (token.created?.has(id) ?? false))
}

/** Why this token may not make this repository; null when it may. */
export function refuseCreation(token: TokenInput, id: string, type: string): Refusal | null {
  const owner = ownerOf(id)
  const allowed =
    token.role === 'fineGrained'
      ? grants(token, 'repo.write', [owner])
      : isHome(token, owner) && (token.role === 'write' || (token.role === 'oauth' && ['contribute-repos', 'manage-repos'].some((scope) => token.scopes?.includes(scope))))
  return allowed ? null : { status: 403, code: null, message: `You don't have the rights to create a ${type} under the namespace "${owner}"` }
}

/** Whether it may open a discussion or a pull request in a repository that it can read. */
export function mayDiscuss(token: TokenInput, id: string): boolean {
  if (token.role === 'oauth') return mayWrite(token, id) || (token.scopes?.includes('write-discussions') ?? false)
  if (token.role === 'fineGrained') return mayWrite(token, id) || (token.global?.includes('discussion.write') ?? false)
  return token.role === 'write'
}

/** The body of /api/whoami-v2. */
export function whoami(token: TokenInput): unknown {
  const { user = 'nobody', orgs = [], role = 'read', scoped = [], global = [] } = token
  const entity = (type: string, name: string) => ({ type, id: `id-${name}`, name, fullname: name, email: null, canPay: false, avatarUrl: '', periodEnd: null })
  const accessToken = {
    displayName: 'a token',
    role,
    createdAt: '2026-01-01T00:00:00.000Z',
    ...(role === 'fineGrained' ? { fineGrained: { canReadGatedRepos: true, global, scoped } } : {}),
  }
  const auth = role === 'oauth' ? { type: 'oauth', expiresAt: '2027-01-01T00:00:00.000Z' } : { type: 'access_token', accessToken }
  return { ...entity('user', user), emailVerified: true, isPro: false, billingMode: 'prepaid', orgs: orgs.map((name) => entity('org', name)), auth }
}
