/** Where the local Hub takes LFS files in: signed addresses at the second origin, kept by the sha256 that was announced. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { readBody } from './send'
import type { HubRequest, HubState } from './server'

const PREFIX = '/uploads/'

export const isUpload = (path: string): boolean => path.startsWith(PREFIX)

/** The address that an LFS batch names for an object. */
export function uploadUrl(state: HubState, oid: string): string {
  return `${state.cdn}${PREFIX}${oid}?X-Amz-Expires=900&X-Amz-Signature=${oid.slice(0, 16)}`
}

const CORS = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'ETag' }

/** Resolves when so many bytes of the body are here, or all. */
function bytesCame(request: IncomingMessage, wanted: number): Promise<void> {
  return new Promise((resolve) => {
    let come = 0
    request.on('end', resolve).on('data', (chunk: Buffer) => {
      come += chunk.length
      if (come >= wanted) resolve()
    })
  })
}

/** Takes a PUT; with a fault it breaks off, hangs, or keeps other bytes than came. */
export async function answerUpload(state: HubState, record: HubRequest, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'OPTIONS') {
    const allow = { 'Access-Control-Allow-Methods': 'PUT', 'Access-Control-Allow-Headers': request.headers['access-control-request-headers'] ?? '' }
    return void response.writeHead(204, { ...CORS, ...allow }).end()
  }
  const deny = (status: number, code: string) => void response.writeHead(status, { ...CORS, 'Content-Type': 'application/xml' }).end(`<Error><Code>${code}</Code></Error>`)
  if (request.method !== 'PUT') return deny(405, 'MethodNotAllowed')
  // A signed address and a token together are refused by the real storage, too.
  if (record.authorization) return deny(400, 'InvalidArgument')
  const url = new URL(request.url ?? '/', state.cdn)
  const oid = url.pathname.slice(PREFIX.length)
  const refused = state.faults.take('cdn', record.path, null, false)
  if (refused?.kind === 'status') return deny(refused.status, 'SlowDown')
  if (url.searchParams.get('X-Amz-Signature') !== oid.slice(0, 16)) return deny(403, 'SignatureDoesNotMatch')
  const cut = state.faults.take('cdn', record.path, null, true, 'drop') ?? state.faults.take('cdn', record.path, null, true, 'stall')
  if (cut?.kind === 'drop' || cut?.kind === 'stall') {
    await bytesCame(request, cut.afterBytes)
    return void (cut.kind === 'drop' ? request.socket.destroy() : request.pause())
  }
  const slow = state.faults.take('cdn', record.path, null, true, 'slow')
  const body = await readBody(request, slow?.kind === 'slow' ? slow.bytesPerSecond : null)
  // What arrives damaged: the real storage keeps what came, whatever was announced.
  const tamper = state.faults.take('cdn', record.path, null, true, 'tamper')
  if (tamper?.kind === 'tamper') body[tamper.byte] = (body[tamper.byte] as number) ^ 0xff
  state.objects.set(oid, new Uint8Array(body))
  response.writeHead(200, { ...CORS, 'Content-Type': 'application/xml', ETag: `"${oid.slice(0, 32)}"` }).end()
}
