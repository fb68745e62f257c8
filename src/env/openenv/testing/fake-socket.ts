/** A scripted WebSocket for tests: a function plays the server, in the same process and without a network. */

import type { WebSocketConstructor, WebSocketLike } from '../socket'

/** The server's end of one connection. */
export interface Peer {
  url: string
  /** Frames that the client sent, in order. */
  received: string[]
  /** Whether the client has closed its end. */
  left: boolean
  send(frame: unknown): void
  /** Sends text (or binary) as it is. */
  sendRaw(data: unknown): void
  hangUp(code?: number, reason?: string): void
}

export interface Script {
  /** 'accept' unless the connection is to fail or to hang. */
  onConnect?: (peer: Peer) => 'accept' | 'refuse' | 'hang' | undefined
  /** A frame arrived, goodbyes included. */
  onFrame?: (frame: { type?: string; data?: Record<string, unknown> }, peer: Peer) => void
}

type Handler = ((event: never) => void) | null
const call = (handler: Handler, event: object) => handler?.(event as never)

/** A WebSocket class whose every connection is played by `script`, and the connections made so far. */
export function fakeServer(script: Script): { WebSocket: WebSocketConstructor; peers: Peer[] } {
  const peers: Peer[] = []
  class FakeWebSocket implements WebSocketLike {
    onopen: Handler = null
    onmessage: Handler = null
    onerror: Handler = null
    onclose: Handler = null
    private over = false
    private readonly peer: Peer

    constructor(url: string) {
      const later = (act: () => void) => queueMicrotask(() => !this.over && act())
      this.peer = {
        url,
        received: [],
        left: false,
        send: (frame) => later(() => call(this.onmessage, { data: JSON.stringify(frame) })),
        sendRaw: (data) => later(() => call(this.onmessage, { data })),
        hangUp: (code = 1000, reason = '') => later(() => this.finish(code, reason)),
      }
      peers.push(this.peer)
      queueMicrotask(() => {
        const answer = script.onConnect?.(this.peer) ?? 'accept'
        if (answer === 'accept') call(this.onopen, {})
        if (answer === 'refuse') {
          call(this.onerror, {})
          this.finish(1006, '')
        }
      })
    }

    send(text: string): void {
      if (this.over) throw new Error('InvalidStateError')
      this.peer.received.push(text)
      const frame = JSON.parse(text) as { type?: string }
      script.onFrame?.(frame, this.peer)
      if (frame.type === 'close') this.peer.hangUp()
    }

    close(): void {
      this.peer.left = true
      queueMicrotask(() => this.finish(1000, ''))
    }

    private finish(code: number, reason: string): void {
      if (this.over) return
      this.over = true
      call(this.onclose, { code, reason })
    }
  }
  return { WebSocket: FakeWebSocket, peers }
}

/** The observation frame of a server. */
export const observation = (fields: Record<string, unknown>, reward: unknown = null, done: unknown = false) => ({
  type: 'observation',
  data: { observation: fields, reward, done },
})
export const errorFrame = (code: string, message = '', more: Record<string, unknown> = {}) => ({
  type: 'error',
  data: { message, code, ...more },
})
export const noMcp = {
  type: 'mcp',
  data: { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Environment does not support MCP', data: null } },
}
export const missing = (...fields: string[]) =>
  errorFrame('VALIDATION_ERROR', 'Invalid message', {
    errors: fields.map((field) => ({ type: 'missing', loc: [field], msg: 'Field required' })),
  })
