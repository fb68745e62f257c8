/** One socket = one session = at most one request under way. A deadline closes the socket, so no late reply is ever read. */

import { PlaygroundError, UnreadableReplyError } from '../../core/errors'
import { sleep } from '../../core/sleep'
import { parseServerFrame, type Request, type ServerFrame } from './protocol'
import { said } from './said'

/** The part of WebSocket that we use; browsers, Node 22 and the `ws` package all have it. */
export interface WebSocketLike {
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  send(text: string): void
  close(code?: number, reason?: string): void
}
export type WebSocketConstructor = new (url: string) => WebSocketLike

/** A reply that belongs to a request. */
export type Reply = Exclude<ServerFrame, { kind: 'garbage' } | { kind: 'unknown' }>

/** Sees every frame as it goes over the wire; `time` is Date.now(). A binary frame, which is never OpenEnv's, comes as "[binary]". */
export type FrameObserver = (direction: 'sent' | 'received', text: string, time: number) => void

/** Close codes in words. */
const CLOSE_CODES: Record<number, string> = {
  1000: 'the server ended the session',
  1001: 'the server is going away',
  1002: 'the server saw a protocol error',
  1003: 'the server refused the kind of data',
  1006: 'the connection broke off and was not closed by the server (server down, network, or a proxy)',
  1007: 'the server saw malformed data',
  1008: 'the server refused the session by its policy',
  1009: 'a frame was larger than the server or a proxy allows',
  1011: 'the server failed, or lost touch with us',
  1012: 'the server restarts',
  1013: 'the server is overloaded',
  1015: 'the encrypted connection could not be made',
}

/** Half a sentence for a close event: "the server restarts (1012)". */
export function describeClose(code: number, reason = ''): string {
  const words = CLOSE_CODES[code] ?? 'the connection was closed'
  return `${words} (${code}${reason ? `: ${said(reason)}` : ''})`
}

/** How long a closing handshake may take before we let go. */
const CLOSE_MS = 2000
/** A server that answers twice does it at once: frames carry no id, so a second answer must be in before the next question goes out, ms. */
export const QUIET_MS = 20
/** The same before an episode is scored, ms: where questions followed each other at once, as long as the slowest answer took, within these. */
const SETTLE_MS = 50
const SETTLE_RUSHED_MS = 300
const SETTLE_MOST_MS = 2000

/** What may answer a request, besides an error. */
const ANSWERS: Record<Request['type'], Reply['kind']> = { reset: 'observation', step: 'observation', state: 'state', mcp: 'mcp' }
/** What helps against answers that the protocol does not have. */
export const UPDATE_SERVER = 'Update the server (pip install --upgrade openenv), or tell those who wrote it: it does not keep to OpenEnv’s protocol.'
/** Errors that the server may send instead of a session, before anything was asked. */
const ENDINGS = ['CAPACITY_REACHED', 'FACTORY_ERROR', 'SESSION_ERROR']

interface Pending {
  type: Request['type']
  resolve: (reply: Reply) => void
  reject: (error: PlaygroundError) => void
  timer: ReturnType<typeof setTimeout>
  /** When it was sent, performance.now(). */
  from: number
}

/** The browser's (or Node 22's) WebSocket. Throws PlaygroundError('environment') where there is none. */
export function defaultWebSocket(): WebSocketConstructor {
  const found: unknown = globalThis.WebSocket
  if (typeof found !== 'function')
    throw new PlaygroundError('environment', 'This runtime has no WebSocket.', 'Use a browser or Node 22 or newer.')
  return found as WebSocketConstructor
}

/** "an observation", "a state". */
export const withArticle = (kind: Reply['kind']): string => (kind === 'state' ? 'a state' : `an ${kind}`)

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

export class SessionSocket {
  private pending: Pending | null = null
  /** Whether a request has been answered: the session is there. */
  private proved = false
  /** An error frame right after opening, e.g. CAPACITY_REACHED: there is no session, which answers the first request. */
  private verdict: Reply | null = null
  /** Why no request can be made any more. */
  private ended: PlaygroundError | null = null
  /** A frame that nobody had asked for, or that cannot be read: earlier answers may have been other requests' too. */
  private doubt: PlaygroundError | null = null
  /** The latest reply: what it was and when, performance.now(). */
  private latest: { kind: Reply['kind']; at: number } | null = null
  /** Whether a request has followed an answer at once, and the longest time that an answer took, ms. */
  private rushed = false
  private slowest = 0
  private overdue = false
  /** A request waits until the line is quiet. */
  private hushing = false
  private markClosed: () => void = () => undefined
  private readonly closed = new Promise<void>((resolve) => (this.markClosed = resolve))

  private constructor(
    private readonly ws: WebSocketLike,
    private readonly host: string,
    private readonly onFrame: FrameObserver | undefined,
    private readonly quietMs: number,
  ) {}

  /** Opens the socket. Rejects with PlaygroundError('environment') after `deadlineMs`, when the signal aborts, or when the connection fails. */
  static open(
    url: string,
    options: { WebSocket: WebSocketConstructor; host: string; deadlineMs: number; quietMs?: number; onFrame?: FrameObserver | undefined; signal?: AbortSignal },
  ): Promise<SessionSocket> {
    const { host, deadlineMs, onFrame, signal } = options
    return new Promise((resolve, reject) => {
      const fail = (why: string, cause?: unknown) =>
        reject(new PlaygroundError('environment', `No connection to ${host}: ${why}.`, adviceFor(host), { cause, recurrence: 'passing' }))
      let ws: WebSocketLike
      try {
        ws = new options.WebSocket(url)
      } catch (error) {
        fail('the browser refused to open the socket', error)
        return
      }
      const socket = new SessionSocket(ws, host, onFrame, options.quietMs ?? QUIET_MS)
      const giveUp = (why: string) => {
        settle()
        fail(why)
        socket.drop()
      }
      const onAbort = () => giveUp('the connecting was given up')
      const timer = setTimeout(() => giveUp(`it did not open within ${deadlineMs / 1000} s`), deadlineMs)
      const settle = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
      }
      signal?.addEventListener('abort', onAbort)
      if (signal?.aborted) onAbort()
      ws.onopen = () => {
        settle()
        socket.listen()
        resolve(socket)
      }
      // The close event follows and says more.
      ws.onerror = () => undefined
      ws.onclose = (event: { code?: number; reason?: unknown }) => {
        settle()
        fail(describeClose(event.code ?? 1006, text(event.reason)))
      }
    })
  }

  /** Whether it was closed because an answer did not come in time. */
  get late(): boolean {
    return this.overdue
  }

  /** Whether a request can still be made. */
  get usable(): boolean {
    return this.ended === null
  }

  /**
   * Sends one request and resolves with its reply; error frames are replies. Rejects with PlaygroundError('environment') when the
   * socket closes, the deadline passes (which closes the socket), the reply cannot be read, or a request is already under way.
   */
  async request(frame: Request, deadlineMs: number): Promise<Reply> {
    const { latest } = this
    const quiet = latest === null ? 0 : latest.at + this.quietMs - performance.now()
    // Any other kind of frame could not be taken for the answer.
    const alike = latest !== null && (latest.kind === 'error' || latest.kind === ANSWERS[frame.type])
    if (quiet > 0 && alike && this.ended === null && this.pending === null && !this.hushing) {
      this.hushing = true
      this.rushed = true
      await sleep(quiet)
      this.hushing = false
    }
    return this.ask(frame, deadlineMs)
  }

  /**
   * Resolves when no surplus frame has come, and none is likely to come any more; rejects with PlaygroundError('environment') when one did. A
   * socket that was merely closed has nothing against it.
   */
  async settle(): Promise<void> {
    const wait = this.rushed ? Math.min(SETTLE_MOST_MS, Math.max(SETTLE_RUSHED_MS, 2 * this.slowest)) : SETTLE_MS
    const left = this.latest === null ? 0 : this.latest.at + wait - performance.now()
    if (left > 0 && this.ended === null) await sleep(left)
    if (this.doubt !== null) throw this.doubt
  }

  private ask(frame: Request, deadlineMs: number): Promise<Reply> {
    if (this.verdict !== null) {
      const reply = this.verdict
      this.verdict = null
      return Promise.resolve(reply)
    }
    if (this.ended !== null) return Promise.reject(this.ended)
    if (this.pending !== null || this.hushing) {
      return Promise.reject(this.error(`${this.host} was asked for a ${frame.type} while it still worked on another request.`))
    }
    return new Promise((resolve, reject) => {
      const late = `${this.host} did not answer to ${frame.type} within ${deadlineMs / 1000} s, so the session was closed.`
      const timer = setTimeout(
        () => {
          this.overdue = true
          this.abort(this.error(late, 'The environment may be overloaded or stuck: look at its log.'))
        },
        deadlineMs,
      )
      this.pending = { type: frame.type, resolve, reject, timer, from: performance.now() }
      try {
        this.send(JSON.stringify(frame))
      } catch (cause) {
        this.abort(this.error(`A ${frame.type} could not be sent to ${this.host}.`, '', cause))
      }
    })
  }

  /** Says goodbye, closes, and waits (2 s at most) until the server let go. Never rejects; a request under way fails. */
  async close(): Promise<void> {
    if (this.ended === null) {
      try {
        this.send('{"type":"close"}')
      } catch {
        // Already closing.
      }
      this.abort(this.error(`The session with ${this.host} was closed.`))
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    await Promise.race([this.closed, new Promise<void>((resolve) => (timer = setTimeout(resolve, CLOSE_MS)))])
    clearTimeout(timer)
  }

  private listen(): void {
    this.ws.onmessage = (event: { data?: unknown }) => this.receive(event.data)
    this.ws.onclose = (event: { code?: number; reason?: unknown }) => {
      this.markClosed()
      const why = describeClose(event.code ?? 1006, text(event.reason))
      const early = 'It had answered nothing yet: see that it is an OpenEnv server, and look at its log.'
      const advice = event.code === 1009 ? 'Shorten the action, or choose smaller observations.' : this.proved ? 'The episode is lost; the next one opens a new session.' : early
      this.end(this.error(`The session with ${this.host} ended: ${why}.`, advice))
    }
  }

  private send(text: string): void {
    this.ws.send(text)
    this.onFrame?.('sent', text, Date.now())
  }

  private receive(data: unknown): void {
    this.onFrame?.('received', typeof data === 'string' ? data : '[binary]', Date.now())
    if (this.ended !== null) return
    const frame: ServerFrame = typeof data === 'string' ? parseServerFrame(data) : { kind: 'garbage', why: 'it is binary' }
    if (frame.kind === 'unknown') return
    if (frame.kind === 'garbage') {
      this.mistrust(
        new UnreadableReplyError(
          `${this.host} sent a frame that is not OpenEnv's: ${frame.why}.`,
          'Check that the address is an OpenEnv server of version 0.2 or newer.',
          // Damage on the way is no fault of the protocol, but it does not come in every episode again and again.
          { recurrence: 'lasting' },
        ),
      )
      return
    }
    const { pending } = this
    if (pending !== null && (frame.kind === 'error' || frame.kind === ANSWERS[pending.type])) {
      this.pending = null
      this.proved = true
      this.latest = { kind: frame.kind, at: performance.now() }
      this.slowest = Math.max(this.slowest, this.latest.at - pending.from)
      clearTimeout(pending.timer)
      pending.resolve(frame)
    } else if (pending !== null) {
      this.mistrust(this.fault(`${this.host} answered to ${pending.type} with ${withArticle(frame.kind)}.`))
    } else if (frame.kind === 'error' && ENDINGS.includes(frame.code) && !this.proved) {
      this.verdict = frame
    } else if (frame.kind === 'error') {
      // Nothing was under way, so no action of the model is to blame.
      const why = frame.message ? `: ${said(frame.message).replace(/\.$/, '')}` : ''
      const advice = 'The environment failed by itself: look at its log. The next episode opens a new session.'
      this.mistrust(this.error(`${this.host} reported ${frame.code} though nothing had been asked of it${why}.`, advice))
    } else {
      // A reply to nothing: from here on no reply could be trusted to belong to its request.
      this.mistrust(this.fault(`${this.host} sent ${withArticle(frame.kind)} that nobody had asked for.`))
    }
  }

  /** Ends the session over a frame that puts its answers in doubt. */
  private mistrust(error: PlaygroundError): void {
    this.doubt ??= error
    this.abort(error)
  }

  /** Ends the session from our side. */
  private abort(error: PlaygroundError): void {
    this.end(error)
    this.drop()
  }

  private end(error: PlaygroundError): void {
    this.ended ??= error
    const { pending } = this
    this.pending = null
    if (pending === null) return
    clearTimeout(pending.timer)
    pending.reject(error)
  }

  private drop(): void {
    try {
      this.ws.close(1000)
    } catch {
      this.markClosed()
    }
  }

  /** The server does not keep to the protocol, and would not the next time. */
  private fault(message: string): PlaygroundError {
    return new PlaygroundError('environment', message, UPDATE_SERVER, { recurrence: 'lasting' })
  }

  private error(message: string, advice = '', cause?: unknown): PlaygroundError {
    return new PlaygroundError('environment', message, advice, { cause, recurrence: 'passing' })
  }
}

function adviceFor(host: string): string {
  if (host.endsWith('.hf.space'))
    return 'The Space may be asleep, private or misspelt: open its page, wait until it says Running, and try again.'
  if (/^(localhost|127\.|\[::1\])/.test(host))
    return 'Start the server; OpenEnv servers listen on port 8000, the images built for Spaces on 7860.'
  return 'Check the address and that the server runs.'
}
