/** What the Hub tells of a Space: its host, its stage, the signature for a private one. The token goes to the Hub's origin alone. */

import { z } from 'zod'
import { PlaygroundError } from '../../core/errors'
import { cutText } from '../../core/text'

export interface SpaceInfo {
  /** owner/name. */
  id: string
  isPrivate: boolean
  /** 'docker' for every OpenEnv environment; null where it is not told. */
  sdk: string | null
  /** RUNNING, SLEEPING, …; null where it is not told. */
  stage: string | null
  /** What the Hub says of a Space that failed; '' mostly. */
  problem: string
  /** https://….hf.space, where it is told. */
  host: string | null
}

/** No answer that helps: 0 for a request that failed, else the status. */
export interface HubSilence {
  status: number
  /** X-Error-Code. */
  code: string | null
}
export type HubAnswer<T> = { ok: true; value: T } | ({ ok: false } & HubSilence)

export interface SpacesApiOptions {
  /** The Hub itself when undefined. */
  hub?: string
  fetch: typeof fetch
  /** Asked before each request; null for none. */
  token: () => string | null
  /** Resolves after so many ms, early when the connecting is given up. */
  sleep: (ms: number) => Promise<void>
  signal: AbortSignal
  /** Uniform in [0, 1). */
  random: () => number
  /** One sentence of what is waited for. */
  onDetail: (detail: string) => void
}

const HUB = 'https://huggingface.co'
const REQUEST_MS = 15_000
const TRIES = 4

const nullable = z.string().nullish()
const infoAnswer = z.object({
  id: z.string(),
  private: z.boolean().default(false),
  sdk: nullable,
  host: nullable,
  runtime: z.object({ stage: nullable, errorMessage: nullable }).nullish(),
})
const hostAnswer = z.object({ host: z.string() })
const signAnswer = z.object({ token: z.string().min(1) })

/** Statuses after which the same request may succeed. */
export const isPassing = (status: number): boolean => status === 0 || status === 408 || status === 429 || status >= 500

const toInfo = ({ id, private: isPrivate, sdk, host, runtime }: z.infer<typeof infoAnswer>): SpaceInfo => ({
  id,
  isPrivate,
  sdk: sdk ?? null,
  stage: runtime?.stage ?? null,
  problem: cutText((runtime?.errorMessage ?? '').replace(/\s+/g, ' ').trim(), 200),
  host: host ? host : null,
})

export class SpacesApi {
  private readonly endpoint: string

  constructor(private readonly options: SpacesApiOptions) {
    this.endpoint = (options.hub ?? HUB).replace(/\/+$/, '')
  }

  get hasToken(): boolean {
    return this.options.token() !== null
  }

  /** The address that serves a Space, without a trailing slash. */
  async host(id: string): Promise<HubAnswer<string>> {
    const answer = await this.ask(`spaces/${id}/host`, hostAnswer)
    return answer.ok ? { ok: true, value: answer.value.host } : answer
  }

  /** @param tries 1 where the caller asks again by itself */
  async info(id: string, tries = TRIES): Promise<HubAnswer<SpaceInfo>> {
    const answer = await this.ask(`spaces/${id}`, infoAnswer, tries)
    return answer.ok ? { ok: true, value: toInfo(answer.value) } : answer
  }

  /** The Space behind SUB.hf.space. One try: who pasted a host can be connected without it. */
  async bySubdomain(subdomain: string): Promise<HubAnswer<SpaceInfo>> {
    const answer = await this.ask(`spaces/by-subdomain/${subdomain}`, infoAnswer, 1)
    return answer.ok ? { ok: true, value: toInfo(answer.value) } : answer
  }

  /** What else has this id: 'model', 'dataset' or nothing that is seen. */
  async otherKind(id: string): Promise<'model' | 'dataset' | null> {
    for (const kind of ['model', 'dataset'] as const) {
      if ((await this.ask(`${kind}s/${id}`, z.object({ id: z.string() }), 1)).ok) return kind
    }
    return null
  }

  /** Signature for the addresses of a private Space, to be given as `__sign`. Throws PlaygroundError('environment') when the Hub gives none. */
  async sign(id: string): Promise<string> {
    const answer = await this.ask(`spaces/${id}/jwt`, signAnswer)
    if (answer.ok) return answer.value.token
    throw isPassing(answer.status)
      ? new PlaygroundError('environment', `The Hub signed no address for the private Space ${id}${inBrackets(answer.status)}.`, 'Connect again later.')
      : notShown(id, answer, this.hasToken)
  }

  /** One question, repeated with growing pauses where that may help. Throws PlaygroundError('stopped') once given up by the caller. */
  private async ask<T>(path: string, schema: z.ZodType<T>, tries = TRIES): Promise<HubAnswer<T>> {
    const { sleep, random, onDetail, signal } = this.options
    for (let attempt = 1; ; attempt++) {
      if (signal.aborted) throw new PlaygroundError('stopped', 'The connecting was stopped.')
      const { answer, retryAfter } = await this.once(path, schema)
      if (answer.ok || !isPassing(answer.status) || attempt >= tries) return answer
      const usual = (answer.status === 429 ? 5 : 1) * 2 ** (attempt - 1) * (0.75 + random() / 2)
      const seconds = Math.ceil(Math.min(retryAfter ?? usual, 60))
      const why = answer.status === 429 ? 'The Hub asks for patience (429)' : `The Hub did not answer${inBrackets(answer.status)}`
      for (let left = seconds; left > 0 && !signal.aborted; left--) {
        onDetail(`${why} · asked again in ${left} s`)
        await sleep(1000)
      }
    }
  }

  private async once<T>(path: string, schema: z.ZodType<T>): Promise<{ answer: HubAnswer<T>; retryAfter: number | null }> {
    const token = this.options.token()
    try {
      const response = await this.options.fetch(`${this.endpoint}/api/${path}`, {
        cache: 'no-store',
        headers: token === null ? {} : { Authorization: `Bearer ${token}` },
        signal: AbortSignal.any([this.options.signal, AbortSignal.timeout(REQUEST_MS)]),
      })
      const { status, headers } = response
      if (!response.ok) {
        const wait = headers.get('Retry-After') ?? ''
        return { answer: { ok: false, status, code: headers.get('X-Error-Code') }, retryAfter: /^\d+$/.test(wait) ? Number(wait) : null }
      }
      const parsed = schema.safeParse(await response.json())
      // Some other server's answer (a sign-in page of the network) is as good as none.
      return { answer: parsed.success ? { ok: true, value: parsed.data } : { ok: false, status: 0, code: null }, retryAfter: null }
    } catch {
      return { answer: { ok: false, status: 0, code: null }, retryAfter: null }
    }
  }
}

export const inBrackets = (status: number): string => (status === 0 ? '' : ` (${status})`)

/** Why the Hub does not show a Space, and what to do: unknown, private, or the token is at fault. */
export function notShown(id: string, { status, code }: HubSilence, hasToken: boolean): PlaygroundError {
  const fail = (message: string, advice: string) => new PlaygroundError('environment', message, advice)
  if (status === 401 && hasToken && code === null) {
    return fail(`The Hub does not accept your token (401) for the Space ${id}.`, 'Paste a new one under Model, Hub token, or remove it for public Spaces.')
  }
  if (status === 403) {
    return fail(`Your Hub token may not read the Space ${id} (403).`, `Give it read access to ${id} at huggingface.co/settings/tokens, or paste another one under Model.`)
  }
  if (hasToken) return fail(`The Hub shows no Space ${id} to the account of your token (${status}).`, 'Check the spelling, and that this account may see the Space.')
  const advice = 'Check the spelling. A private Space needs a token of an account that may see it: paste one under Model, Hub token, and connect again.'
  return fail(`The Hub shows no Space ${id} to strangers (${status}): the name is wrong or the Space is private.`, advice)
}
