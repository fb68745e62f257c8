/** Bytes of the local Hub on the wire: sends a file, whole or one range of it, with the fault that a test asked for; reads a body. */

import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FaultKind } from './faults'
import type { HubFile } from './files'

const CHUNK = 256 << 10

/** [begin, end) of a single or open-ended range; null: no range; 'many': a suffix or several, which browsers cannot send here. */
export function parseRange(header: string | undefined, size: number): { begin: number; end: number } | null | 'many' | 'outside' {
  if (header === undefined) return null
  const match = /^bytes=(\d+)-(\d*)$/.exec(header)
  if (!match) return 'many'
  const begin = Number(match[1])
  const end = match[2] ? Math.min(Number(match[2]) + 1, size) : size
  return begin < end ? { begin, end } : 'outside'
}

/** The whole body of a request, read at most so fast. */
export async function readBody(request: IncomingMessage, bytesPerSecond: number | null = null): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) {
    chunks.push(chunk as Buffer)
    if (bytesPerSecond !== null) await sleep((1000 * (chunk as Buffer).length) / bytesPerSecond)
  }
  return Buffer.concat(chunks)
}

export interface SendOptions {
  method: string
  range: string | undefined
  headers: Record<string, string>
  fault: FaultKind | null
}

/** Answers with the file. Resolves when the last byte is out or the connection is gone. */
export async function sendFile(response: ServerResponse, file: HubFile, { method, range: header, headers, fault }: SendOptions): Promise<void> {
  if (fault?.kind === 'web-page') {
    response.writeHead(200, { ...headers, 'Content-Type': 'text/html; charset=utf-8' }).end('<!doctype html><title>Sign in to the network</title>')
    return
  }
  const range = fault?.kind === 'ignore-range' ? null : parseRange(header, file.size)
  if (range === 'many') {
    // A real CDN would answer, but in a browser this range costs a preflight, which the real CDN refuses.
    response.writeHead(400, headers).end('Only one range with a first byte can be asked for from a browser.')
    return
  }
  if (range === 'outside') {
    response.writeHead(416, { ...headers, 'Content-Range': `bytes */${file.size}` }).end()
    return
  }
  const { begin, end } = range ?? { begin: 0, end: file.size }
  const length = fault?.kind === 'truncate' ? Math.min(fault.bytes, end - begin) : end - begin
  const shift = fault?.kind === 'wrong-range' ? fault.shift : 0
  const size = fault?.kind === 'wrong-size' ? fault.size : file.size
  const all: Record<string, string> = { ...headers, 'Accept-Ranges': 'bytes', 'Content-Length': String(length) }
  if (range) all['Content-Range'] = `bytes ${begin + shift}-${end - 1 + shift}/${size}`
  response.writeHead(range ? 206 : 200, all)
  if (method === 'HEAD') response.end()
  else await sendBody(response, file, begin, begin + length, fault)
}

async function sendBody(response: ServerResponse, file: HubFile, begin: number, end: number, fault: FaultKind | null): Promise<void> {
  // A reader that leaves in mid-write is an error of the stream, not of the server.
  const gone = once(response, 'close').catch(() => undefined)
  const stopAt = fault?.kind === 'drop' || fault?.kind === 'stall' ? Math.min(begin + fault.afterBytes, end) : null
  let creepsAt = fault?.kind === 'creep' ? fault.byte : Infinity
  if (fault?.kind === 'creep') void fault.until?.then(() => (creepsAt = Infinity))
  const step = fault?.kind === 'slow' ? Math.max(1, Math.round(fault.bytesPerSecond / 20)) : CHUNK
  for (let at = begin; at < (stopAt ?? end); ) {
    const creeps = at >= creepsAt
    const until = Math.min(at + (creeps ? 1 : Math.min(step, creepsAt - at)), stopAt ?? end)
    let bytes = await file.read(at, until)
    if (fault?.kind === 'tamper' && fault.byte >= at && fault.byte < until) {
      bytes = bytes.slice()
      bytes[fault.byte - at] = (bytes[fault.byte - at] as number) ^ 0xff
    }
    if (response.destroyed) return
    // Awaiting 'drain' alone would wait for ever for a reader that has gone.
    if (!response.write(bytes)) await Promise.race([once(response, 'drain').catch(() => undefined), gone])
    if (fault?.kind === 'slow') await sleep(50)
    else if (creeps) await sleep(100)
    at = until
  }
  if (stopAt === null) response.end()
  else if (fault?.kind === 'stall') response.flushHeaders()
  else {
    response.flushHeaders()
    // Lets what was written reach the reader first.
    await sleep(20)
    response.destroy()
    return
  }
  await gone
}
