/** A file on a web server as a ByteSource: read by ranges, carried on after a broken connection, checked against its size. */

import { PlaygroundError } from '../core/errors'
import type { ByteSource } from './bytes'
import { isPassing, sleep as realSleep, stopped, waitSeconds, type Sleep } from './retry'
import { cleaned, failureOf, hubError, SIGN_IN, type HubContext, type HubFailure } from './sentences'

export interface HttpBytesOptions {
  /** The address that is asked each time anew; where it redirects to may expire. Holds no token. */
  url: string
  /** For people; the url where it is left out. */
  name?: string
  /** For the sentences of refusals. */
  context: HubContext | (() => HubContext)
  /** Adds what the server needs (a token); the page's fetch unless given. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Ends reads with PlaygroundError('stopped'). */
  signal?: AbortSignal
  /** Bytes that have been read since the last call. */
  onProgress?: (bytes: number) => void
  /** The connection failed and is tried again after a wait; `tries` failures in a row. */
  onRetry?: (notice: { seconds: number; tries: number; reason: string }) => void
  /** Failures in a row, without a byte between them, after which it gives up. */
  maxTries?: number
  /** A connection that delivers nothing for so long is given up. Milliseconds. */
  stallMs?: number
  /** Tests bring their own clock and dice. */
  sleep?: Sleep
  random?: () => number
}

const MAX_TRIES = 8
const STALL_MS = 30_000

/** A failure that another request may cure. */
class Passing extends Error {
  constructor(readonly failure: HubFailure) {
    super(failure.kind)
  }
}

export class HttpBytes implements ByteSource {
  readonly name: string

  /** @param size of the whole file in bytes, known e.g. from a file listing; else use HttpBytes.open */
  constructor(
    readonly size: number,
    private readonly options: HttpBytesOptions,
  ) {
    this.name = options.name ?? cleaned(options.url)
  }

  /**
   * Asks the server for the size with `Range: bytes=0-0`.
   * @throws PlaygroundError as `read` does, and 'model' when the server does not say the size
   */
  static async open(options: HttpBytesOptions): Promise<HttpBytes> {
    const probe = new HttpBytes(1, options)
    let size: number | null = null
    await probe.retrying(async (signal) => {
      const response = await probe.request('bytes=0-0', signal)
      probe.refusePage(response)
      // An empty file has no first byte: 416 and 'bytes */0'.
      const total = /\/(\d+)$/.exec(response.headers.get('Content-Range') ?? '')?.[1]
      const length = response.headers.has('Content-Encoding') ? null : response.headers.get('Content-Length')
      if (response.status !== 200 && total !== undefined) size = Number(total)
      else if (response.status === 200 && length !== null) size = Number(length)
      return true
    })
    if (size === null) throw new PlaygroundError('model', `The server does not say how large ${probe.name} is.`, 'Load it from a server that answers ranges.')
    return new HttpBytes(size, options)
  }

  /**
   * Bytes [begin, end) in order. After a broken connection, a short body, 5xx or 429 it goes on at the last byte.
   * @throws PlaygroundError 'stopped' on the signal; 'model' on a refusal, a changed size, a web page, or when tries are used up
   */
  async *read(begin: number, end: number): AsyncGenerator<Uint8Array> {
    if (begin < 0 || end > this.size || begin > end) {
      throw new PlaygroundError('model', `${this.name} has ${this.size} bytes; bytes ${begin} to ${end} were asked for.`, 'Check that the files of the model belong together.')
    }
    const progress = { at: begin, tries: 0 }
    while (progress.at < end) {
      try {
        yield* this.connection(progress, end)
      } catch (error) {
        await this.wait(error, ++progress.tries)
      }
    }
  }

  /** One connection: yields from `progress.at` on, moving it. Throws Passing when it ended before `end`. */
  private async *connection(progress: { at: number; tries: number }, end: number): AsyncGenerator<Uint8Array> {
    const link = this.link()
    try {
      const from = progress.at
      const response = await link.watched(this.request(end < this.size ? `bytes=${from}-${end - 1}` : `bytes=${from}-`, link.signal))
      // A server that ignores ranges sends the file from its start.
      let skip = this.checkAnswer(response, from)
      const reader = response.body?.getReader()
      while (progress.at < end) {
        const { done, value } = (await (reader && link.watched(reader.read()))) ?? { done: true, value: undefined }
        if (done) throw this.broken(`it ended at byte ${progress.at} of ${this.size}`)
        const begin = Math.min(skip, value.length)
        skip -= begin
        const chunk = cut(value, begin, Math.min(value.length, begin + end - progress.at))
        if (chunk.length === 0) continue
        progress.at += chunk.length
        progress.tries = 0
        this.options.onProgress?.(chunk.length)
        yield chunk
        if (this.options.signal?.aborted) throw stopped(this.name)
      }
    } finally {
      link.close()
    }
  }

  /** Sends one request; resolves with 200 or 206 (416 too for the size probe). */
  private async request(range: string, signal: AbortSignal): Promise<Response> {
    const { url, fetch: load = (input, init) => fetch(input, init) } = this.options
    let response: Response
    try {
      // Firefox would try to keep a gigabyte in its HTTP cache.
      response = await load(url, { headers: { Range: range }, cache: 'no-store', signal })
    } catch (cause) {
      if (cause instanceof PlaygroundError) throw cause
      throw new Passing({ kind: 'network', cause, url })
    }
    if (response.ok || (response.status === 416 && range === 'bytes=0-0')) return response
    const failure = failureOf(response)
    await response.body?.cancel().catch(() => undefined)
    if (response.status === 416) throw this.changed(/\*\/(\d+)/.exec(response.headers.get('Content-Range') ?? '')?.[1])
    // The signed address that the redirect gave may have expired on the way.
    const expired = response.status === 403 && response.redirected && new URL(response.url).origin !== new URL(url).origin
    if (expired || isPassing(response.status)) throw new Passing(failure)
    throw hubError(failure, this.context())
  }

  /** Checks status and Content-Range against what was asked; returns how many bytes to skip. */
  private checkAnswer(response: Response, from: number): number {
    const { headers } = response
    this.refusePage(response)
    if (response.status === 200) {
      const length = headers.has('Content-Encoding') ? null : headers.get('Content-Length')
      // A body that is too short is noticed at its end; one that is too long belongs to another file.
      if (length !== null && Number(length) > this.size) throw this.changed(length)
      return from
    }
    const range = headers.get('Content-Range')
    const match = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(range ?? '')
    if (!match) throw this.broken(range === null ? 'the server did not say which bytes it sent' : `the server sent the range '${range}'`)
    if (match[3] !== '*' && Number(match[3]) !== this.size) throw this.changed(match[3])
    if (Number(match[1]) !== from) throw this.broken(`byte ${from} was asked for and byte ${match[1]} came`)
    return 0
  }

  private refusePage(response: Response): void {
    if (!response.headers.get('Content-Type')?.startsWith('text/html') || this.options.url.endsWith('.html')) return
    throw new PlaygroundError('model', `Instead of ${this.name} came a web page.`, SIGN_IN)
  }

  /** Repeats `once` until it returns true, waiting between failures that may pass. */
  private async retrying(once: (signal: AbortSignal) => Promise<boolean>): Promise<void> {
    for (let tries = 1; ; tries++) {
      const link = this.link()
      try {
        if (await link.watched(once(link.signal))) return
      } catch (error) {
        await this.wait(error, tries)
      } finally {
        link.close()
      }
    }
  }

  /** Waits where `error` may pass and tries are left; else throws what a person should read. */
  private async wait(error: unknown, tries: number): Promise<void> {
    const { signal, maxTries = MAX_TRIES, sleep = realSleep, random = Math.random } = this.options
    if (signal?.aborted) throw stopped(this.name)
    if (!(error instanceof Passing)) throw error
    if (tries >= maxTries) throw hubError(error.failure, { ...this.context(), tries })
    const seconds = waitSeconds(error.failure, tries, random())
    const { failure } = error
    const reason = failure.kind === 'broken' ? failure.what : failure.kind === 'status' ? `the server answered ${failure.status}` : 'no connection'
    this.options.onRetry?.({ seconds, tries, reason })
    await sleep(seconds * 1000, signal)
    if (signal?.aborted) throw stopped(this.name)
  }

  /** One connection's signal: aborted with the reader's, by close(), or when `watched` waits too long. */
  private link() {
    const { signal, stallMs = STALL_MS } = this.options
    if (signal?.aborted) throw stopped(this.name)
    const controller = new AbortController()
    const stop = () => controller.abort()
    signal?.addEventListener('abort', stop)
    /** Only waiting for the server counts: a reader that is busy with what came is no stall. */
    const watched = async <T>(promise: Promise<T>): Promise<T> => {
      let timer: ReturnType<typeof setTimeout> | undefined
      let giveUp: (() => void) | undefined
      const end = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(this.broken(`nothing came for ${stallMs / 1000} s`)), stallMs)
        giveUp = () => reject(stopped(this.name))
        signal?.addEventListener('abort', giveUp)
      })
      try {
        return await Promise.race([promise, end])
      } catch (error) {
        if (signal?.aborted) throw stopped(this.name)
        if (error instanceof Passing || error instanceof PlaygroundError) throw error
        throw this.broken(error instanceof Error ? error.message : String(error))
      } finally {
        clearTimeout(timer)
        if (giveUp) signal?.removeEventListener('abort', giveUp)
      }
    }
    const close = () => {
      signal?.removeEventListener('abort', stop)
      controller.abort()
    }
    return { signal: controller.signal, watched, close }
  }

  private broken(what: string): Passing {
    return new Passing({ kind: 'broken', what, url: this.options.url })
  }

  private changed(size: string | undefined): PlaygroundError {
    const message = `${this.name} should have ${this.size} bytes, but the server has ${size ?? 'fewer'}.`
    return new PlaygroundError('model', message, this.context().what === 'dataset' ? 'Read it again.' : 'Delete the stored model and load it again.')
  }

  private context(): HubContext {
    const { context } = this.options
    return typeof context === 'function' ? context() : context
  }
}

/** Bytes [begin, end) of a chunk: the chunk itself where it is all of it, else a copy, so that nothing keeps the rest. */
function cut(chunk: Uint8Array, begin: number, end: number): Uint8Array {
  return begin === 0 && end === chunk.length ? chunk : chunk.slice(begin, end)
}
