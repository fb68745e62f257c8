/** The local Hub's endpoint: model info, file listings, resolve and raw, with the Hub's error codes and CORS headers. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { signedUrl } from './cdn'
import { lfsPointer, type HubFile } from './files'
import { isOAuth } from './oauth'
import { parquetCopy } from './parquet-copy'
import { admit, Repository, type Refusal } from './repository'
import { sendFile } from './send'
import type { HubRequest, HubState } from './server'
import { answerWrite, writeRoute } from './write-api'

const EXPOSED =
  'X-Repo-Commit, X-Request-Id, X-Error-Code, X-Error-Message, X-Total-Count, ETag, Link, Accept-Ranges, Content-Range, X-Linked-Size, X-Linked-ETag, X-Xet-Hash'

/** What the Hub tells browsers: the origin is echoed, and Retry-After is not among the headers that scripts may read. */
function cors(request: IncomingMessage): Record<string, string> {
  const { origin } = request.headers
  const vary = { Vary: 'Origin' }
  return origin === undefined ? vary : { ...vary, 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED }
}

const MESSAGES: Record<number, string> = {
  401: 'Invalid credentials in Authorization header',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Another operation is in progress on this repository',
  412: 'A commit has happened since. Please refresh and try again.',
  413: 'Payload Too Large',
  429: 'We had to rate limit you',
}

/** Paths of the API, decoded part by part: a revision such as refs%2Fpr%2F1 is one part. */
interface Route {
  kind: 'info' | 'tree' | 'resolve' | 'raw' | 'resolve-cache'
  repo: string
  revision: string
  path: string
}

function route(pathname: string): Route | null {
  const parts = pathname.split('/').slice(1).map(decodeURIComponent)
  const make = (kind: Route['kind'], owner = '', name = '', revision = 'main', rest: string[] = []): Route => ({
    kind,
    repo: `${owner}/${name}`,
    revision,
    path: rest.join('/'),
  })
  if (parts[0] === 'api' && (parts[1] === 'models' || parts[1] === 'datasets')) {
    const [, type, plain, name, what, revision, ...rest] = parts
    const owner = type === 'datasets' ? `datasets/${plain}` : plain
    if (what === undefined) return make('info', owner, name)
    if (what === 'revision') return make('info', owner, name, revision)
    return what === 'tree' ? make('tree', owner, name, revision, rest) : null
  }
  if (parts[0] === 'api' && parts[1] === 'resolve-cache') {
    const [, , type, plain, name, revision, ...rest] = parts
    const owner = type === 'datasets' ? `datasets/${plain}` : plain
    return make('resolve-cache', owner, name, revision, rest)
  }
  const isDataset = parts[0] === 'datasets' && parts.length > 3
  const [plain, name, what, revision, ...rest] = isDataset ? parts.slice(1) : parts
  const owner = isDataset ? `datasets/${plain}` : plain
  return what === 'resolve' || what === 'raw' ? make(what, owner, name, revision, rest) : null
}

export async function answerHub(state: HubState, record: HubRequest, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const headers = cors(request)
  const refuse = ({ status, code, message }: Refusal, more: Record<string, string> = {}) => {
    const errors: Record<string, string> = code === null ? { 'X-Error-Message': message } : { 'X-Error-Code': code, 'X-Error-Message': message }
    const body = status === 401 && code === 'RepoNotFound' ? 'Invalid username or password.' : message
    response.writeHead(status, { ...headers, ...errors, ...more, 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify({ error: body }))
  }
  if (request.method === 'OPTIONS') {
    const allowed = request.headers['access-control-request-headers'] ?? ''
    const preflight = { 'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS, POST', 'Access-Control-Allow-Headers': allowed, 'Access-Control-Max-Age': '86400' }
    return void response.writeHead(204, { ...headers, ...preflight }).end()
  }
  const url = new URL(request.url ?? '/', state.endpoint)
  const at = route(url.pathname)
  if (at?.path) record.file = at.path
  const fault = state.faults.take('hub', record.path, record.file, false)
  if (fault?.kind === 'status') {
    const more: Record<string, string> = fault.retryAfter === undefined ? {} : { 'Retry-After': String(fault.retryAfter) }
    return refuse({ status: fault.status, code: null, message: fault.message ?? MESSAGES[fault.status] ?? 'Internal Error' }, more)
  }
  const reply = { refuse, json: (value: unknown, more: Record<string, string> = {}) => sendJson(response, { ...headers, ...more }, value) }
  if (isOAuth(url.pathname)) return state.oauth.answer(state, request, response, reply)
  const writes = writeRoute(url.pathname)
  if (writes) return answerWrite(state, record, writes, request, response, reply)
  const copy = parquetCopy(state, url.pathname, request)
  if (copy) {
    if ('refusal' in copy) return refuse(copy.refusal)
    if ('listing' in copy) return sendJson(response, headers, copy.listing)
    return void response.writeHead(302, { ...headers, Location: copy.location }).end()
  }
  if (!at || (request.method !== 'GET' && request.method !== 'HEAD')) return refuse({ status: 404, code: null, message: 'Not Found' })
  const content = at.kind === 'resolve' || at.kind === 'raw' || at.kind === 'resolve-cache'
  const repo = admit(state.repos, state.tokens, at.repo, request.headers.authorization, content)
  if (!(repo instanceof Repository)) return refuse(repo)
  const sha = repo.sha(at.revision)
  if (sha === null) return refuse({ status: 404, code: 'RevisionNotFound', message: `Invalid rev id: ${at.revision}` })
  if (at.kind === 'info') return sendJson(response, headers, describe(repo, sha, url.searchParams.getAll('expand')))
  if (at.kind === 'tree') return sendTree(state, response, headers, { repo, sha, folder: at.path, url })
  const file = repo.files(sha).get(at.path)
  if (!file) return refuse({ status: 404, code: 'EntryNotFound', message: 'Entry not found' }, { 'X-Repo-Commit': sha })
  if (at.kind === 'raw') {
    if (file.lfs) return void response.writeHead(200, { ...headers, 'Content-Type': 'text/plain; charset=utf-8' }).end(await lfsPointer(file))
    return sendFile(response, file, { method: request.method, range: request.headers.range, headers, fault: null })
  }
  const etag = `"${await (file.lfs ? file.sha256() : file.oid())}"`
  if (at.kind === 'resolve-cache') {
    const sendFault = state.faults.take('hub', record.path, file.path, true)
    const plain = { ...headers, 'Content-Type': 'text/plain; charset=utf-8', ETag: etag, 'X-Repo-Commit': sha }
    return sendFile(response, file, { method: request.method, range: request.headers.range, headers: plain, fault: sendFault })
  }
  redirect(state, response, headers, repo.id, sha, file, etag)
}

/** Small files stay on this host, LFS files go to the other origin. */
function redirect(state: HubState, response: ServerResponse, headers: Record<string, string>, repo: string, sha: string, file: HubFile, etag: string): void {
  const common = { ...headers, 'X-Repo-Commit': sha, 'Accept-Ranges': 'bytes', ETag: etag }
  if (file.lfs) {
    const linked = { 'X-Linked-Size': String(file.size), 'X-Linked-ETag': etag }
    response.writeHead(302, { ...common, ...linked, Location: signedUrl(state, repo, sha, file) }).end()
  } else {
    const path = file.path.split('/').map(encodeURIComponent).join('/')
    response.writeHead(307, { ...common, Location: `/api/resolve-cache/${repo.startsWith('datasets/') ? '' : 'models/'}${repo}/${sha}/${path}?etag=${encodeURIComponent(etag)}` }).end()
  }
}

function sendJson(response: ServerResponse, headers: Record<string, string>, value: unknown): void {
  response.writeHead(200, { ...headers, 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(value))
}

/** Model info; with `expand` only the named fields besides the ids, as on the Hub. */
function describe(repo: Repository, sha: string, expand: readonly string[]): Record<string, unknown> {
  const all: Record<string, unknown> = {
    sha,
    private: repo.private,
    gated: repo.gated,
    downloads: 0,
    likes: 0,
    lastModified: '2026-01-01T00:00:00.000Z',
    pipeline_tag: 'text-generation',
    siblings: [...repo.files(sha).keys()].map((rfilename) => ({ rfilename })),
  }
  const kept = expand.length ? Object.fromEntries(Object.entries(all).filter(([key]) => expand.includes(key))) : all
  return { _id: '0123456789abcdef01234567', id: repo.id.replace(/^datasets\//, ''), ...kept }
}

interface TreeRequest {
  repo: Repository
  sha: string
  folder: string
  url: URL
}

async function sendTree(state: HubState, response: ServerResponse, headers: Record<string, string>, { repo, sha, folder, url }: TreeRequest): Promise<void> {
  const inside = [...repo.files(sha).values()].filter(({ path }) => folder === '' || path.startsWith(`${folder}/`)).sort((a, b) => (a.path < b.path ? -1 : 1))
  const recursive = url.searchParams.get('recursive') === 'true'
  const entries: { path: string; file: HubFile | null }[] = []
  const folders = new Set<string>()
  for (const file of inside) {
    const below = folder === '' ? file.path : file.path.slice(folder.length + 1)
    const parts = below.split('/')
    for (let depth = 1; depth < (recursive ? parts.length : Math.min(2, parts.length)); depth++) {
      const path = [folder, ...parts.slice(0, depth)].filter(Boolean).join('/')
      if (!folders.has(path)) entries.push({ path, file: null })
      folders.add(path)
    }
    if (recursive || parts.length === 1) entries.push({ path: file.path, file })
  }
  const from = Number(url.searchParams.get('cursor') ?? 0)
  const page = await Promise.all(entries.slice(from, from + state.pageSize).map(({ path, file }) => treeEntry(path, file, sha, url.searchParams.get('expand') === 'true')))
  const next = new URL(url)
  next.searchParams.set('cursor', String(from + state.pageSize))
  const link: Record<string, string> = from + state.pageSize < entries.length ? { Link: `<${next.href}>; rel="next"` } : {}
  sendJson(response, { ...headers, ...link }, page)
}

async function treeEntry(path: string, file: HubFile | null, sha: string, expand: boolean): Promise<Record<string, unknown>> {
  const lastCommit = expand ? { lastCommit: { id: sha, title: 'Upload', date: '2026-01-01T00:00:00.000Z' } } : {}
  if (!file) return { type: 'directory', oid: sha, size: 0, path, ...lastCommit }
  const entry = { type: 'file', oid: await file.oid(), size: file.size, path, ...lastCommit }
  if (!file.lfs) return entry
  const oid = await file.sha256()
  return { ...entry, lfs: { oid, size: file.size, pointerSize: (await lfsPointer(file)).length }, xetHash: oid }
}
