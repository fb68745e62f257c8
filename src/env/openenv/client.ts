/** An OpenEnv server as an Environment: discovers it, keeps to its capacity, opens one session an episode. */

import { shownTools, type DiscoveredEnvironment } from '../../core/discovered'
import type { Environment, EnvironmentSession } from '../../core/environment'
import { PlaygroundError } from '../../core/errors'
import { sleep } from '../../core/sleep'
import type { Tool } from '../../core/tools'
import { discover, HELLO } from './discovery'
import { sumUp } from './rewards'
import { OpenEnvSession } from './session'
import { defaultWebSocket, QUIET_MS, SessionSocket, type FrameObserver, type Reply, type WebSocketConstructor } from './socket'
import { locate, type Place } from './spaces'
import { firstContact, Unreached } from './unreached'
import { parseServerUrl, type ServerAddress } from './url'

export interface Deadlines {
  /** Handshake of a socket. */
  openMs: number
  /** Each question of discovery. The first answer of a session, which the server builds for it, may take as long as a reset. */
  helloMs: number
  resetMs: number
  /** Between an answer and the next question to the same session, in which a surplus answer shows itself. */
  quietMs: number
  stepMs: number
  /** How long `open` and `connect` wait for a free session before they give up. */
  capacityMs: number
  /** First pause before a full server is asked again; doubles up to 30 s. */
  backoffMs: number
}

export const DEFAULT_DEADLINES: Deadlines = {
  openMs: 15_000,
  helloMs: 8000,
  resetMs: 60_000,
  quietMs: QUIET_MS,
  stepMs: 60_000,
  capacityMs: 120_000,
  backoffMs: 500,
}

export interface OpenEnvOptions {
  /** Needed where the runtime has no WebSocket (Node 20: the `ws` package). */
  WebSocket?: WebSocketConstructor
  fetch?: typeof fetch
  /** location.protocol where there is a page. */
  pageProtocol?: string
  deadlines?: Partial<Deadlines>
  /** Endpoint of the Hub, which knows where Spaces are; the Hub itself when undefined. */
  hub?: string
  /** The person's Hub token, for private Spaces; null for none. */
  token?: () => string | null
  /** What connecting waits for, one sentence at a time: a Space that is woken, a Hub that asks for patience. */
  onDetail?: (detail: string) => void
  /** The same after connecting, in the middle of a run; null when it waits no more. */
  onAway?: (text: string | null) => void
  /** Between two looks at a Space: resolves after so many ms. */
  sleep?: (ms: number) => Promise<void>
  /** Uniform in [0, 1), for jitter only. */
  random?: () => number
  /** Sees every frame of every session. */
  onFrame?: FrameObserver
}

/** Sessions at once until the server says otherwise. */
const FIRST_MAX_SESSIONS = 16
const MAX_BACKOFF_MS = 30_000
/** Answers to the hello that mean: there is no session. */
const NO_SESSION = ['CAPACITY_REACHED', 'FACTORY_ERROR', 'SESSION_ERROR']

interface Opened {
  socket: SessionSocket
  hello: Reply
}

/** Raised inside when the server is full, or overwhelmed by sessions that are opened at once; `max` is what it said. */
class Full extends Error {
  constructor(
    message: string,
    readonly max: number | null,
    readonly late = false,
  ) {
    super(message)
  }
}

export class OpenEnvEnvironment implements Environment {
  onCrowded: (() => void) | undefined
  private readonly address: ServerAddress
  private readonly deadlines: Deadlines
  private readonly sessions = new Set<SessionSocket>()
  private found: DiscoveredEnvironment | null = null
  private place: Place | null = null
  /** Ends the waiting for a Space. */
  private leave = new AbortController()
  /** A Space that went away is looked for again by one session for all. */
  private search: Promise<Place> | null = null
  private limit = FIRST_MAX_SESSIONS
  /** Sessions that are open, being opened or being closed. */
  private taken = 0
  private opening = 0
  /** Most sessions to open at once: halved when a server did not answer in time, one more with each that it did answer. */
  private atOnce = Infinity
  /** Most sessions that the server has confirmed at once: twice as many are asked for next, so that few are refused by a small server. */
  private proven = 0
  private waiters: (() => void)[] = []
  private closed = false

  /** Throws PlaygroundError('config') when `url` cannot be a server (see parseServerUrl). */
  constructor(
    url: string,
    private readonly options: OpenEnvOptions = {},
  ) {
    this.address = parseServerUrl(url, options.pageProtocol ?? globalThis.location?.protocol)
    this.deadlines = { ...DEFAULT_DEADLINES, ...options.deadlines }
  }

  get name(): string {
    return this.address.spaceId ?? this.address.host
  }

  get tools(): readonly Tool[] {
    return this.found === null ? [] : shownTools(this.found)
  }

  get discovered(): DiscoveredEnvironment | null {
    return this.found
  }

  get maxSessions(): number {
    return this.limit
  }

  get prompts(): { system: string; user: string } {
    return this.found?.prompts ?? { system: '', user: '' }
  }

  /** Discovers tools. Throws PlaygroundError('environment') when the server cannot be reached, is full or is not understood. */
  async connect(): Promise<void> {
    this.closed = false
    this.leave = new AbortController()
    const { signal } = this.leave
    const { onDetail = () => undefined, sleep: wait = (ms: number) => sleep(ms, signal) } = this.options
    const place = await this.locate(onDetail)
    const pageProtocol = this.options.pageProtocol ?? globalThis.location?.protocol
    const contact = { pageProtocol, loopback: this.address.loopback, sleep: wait, signal, onDetail }
    const { socket, hello } = await firstContact(() => this.acquire(), place, contact)
    try {
      this.found = await discover(hello, socket, {
        host: place.host,
        http: place.http,
        spaceId: this.address.spaceId,
        fetch: place.fetch,
        deadlineMs: this.deadlines.helloMs,
        signal,
      })
    } finally {
      await socket.close()
      this.release(socket)
    }
    // Given up in the last moment.
    if (signal.aborted) throw this.closedError()
  }

  /** A fresh session on a socket of its own. Waits politely while the server is full; rejects after `capacityMs`. */
  async open(): Promise<EnvironmentSession> {
    const { found } = this
    if (found === null) throw new PlaygroundError('environment', `${this.name} is not connected yet.`, 'Connect first.')
    const { socket } = await this.acquire().catch((error: unknown) => this.findAgain(error))
    const { resetMs } = this.deadlines
    const stepMs = this.options.deadlines?.stepMs ?? Math.max(this.deadlines.stepMs, (found.stepSeconds ?? 0) * 1000)
    return new OpenEnvSession(socket, { host: this.address.host, found, resetMs, stepMs, onClosed: () => this.release(socket) })
  }

  /**
   * By the environment's rule, the sum of the rewards that were given or the last one; null when none was, which is not 0. (An episode
   * without one accepted call is the policy's doing; the rollout scores it 0.)
   */
  episodeReward(rewards: readonly (number | null)[]): number | null {
    return sumUp(this.found?.reward ?? { take: 'sum', successAt: 1 }, rewards)
  }

  isSuccess(reward: number): boolean {
    return reward >= (this.found?.reward.successAt ?? 1)
  }

  /** Closes every session; whoever waits for one is refused. */
  async close(): Promise<void> {
    this.closed = true
    this.leave.abort()
    this.wake()
    await Promise.all([...this.sessions].map((socket) => socket.close()))
  }

  private async locate(onDetail: (detail: string) => void): Promise<Place> {
    const { signal } = this.leave
    const { hub, token = () => null, random, sleep } = this.options
    const fetch: typeof globalThis.fetch = this.options.fetch ?? ((...args) => globalThis.fetch(...args))
    const place = await locate(this.address, {
      fetch,
      token,
      signal,
      onDetail,
      ...(hub === undefined ? {} : { hub }),
      ...(random ? { random } : {}),
      ...(sleep ? { sleep } : {}),
    })
    if (signal.aborted) throw this.closedError()
    return (this.place = place)
  }

  /** A session after a failed one: a Space may have fallen asleep, or moved, during a run. Rejects with `error` for any other reason. */
  private async findAgain(error: unknown): Promise<Opened> {
    const isSpace = this.address.spaceId !== null || this.address.host.endsWith('.hf.space')
    if (!isSpace || this.closed || !(error instanceof Unreached)) throw error
    this.search ??= this.locate((detail) => this.options.onAway?.(detail)).finally(() => {
      this.search = null
      this.options.onAway?.(null)
    })
    await this.search
    return this.acquire()
  }

  /** A socket whose session the server has confirmed, within its capacity. */
  private async acquire(): Promise<Opened> {
    const { capacityMs, backoffMs } = this.deadlines
    const random = this.options.random ?? Math.random
    let until = Date.now() + capacityMs
    let said = `all ${this.limit} sessions are in use`
    for (let attempt = 0; ;) {
      if (this.closed) throw this.closedError()
      const room = this.taken < this.limit
      if (room && this.taken < Math.max(1, 2 * this.proven) && this.opening < this.atOnce) {
        this.taken++
        this.opening++
        const from = Date.now()
        let outcome: Opened | Full | null = null
        try {
          outcome = await this.tryOpen()
        } finally {
          this.opening--
          if (outcome === null || outcome instanceof Full) this.taken--
          else this.proven = Math.max(this.proven, this.taken - this.opening)
          if (outcome !== null && !(outcome instanceof Full)) this.atOnce++
          if (!(outcome instanceof Full)) this.wake()
        }
        if (!(outcome instanceof Full)) return outcome
        // The time that the server took is not time that it was full.
        if (outcome.late) until += Date.now() - from
        said = outcome.message.replace(/\.$/, '')
        if (outcome.max !== null) this.limit = Math.max(1, Math.min(this.limit, outcome.max))
        attempt++
      }
      // Whoever only waits until the sessions before it are confirmed crowds nobody out.
      if (!room || attempt > 0) this.onCrowded?.()
      const left = until - Date.now()
      if (left <= 0) {
        throw new PlaygroundError(
          'environment',
          `${this.name} stayed full for ${capacityMs / 1000} s: ${said}.`,
          'Run fewer sessions, wait for others to finish, restart the server, or duplicate the Space.',
        )
      }
      const pause = Math.min(left, Math.min(backoffMs * 2 ** Math.max(0, attempt - 1), MAX_BACKOFF_MS) * (0.5 + random()))
      // Where sessions of our own are open, the episodes that have them say what is going on.
      const alone = attempt > 0 && this.taken === 0
      if (alone) this.tellFull(pause)
      await this.pause(pause)
      if (alone) this.tellFull(null)
    }
  }

  /** Others have all sessions of the server: says so until `ms` have passed, null ends it. */
  private tellFull(ms: number | null): void {
    const text = ms === null ? null : `${this.name} has no free session, others have them all · asked again in ${Math.max(1, Math.round(ms / 1000))} s`
    if (this.found !== null) this.options.onAway?.(text)
    else if (text !== null) this.options.onDetail?.(text)
  }

  /** One try; leaves nothing open unless it succeeds. Throws what is not a matter of capacity. */
  private async tryOpen(): Promise<Opened | Full> {
    const { host } = this.place ?? this.address
    const WebSocket = this.options.WebSocket ?? defaultWebSocket()
    const ws = (await this.place?.socketUrl()) ?? this.address.ws
    const { openMs: deadlineMs, quietMs } = this.deadlines
    const { onFrame } = this.options
    const socket = await SessionSocket.open(ws, { WebSocket, host, deadlineMs, quietMs, onFrame, signal: this.leave.signal }).catch((error: unknown) => {
      throw error instanceof PlaygroundError ? new Unreached(error) : error
    })
    this.sessions.add(socket)
    const before = this.opening
    try {
      const hello = await this.told(socket.request(HELLO, Math.max(this.deadlines.helloMs, this.deadlines.resetMs)))
      if (this.closed) throw this.closedError()
      // Any other error is the answer of a server without MCP: its session is proved all the same.
      if (hello.kind !== 'error' || !NO_SESSION.includes(hello.code)) return { socket, hello }
      if (hello.code === 'CAPACITY_REACHED') throw new Full(hello.message || 'the server is at capacity', hello.maxSessions)
      throw new PlaygroundError(
        'environment',
        `${host} could not build its environment: ${(hello.message || hello.code).replace(/\.$/, '')}.`,
        'Look at the log of the server.',
      )
    } catch (error) {
      this.sessions.delete(socket)
      await socket.close()
      if (error instanceof Full) return error
      // Alone, it is no matter of how many. (Those opened together may be given up one by one.)
      const together = Math.max(before, this.opening)
      if (!socket.late || together <= 1 || this.closed) throw error
      this.atOnce = Math.max(1, Math.floor(Math.min(this.atOnce, together) / 2))
      return new Full(`it did not build ${together} sessions at once in time`, null, true)
    }
  }

  /** While connecting, says after a while what is waited for. */
  private async told(hello: Promise<Reply>): Promise<Reply> {
    if (this.found !== null) return hello
    const text = `${this.name} has taken the connection and builds a session, for ${Math.round(this.deadlines.resetMs / 1000)} s at most`
    const timer = setTimeout(() => this.options.onDetail?.(text), this.deadlines.helloMs)
    return hello.finally(() => clearTimeout(timer))
  }

  private closedError(): PlaygroundError {
    return new PlaygroundError('environment', `${this.name} was closed.`, 'Connect again.')
  }

  private release(socket: SessionSocket): void {
    if (!this.sessions.delete(socket)) return
    this.taken--
    this.wake()
  }

  private wake(): void {
    const { waiters } = this
    this.waiters = []
    for (const waiter of waiters) waiter()
  }

  /** Sleeps, but not past the moment at which one of our own sessions ends. */
  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        this.waiters = this.waiters.filter((waiter) => waiter !== done)
        resolve()
      }, ms)
      this.waiters.push(done)
    })
  }
}
