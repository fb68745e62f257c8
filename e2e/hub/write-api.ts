/** The writing half of the local Hub's API: create a repository, preupload, LFS batch and verify, commits and pull requests. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { mayDiscuss, mayWrite, refuseCreation, tokenOf, whoami, type TokenInput } from './accounts'
import { hubFile } from './files'
import { admit, Repository, type RepoFiles, type Refusal } from './repository'
import { readBody } from './send'
import type { HubRequest, HubState } from './server'
import { uploadUrl } from './uploads'

export type WriteRoute =
  | { kind: 'whoami' }
  | { kind: 'create' }
  | { kind: 'preupload'; repo: string }
  | { kind: 'commit'; repo: string; revision: string }
  | { kind: 'batch'; repo: string }
  | { kind: 'verify'; repo: string }

/** The route of a request that writes or asks who may; null for all others. */
export function writeRoute(pathname: string): WriteRoute | null {
  const parts = pathname.split('/').slice(1).map(decodeURIComponent)
  if (pathname === '/api/whoami-v2') return { kind: 'whoami' }
  if (pathname === '/api/repos/create') return { kind: 'create' }
  if (parts[0] === 'api' && (parts[1] === 'models' || parts[1] === 'datasets')) {
    const [, type, owner, name, what, revision = 'main'] = parts
    const repo = `${type === 'datasets' ? 'datasets/' : ''}${owner}/${name}`
    if (what === 'preupload') return { kind: what, repo }
    return what === 'commit' ? { kind: what, repo, revision } : null
  }
  const lfs = /^\/((?:datasets\/)?[^/]+\/[^/]+)\.git\/info\/lfs\/(?:objects\/batch|(verify))$/.exec(pathname)
  return lfs ? { kind: lfs[2] ? 'verify' : 'batch', repo: lfs[1] as string } : null
}

export interface Reply {
  json: (value: unknown, more?: Record<string, string>) => void
  refuse: (refusal: Refusal) => void
}

const FORBIDDEN: Refusal = { status: 403, code: null, message: 'Forbidden: pass `create_pr=1` as a query parameter to create a Pull Request' }
const bad = (message: string): Refusal => ({ status: 400, code: null, message })

/** Answers one of writeRoute's requests. */
export async function answerWrite(
  state: HubState,
  record: HubRequest,
  at: WriteRoute,
  request: IncomingMessage,
  response: ServerResponse,
  { json, refuse }: Reply,
): Promise<void> {
  const token = tokenOf(state.tokens, request.headers.authorization)
  if (token === null || token === 'invalid') return refuse({ status: 401, code: null, message: 'Invalid username or password.' })
  if (at.kind === 'whoami') return json(whoami(token))
  if (request.method !== 'POST') return refuse({ status: 404, code: null, message: 'Not Found' })
  const body = await readBody(request)
  const text = body.toString('utf8')
  if (at.kind === 'create') return create(state, token, text, { json, refuse })
  const found = admit(state.repos, state.tokens, at.repo, request.headers.authorization, false)
  if (!(found instanceof Repository)) return refuse(found)
  const url = new URL(request.url ?? '/', state.endpoint)
  const asPullRequest = url.searchParams.get('create_pr') === '1'
  const allowed = mayWrite(token, found.id) || (asPullRequest && mayDiscuss(token, found.id))
  if (at.kind === 'preupload') return allowed ? preupload(text, { json, refuse }) : refuse(FORBIDDEN)
  if (at.kind === 'batch') {
    // Without a ref it is for a pull request; whether large files may go into a foreign repository has changed over time.
    const foreign = !mayWrite(token, found.id)
    if (foreign && (text.includes('"ref"') || !mayDiscuss(token, found.id) || state.refusesForeignLfs)) return refuse(FORBIDDEN)
    return batch(state, record, found, text, { json, refuse })
  }
  if (at.kind === 'verify') {
    const object = lfsObject.safeParse(JSON.parse(text))
    const stored = object.success ? state.objects.get(object.data.oid) : undefined
    return object.success && stored?.length === object.data.size ? json({}) : refuse({ status: 404, code: null, message: 'Not Found' })
  }
  if (!allowed) return refuse(FORBIDDEN)
  if (state.faults.take('hub', record.path, null, true, 'drop')) return void response.destroy()
  const done = await commit(state, found, at.revision, text, asPullRequest)
  if ('status' in done) return refuse(done)
  // The commit is there, and nobody hears of it.
  if (state.faults.take('hub', record.path, null, true, 'lost-answer')) return void response.destroy()
  json(done)
}

const createBody = z.object({ name: z.string(), organization: z.string(), type: z.enum(['model', 'dataset']), visibility: z.enum(['public', 'private']).optional() })

async function create(state: HubState, token: TokenInput, text: string, { json, refuse }: Reply): Promise<void> {
  const parsed = createBody.safeParse(JSON.parse(text))
  if (!parsed.success) return refuse(bad('Invalid body'))
  const { name, organization, type, visibility } = parsed.data
  const id = `${type === 'dataset' ? 'datasets/' : ''}${organization}/${name}`
  const refusal = refuseCreation(token, id, type)
  if (refusal) return refuse(refusal)
  if (state.repos.has(id)) return refuse({ status: 409, code: null, message: `You already created this ${type} repo` })
  const repo = new Repository(id, { private: visibility === 'private' })
  await repo.commit({ '.gitattributes': '*.safetensors filter=lfs diff=lfs merge=lfs -text\n' })
  state.repos.set(id, repo)
  token.created?.add(id)
  json({ url: `${state.endpoint}/${id}`, id: `${organization}/${name}`, name: `${organization}/${name}` })
}

const preuploadBody = z.object({ files: z.array(z.object({ path: z.string(), size: z.number(), sample: z.string() })) })

function preupload(text: string, { json, refuse }: Reply): void {
  const parsed = preuploadBody.safeParse(JSON.parse(text))
  if (!parsed.success) return refuse(bad('Invalid body'))
  const mode = (path: string, size: number) => (hubFile(path, { size, read: () => new Uint8Array() }).lfs ? 'lfs' : 'regular')
  json({ files: parsed.data.files.map(({ path, size }) => ({ path, uploadMode: mode(path, size), shouldIgnore: false })) })
}

const lfsObject = z.object({ oid: z.string().regex(/^[0-9a-f]{64}$/), size: z.number().int() })
const batchBody = z.object({ operation: z.literal('upload'), transfers: z.array(z.string()), objects: z.array(lfsObject) })

function batch(state: HubState, record: HubRequest, repo: Repository, text: string, { json, refuse }: Reply): void {
  const parsed = batchBody.safeParse(JSON.parse(text))
  if (!parsed.success) return refuse(bad('Invalid body'))
  record.transfers = parsed.data.transfers
  const objects = parsed.data.objects.map(({ oid, size }) => {
    if (state.objects.has(oid)) return { oid, size }
    const verify = { href: `${state.endpoint}/${repo.id}.git/info/lfs/verify` }
    return { oid, size, authenticated: true, actions: { upload: { href: uploadUrl(state, oid) }, verify } }
  })
  json({ transfer: 'basic', objects }, { 'X-Request-Id': 'batch-1' })
}

const line = z.discriminatedUnion('key', [
  z.object({ key: z.literal('header'), value: z.object({ summary: z.string().min(1), description: z.string().optional(), parentCommit: z.string().optional() }) }),
  z.object({ key: z.literal('file'), value: z.object({ path: z.string(), content: z.string(), encoding: z.enum(['base64', 'utf-8']) }) }),
  z.object({ key: z.literal('lfsFile'), value: z.object({ path: z.string(), algo: z.literal('sha256'), oid: z.string(), size: z.number() }) }),
  z.object({ key: z.literal('deletedFile'), value: z.object({ path: z.string() }) }),
])

interface CommitAnswer {
  success: true
  commitOid: string
  commitUrl: string
  hookOutput: string
  pullRequestUrl?: string
}

/** All or nothing: what is wrong is found before anything changes. */
async function commit(state: HubState, repo: Repository, revision: string, text: string, asPullRequest: boolean): Promise<CommitAnswer | Refusal> {
  const lines = text.split('\n').map((row) => line.safeParse(JSON.parse(row)))
  if (lines.some(({ success }) => !success)) return bad('Invalid commit line')
  const operations = lines.flatMap(({ data }) => (data ? [data] : []))
  const header = operations.find((operation) => operation.key === 'header')
  const before = repo.sha(revision)
  if (!header || before === null) return bad('Invalid commit')
  if (header.value.parentCommit !== undefined && header.value.parentCommit !== before) {
    return { status: 412, code: null, message: 'A commit has happened since. Please refresh and try again.' }
  }
  const changes: RepoFiles = {}
  const deleted: string[] = []
  for (const operation of operations) {
    if (operation.key === 'deletedFile') deleted.push(operation.value.path)
    if (operation.key === 'file') {
      const { path, content, encoding } = operation.value
      const bytes = Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8')
      if (state.faults.take('hub', path, path, true, 'tamper')) bytes[0] = (bytes[0] as number) ^ 0xff
      changes[path] = new Uint8Array(bytes)
    }
    if (operation.key === 'lfsFile') {
      const { path, oid, size } = operation.value
      const stored = state.objects.get(oid)
      if (stored?.length !== size) return bad(`LFS pointer pointed to a file that does not exist: ${path}`)
      changes[path] = { size, lfs: true, read: (begin, end) => stored.subarray(begin, end) }
    }
  }
  const number = repo.pullRequests + 1
  const sha = await repo.change(changes, deleted, revision, asPullRequest ? `refs/pr/${number}` : revision, header.value.summary)
  const pullRequest = asPullRequest ? { pullRequestUrl: `${state.endpoint}/${repo.id}/discussions/${number}` } : {}
  return { success: true, commitOid: sha, commitUrl: `${state.endpoint}/${repo.id}/commit/${sha}`, hookOutput: '', ...pullRequest }
}
