/** A local stand-in for the Hub's routes about Spaces, and for Spaces that sleep, start, fail or are private in front of a WebSocket server. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { address, close, listen } from './listen'

export interface SpaceInput {
  /** Stage at the beginning; RUNNING. */
  stage?: string
  /** Stages after the first wake-up call, one for each look of a client; the last one stays. */
  afterWake?: readonly string[]
  /** The same without a wake-up call, for a Space that is being built. */
  afterLooks?: readonly string[]
  /** What went wrong with it. */
  errorMessage?: string
  sdk?: string
  /** Only tokens that are named here may see it and sign addresses. */
  privateTo?: readonly string[]
  /** Port on 127.0.0.1 of the OpenEnv server behind it. */
  port?: number
  /** Connections that it refuses although it runs. */
  refusals?: number
}

export interface SpacesOptions {
  spaces: Record<string, SpaceInput>
  /** Tokens that the Hub knows. */
  tokens?: readonly string[]
  /** Models and datasets that exist, for names that are none of Spaces. */
  models?: readonly string[]
  datasets?: readonly string[]
}

/** One request that arrived, preflights left out. */
export interface SpaceRequest {
  /** 'hub', or the id of the Space whose host was asked. */
  at: string
  /** With the query. */
  path: string
  token: string | null
  origin: string | null
  status: number
}

export interface SpacesHub {
  /** Give this to the client as the Hub. */
  endpoint: string
  requests: SpaceRequest[]
  /** Host and port of a Space. */
  host(id: string): string
  stage(id: string): string
  setStage(id: string, stage: string, afterWake?: readonly string[]): void
  /** The next requests of the Hub whose path contains `on` get this status. */
  fault(fault: { on: string; status: number; times?: number; retryAfter?: number }): void
  stop(): Promise<void>
}

interface Space {
  id: string
  input: SpaceInput
  stage: string
  /** Stages still to come, one a look. */
  coming: string[]
  refusals: number
  server: Server
  sockets: Set<Duplex>
}

const SIGNED = 'signed-for-'
const cors = (request: IncomingMessage): Record<string, string> =>
  request.headers.origin === undefined
    ? {}
    : { 'Access-Control-Allow-Origin': request.headers.origin, 'Access-Control-Expose-Headers': 'X-Error-Code, X-Error-Message', Vary: 'Origin' }
const isUp = (stage: string): boolean => stage.startsWith('RUNNING')

/** Starts the Hub and one host per Space on free ports of 127.0.0.1. */
export async function startSpaces({ spaces: inputs, tokens = [], models = [], datasets = [] }: SpacesOptions): Promise<SpacesHub> {
  const requests: SpaceRequest[] = []
  const faults: { on: string; status: number; left: number; retryAfter?: number }[] = []
  const spaces = new Map<string, Space>()
  const hub = createServer((request, response) => {
    if (request.method === 'OPTIONS') {
      const headers = { ...cors(request), 'Access-Control-Allow-Headers': request.headers['access-control-request-headers'] ?? '', 'Access-Control-Allow-Methods': 'GET' }
      return void response.writeHead(204, headers).end()
    }
    const path = request.url ?? '/'
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? null
    const answer = (status: number, body: unknown, more: Record<string, string> = {}) => {
      requests.push({ at: 'hub', path, token, origin: request.headers.origin ?? null, status })
      response.writeHead(status, { ...cors(request), ...more, 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
    }
    const fault = faults.find(({ on, left }) => left > 0 && path.includes(on))
    if (fault) {
      fault.left--
      return answer(fault.status, { error: 'We had to rate limit you' }, fault.retryAfter === undefined ? {} : { 'Retry-After': String(fault.retryAfter) })
    }
    if (token !== null && !tokens.includes(token)) return answer(401, { error: 'Invalid credentials in Authorization header' }, { 'X-Error-Message': 'Invalid credentials' })
    // Strangers cannot tell a private repository from none.
    const hidden = () => answer(token === null ? 401 : 404, { error: 'Repository not found' }, { 'X-Error-Code': 'RepoNotFound' })
    const [, api, kind, owner = '', name = '', what] = new URL(path, 'http://hub').pathname.split('/')
    const id = owner === 'by-subdomain' ? [...spaces.keys()].find((known) => known.replace(/[/_.]/g, '-').toLowerCase() === name) : `${owner}/${name}`
    if (api === 'api' && kind === 'models' && models.includes(id ?? '')) return answer(200, { id })
    if (api === 'api' && kind === 'datasets' && datasets.includes(id ?? '')) return answer(200, { id })
    const space = api === 'api' && kind === 'spaces' ? spaces.get(id ?? '') : undefined
    const { privateTo } = space?.input ?? {}
    if (!space || (privateTo && !privateTo.includes(token ?? ''))) return hidden()
    if (what === 'host') return answer(200, { host: `http://${address(space.server)}`, subdomain: space.id.replace(/[/_.]/g, '-').toLowerCase() })
    if (what === 'jwt') return token === null ? hidden() : answer(200, { token: `${SIGNED}${space.id}` })
    // The answer tells the stage of now; the next look finds the next one.
    const { stage, input } = space
    space.stage = space.coming.shift() ?? stage
    const errorMessage = input.errorMessage === undefined ? {} : { errorMessage: input.errorMessage }
    answer(200, { _id: '0123456789abcdef01234567', id: space.id, private: privateTo !== undefined, sdk: input.sdk ?? 'docker', tags: ['openenv'], runtime: { stage, ...errorMessage } })
  })
  for (const [id, input] of Object.entries(inputs)) {
    const { stage = 'RUNNING', afterLooks = [], refusals = 0 } = input
    const space: Space = { id, input, stage, coming: [...afterLooks], refusals, server: createServer(), sockets: new Set() }
    serveHost(space, requests)
    await listen(space.server)
    spaces.set(id, space)
  }
  await listen(hub)
  const find = (id: string): Space => {
    const space = spaces.get(id)
    if (!space) throw new Error(`there is no Space ${id}`)
    return space
  }
  return {
    endpoint: `http://${address(hub)}`,
    requests,
    host: (id) => address(find(id).server),
    stage: (id) => find(id).stage,
    setStage: (id, stage, afterWake) => {
      const space = find(id)
      Object.assign(space, { stage, coming: [], input: { ...space.input, ...(afterWake ? { afterWake } : {}) } })
      if (!isUp(stage)) for (const socket of space.sockets) socket.destroy()
    },
    fault: ({ times = 1, ...fault }) => void faults.push({ ...fault, left: times }),
    stop: async () => {
      for (const { sockets } of spaces.values()) for (const socket of sockets) socket.destroy()
      await Promise.all([hub, ...[...spaces.values()].map(({ server }) => server)].map(close))
    },
  }
}

/** What stands before the app of a Space: it wakes it, keeps strangers out and passes everything else through. */
function serveHost(space: Space, requests: SpaceRequest[]): void {
  const admits = (path: string): boolean => {
    const sign = new URL(path, 'http://space').searchParams.get('__sign')
    return space.input.privateTo === undefined || sign === `${SIGNED}${space.id}`
  }
  const record = (request: IncomingMessage, status: number) =>
    requests.push({ at: space.id, path: request.url ?? '/', token: request.headers.authorization ?? null, origin: request.headers.origin ?? null, status })
  space.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const admitted = admits(request.url ?? '/')
    if (admitted && (space.stage === 'SLEEPING' || space.stage === 'STOPPED')) space.coming = [...(space.input.afterWake ?? [])]
    const status = !admitted ? 404 : isUp(space.stage) ? 200 : 503
    record(request, status)
    response.writeHead(status, { 'Content-Type': 'text/html' }).end('<title>Space</title>')
  })
  space.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const refused = space.refusals > 0 && isUp(space.stage)
    if (refused) space.refusals--
    const status = !admits(request.url ?? '/') ? 404 : !isUp(space.stage) || refused || space.input.port === undefined ? 503 : 101
    record(request, status)
    if (status !== 101) return void socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
    const app = connect(space.input.port as number, '127.0.0.1', () => {
      const lines = Array.from({ length: request.rawHeaders.length / 2 }, (_, i) => `${request.rawHeaders[2 * i]}: ${request.rawHeaders[2 * i + 1]}`)
      app.write(`${request.method} ${request.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
      app.write(head)
      app.pipe(socket).pipe(app)
    })
    for (const [one, other] of [[socket, app], [app, socket]] as const) {
      space.sockets.add(one)
      one.on('error', () => other.destroy()).on('close', () => {
        other.destroy()
        space.sockets.delete(one)
      })
    }
  })
}
