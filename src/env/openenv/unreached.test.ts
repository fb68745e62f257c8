/** Why no socket came about: what a server that answers to HTTP alone, a wrong port or a silent host is said to be. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import WebSocket from 'ws'
import { PlaygroundError } from '../../core/errors'
import { OpenEnvEnvironment, type OpenEnvOptions } from './client'
import type { WebSocketConstructor } from './socket'

let server: Server | null = null
afterEach(() => new Promise<void>((resolve) => {
  if (server === null) return resolve()
  server.closeAllConnections()
  server.close(() => resolve())
  server = null
}))

async function port(health: { status: number; body: string }): Promise<number> {
  const made = createServer((request, response) => response.writeHead(request.url === '/health' ? health.status : 404).end(health.body))
  server = made
  // As uvicorn refuses a WebSocket to a path that it does not know.
  made.on('upgrade', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'))
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  return (made.address() as AddressInfo).port
}

async function failure(address: string, options: Partial<OpenEnvOptions> = {}): Promise<PlaygroundError> {
  const environment = new OpenEnvEnvironment(address, { WebSocket: WebSocket as unknown as WebSocketConstructor, ...options })
  const error: unknown = await environment.connect().catch((e: unknown) => e)
  expect(error).toBeInstanceOf(PlaygroundError)
  return error as PlaygroundError
}

const OLD = { status: 200, body: '{"status":"healthy"}' }

it('an OpenEnv server of 0.1 is named and its update advised', async () => {
  const at = await port(OLD)
  const { message, advice } = await failure(`localhost:${at}`.replace('localhost', '127.0.0.1'))
  expect(message).toBe(`127.0.0.1:${at} is an OpenEnv server without a socket at /ws: it is older than 0.2 and speaks HTTP only.`)
  expect(advice).toContain('pip install --upgrade openenv')
})

it.each([{ status: 404, body: '' }, { status: 200, body: '<html>' }, { status: 200, body: '{"ok":true}' }])('another server is none of OpenEnv: %j', async (health) => {
  const { message } = await failure(`127.0.0.1:${await port(health)}`)
  expect(message).toContain(`answers to HTTP (${health.status} at /health) but opens no socket at /ws: it is no OpenEnv server`)
})

it('an answer that may not be read is told from none', async () => {
  const at = await port(OLD)
  const hidden: typeof fetch = (input, init) => (init?.mode === 'no-cors' ? fetch(input) : Promise.reject(new TypeError('Failed to fetch')))
  expect((await failure(`127.0.0.1:${at}`, { fetch: hidden })).message).toContain('it is no OpenEnv server, or one older than 0.2')
})

it('a silent port gets the usual ports, the way to see an old server, and on an https page what browsers allow', async () => {
  // A port that was given back may be another test's by now; the system gives none that is so low.
  const at = 2
  const { message, advice } = await failure(`127.0.0.1:${at}`, { pageProtocol: 'https:' })
  expect(message).toContain(`No connection to 127.0.0.1:${at}`)
  expect(advice).toContain('port 8000')
  expect(advice).toContain(`If http://127.0.0.1:${at}/health opens in a tab`)
  expect(advice).toContain('Safari does not')
  expect((await failure(`127.0.0.1:${at}`, { pageProtocol: 'http:' })).advice).not.toContain('Safari')
})

it('a computer that is offline is named as the cause, but not for a server that runs on it', async () => {
  const at = await port(OLD)
  vi.stubGlobal('navigator', { onLine: false })
  try {
    const { message, advice } = await failure('wss://environment.invalid')
    expect(message).toBe('environment.invalid could not be reached: this computer is offline.')
    expect(advice).toContain('built-in games')
    expect((await failure(`127.0.0.1:${at}`)).message).toContain('older than 0.2')
  } finally {
    vi.unstubAllGlobals()
  }
})
