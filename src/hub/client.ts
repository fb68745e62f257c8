/** Reads models from the Hugging Face Hub: which commit, which files, their contents. The token goes to the Hub's own origin only. */

import { z } from 'zod/mini'
import { PlaygroundError } from '../core/errors'
import { checkToken } from './check-token'
import { readAll } from './bytes'
import { HttpBytes, type HttpBytesOptions } from './http-bytes'
import { isRepoId } from './model-reference'
import { isPassing, sleep as realSleep, stopped, waitSeconds } from './retry'
import { failureOf, hubError, missingFile, SIGN_IN, type HubContext, type HubFailure } from './sentences'

export interface HubFileEntry {
  path: string
  /** Bytes. */
  size: number
  /** Hex; null for small files outside LFS, of which the Hub keeps no sha256. */
  sha256: string | null
}

/** A repository at one commit. */
export interface HubRepo {
  repo: string
  /** As it was asked for. */
  revision: string
  /** The commit that it was at; everything is read at this one. */
  sha: string
  private: boolean
  gated: false | 'auto' | 'manual'
  files: HubFileEntry[]
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface HubClientOptions {
  endpoint?: string
  /** Asked before each request; null for none. */
  token?: () => string | null
  /** The page's fetch unless a test brings its own. */
  fetch?: Fetch
  /** Tries of a request for the description or the file list. */
  maxTries?: number
  sleep?: HttpBytesOptions['sleep']
  random?: () => number
  /** For descriptions and file lists as for files: how long nothing may come. Milliseconds. */
  stallMs?: number
}

/** Of one file's reading. */
export type OpenOptions = Pick<HttpBytesOptions, 'signal' | 'onProgress' | 'onRetry' | 'maxTries'>

const HUB = 'https://huggingface.co'
const TRIES = 4
const TIMEOUT_MS = 30_000

const information = z.object({ sha: z.string().check(z.regex(/^[0-9a-f]{40}$/)), private: z.boolean(), gated: z.union([z.literal(false), z.enum(['auto', 'manual'])]) })
const treeFile = z.object({
  path: z.string().check(z.minLength(1)),
  size: z.int().check(z.nonnegative()),
  lfs: z.optional(z.object({ oid: z.string().check(z.regex(/^[0-9a-f]{64}$/)) })),
})

export class HubClient {
  readonly endpoint: string

  constructor(private readonly options: HubClientOptions = {}) {
    this.endpoint = (options.endpoint ?? HUB).replace(/\/+$/, '')
  }

  /**
   * Finds the commit of a revision and lists its files.
   * @throws PlaygroundError 'config' for a bad token, 'stopped' after an abort, else 'model': hubError's sentences
   */
  async repo(repo: string, revision = 'main', { signal, what }: { signal?: AbortSignal; what?: HubContext['what'] } = {}): Promise<HubRepo> {
    if (!isRepoId(repo)) throw new PlaygroundError('model', `'${repo}' is no id of a model on the Hub.`, 'Write owner/name, for example Qwen/Qwen3-0.6B.')
    this.token()
    const context = { ...this.context(repo, revision), what }
    const { modelInfo, listFiles } = await import('@huggingface/hub')
    const load = (input: string | URL | Request, init: RequestInit = {}) => this.request(urlOf(input), { ...init, signal }, context)
    const shared = { hubUrl: this.endpoint, fetch: load }
    try {
      const info = information.parse(await modelInfo({ ...shared, name: repo, revision, additionalFields: ['sha'] }))
      const files: HubFileEntry[] = []
      for await (const entry of listFiles({ ...shared, repo: { type: 'model', name: repo }, revision: info.sha, recursive: true })) {
        if (entry.type !== 'file') continue
        const { path, size, lfs } = treeFile.parse(entry)
        files.push({ path, size, sha256: lfs?.oid ?? null })
      }
      return { repo, revision, ...info, files }
    } catch (cause) {
      if (cause instanceof PlaygroundError) throw cause
      if (signal?.aborted) throw stopped(repo)
      const url = `${this.endpoint}/api/models/${repo}`
      if (!(cause instanceof SyntaxError || cause instanceof z.core.$ZodError)) throw hubError({ kind: 'network', cause, url }, context)
      throw new PlaygroundError('model', `The answer about ${repo} is not one that the Hub gives.`, SIGN_IN, { cause })
    }
  }

  /**
   * A file of the repository at its commit, to be read by ranges.
   * @throws PlaygroundError('model') at once when the repository has no such file
   */
  open(repo: HubRepo, path: string, options: OpenOptions = {}): HttpBytes {
    const entry = repo.files.find((file) => file.path === path)
    if (!entry) throw missingFile(repo.repo, repo.revision, path)
    const { sleep, random, stallMs } = this.options
    return new HttpBytes(entry.size, {
      ...options,
      sleep,
      random,
      stallMs,
      url: `${this.endpoint}/${repo.repo}/resolve/${repo.sha}/${path.split('/').map(encodeURIComponent).join('/')}`,
      name: `${repo.repo}/${path}`,
      context: () => ({ ...this.context(repo.repo, repo.revision), path }),
      fetch: (url, init) => this.send(url, init),
    })
  }

  /**
   * A small file as a whole; its size is checked, and its hash where the Hub keeps one.
   * @throws PlaygroundError as HttpBytes.read does; 'memory' where it does not fit
   */
  async bytesOf(repo: HubRepo, path: string, options: OpenOptions = {}): Promise<Uint8Array> {
    const source = this.open(repo, path, options)
    const bytes = await readAll(source).catch((cause: unknown) => {
      if (!(cause instanceof RangeError)) throw cause
      const message = `The browser refused ${(source.size / 1e6).toFixed(0)} MB for ${source.name}.`
      throw new PlaygroundError('memory', message, 'Close other tabs or take a smaller model.', { cause })
    })
    const expected = repo.files.find((file) => file.path === path)?.sha256 ?? null
    if (expected !== null) {
      const { sha256 } = await import('hash-wasm')
      const actual = await sha256(bytes)
      if (actual !== expected) {
        throw new PlaygroundError('model', `${source.name} arrived damaged: its sha256 is ${actual.slice(0, 12)}…, the Hub's is ${expected.slice(0, 12)}….`, 'Load it again.')
      }
    }
    return bytes
  }

  /** A small file as text. Throws as bytesOf does. */
  async text(repo: HubRepo, path: string, options: OpenOptions = {}): Promise<string> {
    return new TextDecoder().decode(await this.bytesOf(repo, path, options))
  }

  /** A small JSON file, parsed and otherwise unchecked. Throws as bytesOf does, and 'model' when it is not JSON. */
  async json(repo: HubRepo, path: string, options: OpenOptions = {}): Promise<unknown> {
    const text = await this.text(repo, path, options)
    const what = `${path} of ${repo.repo}`
    if (text.trimStart().startsWith('<')) throw new PlaygroundError('model', `${what} is a web page, not JSON.`, 'Choose another model, or tell its owner.')
    try {
      return JSON.parse(text) as unknown
    } catch (cause) {
      throw new PlaygroundError('model', `${what} is not JSON.`, 'Choose another revision or model, or tell its owner.', { cause })
    }
  }

  /**
   * Asks the Hub's API, again where that may help.
   * @param path with its slash, encoded
   * @param accepts a refusing status that is an answer, too; none unless said
   * @throws PlaygroundError 'config' for a bad token, 'stopped' after an abort, else 'model': hubError's sentences
   */
  async ask(path: string, context: Omit<HubContext, 'hasToken' | 'tries'>, signal?: AbortSignal, accepts?: (status: number) => boolean): Promise<Response> {
    return this.request(`${this.endpoint}${path}`, { signal }, { ...context, hasToken: this.token() !== null }, accepts)
  }

  /** A file at an address that the Hub gave, read by ranges; its size is asked for. Throws as HttpBytes.open does. */
  openAt(url: string, name: string, context: Omit<HubContext, 'hasToken' | 'tries'>, options: OpenOptions = {}): Promise<HttpBytes> {
    const { sleep, random, stallMs } = this.options
    const held = () => ({ ...context, hasToken: this.token() !== null })
    return HttpBytes.open({ ...options, sleep, random, stallMs, url, name, context: held, fetch: (address, init) => this.send(address, init) })
  }

  private token(): string | null {
    return checkToken(this.options.token?.() ?? null)
  }

  private context(repo: string, revision: string): HubContext {
    return { repo, revision, hasToken: this.token() !== null }
  }

  /** One request. The token is added only for the Hub's own origin, and fetch drops it on a redirect to another. */
  private send(url: string, init: RequestInit): Promise<Response> {
    const token = this.token()
    const headers = new Headers(init.headers)
    if (token !== null && new URL(url).origin === new URL(this.endpoint).origin) headers.set('Authorization', `Bearer ${token}`)
    const load: Fetch = this.options.fetch ?? ((input, more) => fetch(input, more))
    return load(url, { ...init, headers })
  }

  /** A request for the API, repeated where that may help; only good answers come back, and those that `accepts` takes. */
  private async request(url: string, { signal, ...init }: RequestInit, context: HubContext, accepts?: (status: number) => boolean): Promise<Response> {
    const { maxTries = TRIES, sleep = realSleep, random = Math.random, stallMs = TIMEOUT_MS } = this.options
    for (let tries = 1; ; tries++) {
      if (signal?.aborted) throw stopped(context.repo)
      const limit = AbortSignal.any([AbortSignal.timeout(stallMs), ...(signal ? [signal] : [])])
      const failure = await this.send(url, { ...init, cache: 'no-store', signal: limit }).then(
        (response) => (response.ok || accepts?.(response.status) ? response : failureOf(response)),
        (cause: unknown): HubFailure => {
          if (cause instanceof PlaygroundError) throw cause
          return limit.aborted ? { kind: 'broken', what: `nothing came for ${stallMs / 1000} s`, url } : { kind: 'network', cause, url }
        },
      )
      if (failure instanceof Response) return failure
      if (signal?.aborted) throw stopped(context.repo)
      const passing = failure.kind !== 'status' || isPassing(failure.status)
      if (!passing || tries >= maxTries) throw hubError(failure, { ...context, tries })
      await sleep(waitSeconds(failure, tries, random()) * 1000, signal ?? undefined)
    }
  }
}

function urlOf(input: string | URL | Request): string {
  return input instanceof Request ? input.url : String(input)
}
