/** The requests of publishing beside the upload itself: repeated where that may help, with pauses that are told. */

import { PlaygroundError } from '../core/errors'
import { checkToken } from './check-token'
import { publishStopped, refusal } from './publish-errors'
import { isPassing, sleep as realSleep, waitSeconds, type Sleep } from './retry'
import { failureOf, type HubFailure } from './sentences'

export type PublishProgress =
  | { stage: 'preparing' | 'checking' | 'committing' | 'verifying' }
  /** Bytes of all files. They go back where an upload begins again. */
  | { stage: 'uploading'; done: number; total: number }
  /** The Hub asked to wait, or the connection broke: seconds until the next try, and why. */
  | { stage: 'waiting'; seconds: number; reason: string }

export interface ConnectionOptions {
  /** The Hub itself where it is left out. */
  endpoint?: string
  /** Asked before each request, so that a new token counts at the next try. */
  token: () => string | null
  signal?: AbortSignal
  onProgress?: (progress: PublishProgress) => void
  /** For what is asked beside the upload itself, which takes the page's own. */
  fetch?: typeof fetch
  sleep?: Sleep
  /** In [0, 1). */
  random?: () => number
  /** Tries of each request, and of the upload as a whole. */
  maxTries?: number
  /** How long nothing may come, milliseconds. */
  stallMs?: number
}

/** A failure of the way to the Hub that no further try was spent on. */
export class PublishFailure extends Error {
  constructor(
    readonly failure: HubFailure,
    readonly tries = 1,
  ) {
    super('publishing failed')
  }

  /** Of an answer; null where none came. */
  get status(): number | null {
    return this.failure.kind === 'status' ? this.failure.status : null
  }
}

/** What every function of @huggingface/hub takes. */
export interface Shared {
  hubUrl: string
  fetch: typeof fetch
  accessToken: string
}

const HUB = 'https://huggingface.co'
const TRIES = 5
const STALL_MS = 120_000

export class PublishConnection {
  readonly endpoint: string
  readonly signal: AbortSignal
  readonly maxTries: number
  readonly stallMs: number

  constructor(
    private readonly options: ConnectionOptions,
    /** owner/name, for sentences. */
    private readonly name: string,
  ) {
    this.endpoint = (options.endpoint ?? HUB).replace(/\/+$/, '')
    this.signal = options.signal ?? new AbortController().signal
    this.maxTries = options.maxTries ?? TRIES
    this.stallMs = options.stallMs ?? STALL_MS
  }

  /**
   * Asks by a function of the library, again where that may help.
   * @throws PublishFailure for the last failure, PlaygroundError 'stopped', 'config' for what is no token
   */
  async ask<T>(work: (shared: Shared) => Promise<T>, alsoPassing: (failure: HubFailure) => boolean = () => false): Promise<T> {
    for (let tries = 1; ; tries++) {
      this.assertGoing()
      let seen: HubFailure | null = null
      const load: typeof fetch = async (input, init) => {
        const limit = AbortSignal.any([this.signal, AbortSignal.timeout(this.stallMs)])
        const response = await (this.options.fetch ?? fetch)(input, { ...init, cache: 'no-store', signal: limit })
        if (!response.ok) seen = failureOf(response)
        return response
      }
      try {
        return await work({ hubUrl: this.endpoint, fetch: load, accessToken: this.token() })
      } catch (error) {
        if (error instanceof PlaygroundError) throw error
        this.assertGoing()
        const failure = withHeaders(failureFrom(error, this.endpoint), seen)
        const passing = failure.kind !== 'status' || isPassing(failure.status) || alsoPassing(failure)
        if (!passing || tries >= this.maxTries) throw new PublishFailure(failure, tries)
        await this.wait(failure, tries)
      }
    }
  }

  /** The pause after failure number `tries` in a row. Throws PlaygroundError 'stopped' when it is cut short. */
  async wait(failure: HubFailure, tries: number): Promise<void> {
    const { sleep = realSleep, random = Math.random } = this.options
    const seconds = waitSeconds(failure, tries, random())
    this.tell({ stage: 'waiting', seconds, reason: reasonOf(failure) })
    await sleep(seconds * 1000, this.signal)
    this.assertGoing()
  }

  /** @throws PlaygroundError('config') where there is none, or none of the Hub */
  token(): string {
    const token = checkToken(this.options.token())
    if (token !== null) return token
    throw refusal('lasting', 'Nobody is signed in to the Hub.', 'Sign in, or paste a token with write access, and publish again.')
  }

  tell(progress: PublishProgress): void {
    this.options.onProgress?.(progress)
  }

  private assertGoing(): void {
    if (this.signal.aborted) throw publishStopped(this.name, false)
  }
}

/** What an error that the library threw says. Its own text holds signed addresses and is not used. */
export function failureFrom(error: unknown, endpoint: string): HubFailure {
  if (error instanceof PublishFailure) return error.failure
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number') {
    const { data, url } = error as { data?: unknown; url?: unknown }
    const fields = typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {}
    const said = fields.error ?? fields.message
    const message = typeof said === 'string' && !said.trimStart().startsWith('<') ? said : null
    return { kind: 'status', status: error.statusCode, code: null, message, url: typeof url === 'string' ? url : endpoint, retryAfter: null }
  }
  const unreadable = error instanceof SyntaxError || (error instanceof Error && ['ZodError', 'InvalidApiResponseFormatError'].includes(error.name))
  if (unreadable) return { kind: 'broken', what: 'its answer is not one that the Hub gives', url: endpoint }
  return { kind: 'network', cause: error, url: endpoint }
}

/** The library keeps the status and the text of an answer, not its Retry-After. */
function withHeaders(failure: HubFailure, seen: HubFailure | null): HubFailure {
  if (failure.kind !== 'status' || seen?.kind !== 'status' || seen.status !== failure.status) return failure
  return { ...failure, code: seen.code, message: failure.message ?? seen.message, retryAfter: seen.retryAfter }
}

function reasonOf(failure: HubFailure): string {
  if (failure.kind !== 'status') return failure.kind === 'broken' ? failure.what : 'the connection broke'
  if (failure.status === 429) return 'the Hub asks to wait (429)'
  if (failure.status === 409 || failure.status === 412) return `the repository is being changed (${failure.status})`
  return `the Hub answered ${failure.status}`
}
