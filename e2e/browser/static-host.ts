/** A plain static host for a built folder: no headers but the type unless asked, a log of what was requested, and a real end. */

import { createServer, type IncomingHttpHeaders } from 'node:http'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
}

export interface StaticHost {
  /** Ends in a slash. */
  url: string
  /** Every request so far, in order. */
  requests: { path: string; headers: IncomingHttpHeaders }[]
  /** Nothing listens any more and no connection is left. */
  stop(): Promise<void>
}

export interface StaticHostOptions {
  /** Sent with every answer. */
  headers?: Readonly<Record<string, string>>
  /** An answer to a path is held back until this resolves. */
  hold?: (path: string) => Promise<void>
  /** The status of an answer that brings no file; undefined where all is well. */
  fails?: (path: string) => number | undefined
}

/** Serves the files of `folder` on a free port of localhost; a folder's address answers with its index.html. */
export async function serveStatic(folder: string, { headers = {}, hold, fails }: StaticHostOptions = {}): Promise<StaticHost> {
  const requests: StaticHost['requests'] = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname)
    requests.push({ path, headers: request.headers })
    const file = path.endsWith('/') ? `${path}index.html` : path
    const answer = async () => {
      await hold?.(path)
      const status = fails?.(path)
      if (status !== undefined) return void response.writeHead(status, headers).end('it fails')
      const bytes = await readFile(join(folder, file)).catch(() => null)
      if (bytes === null) return void response.writeHead(404, headers).end('not found')
      response.writeHead(200, { ...headers, 'Content-Type': types[extname(file)] ?? 'application/octet-stream', 'Content-Length': bytes.length }).end(bytes)
    }
    void answer()
  })
  await new Promise<void>(done => server.listen(0, 'localhost', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://localhost:${port}/`,
    requests,
    stop: async () => {
      const closed = new Promise(done => server.close(done))
      server.closeAllConnections()
      await closed
    },
  }
}
