/** The local Hub's second origin: signed addresses of LFS files, with the real CDN's manners towards browsers. */

import { createHmac, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HubFile } from './files'
import { sendFile } from './send'
import type { HubRequest, HubState } from './server'
import { answerUpload, isUpload } from './uploads'

const CDN_PREFIX = '/xet-bridge-us'
const KEY = randomBytes(16)

const signature = (path: string, expires: number): string => createHmac('sha256', KEY).update(`${path} ${expires}`).digest('base64url')

/** The address that a resolve of an LFS file is sent on to. */
export function signedUrl(state: HubState, repo: string, sha: string, file: HubFile): string {
  const path = `${CDN_PREFIX}/${encodeURIComponent(repo)}/${sha}/${encodeURIComponent(file.path)}`
  const expires = Date.now() + state.signedUrlSeconds * 1000
  const query = new URLSearchParams({ Expires: String(expires), Signature: signature(path, expires), 'Key-Pair-Id': 'local' })
  return `${state.cdn}${path}?${query.toString()}`
}

/** Everything open to everybody, but no preflight is answered: a request that needs one fails in a browser. */
const CORS = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': '*' }

export async function answerCdn(state: HubState, record: HubRequest, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', state.cdn)
  if (isUpload(url.pathname)) return answerUpload(state, record, request, response)
  const [, , repo = '', sha = '', path = ''] = url.pathname.split('/').map(decodeURIComponent)
  const file = state.repos.get(repo)?.files(sha).get(path)
  record.file = file ? path : null
  const deny = (status: number, what: string) =>
    void response.writeHead(status, { ...CORS, 'Content-Type': 'application/xml' }).end(`<?xml version="1.0"?><Error><Code>${what}</Code></Error>`)
  if (request.method === 'OPTIONS') return void response.writeHead(403).end()
  if (request.method !== 'GET' && request.method !== 'HEAD') return deny(405, 'MethodNotAllowed')
  // A signed address and a token together are refused by the real storage, too.
  if (record.authorization) return deny(400, 'InvalidArgument')
  const status = state.faults.take('cdn', record.path, record.file, false)
  if (status?.kind === 'status') return deny(status.status, 'SlowDown')
  const expires = Number(url.searchParams.get('Expires'))
  const valid = url.searchParams.get('Signature') === signature(url.pathname, expires) && Date.now() < expires
  if (!file || !valid) return deny(403, 'AccessDenied')
  const fault = state.faults.take('cdn', record.path, record.file, true)
  if (fault?.kind === 'expired') return deny(403, 'AccessDenied')
  const headers = { ...CORS, 'Content-Type': 'application/octet-stream', ETag: `"${sha}-${file.size}"`, 'Cache-Control': 'public, max-age=604800' }
  await sendFile(response, file, { method: request.method, range: request.headers.range, headers, fault })
}
