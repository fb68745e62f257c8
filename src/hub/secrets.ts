/** Keeps secrets out of what leaves the page: tokens in any text, and what an environment's address holds besides the place. */

import { singleSpecs } from '../core/environment-spec'
import type { KeptEpisode, RunRecord } from '../core/run-record'
import { isRecord } from '../core/records'

/** A token of the Hub, of a user, an organisation or an application; and a JWT, as the Hub signs addresses of private Spaces with. */
const SECRETS = /hf_(?:oauth_[\w.-]{16,}|[A-Za-z0-9]{24,})|api_org_[A-Za-z0-9]{24,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g

const shortened = (secret: string): string => `${/^(hf_|api_org_|eyJ)/.exec(secret)?.[1] ?? ''}…`

/** A text without anything in the form of a Hub token or a signature of one; names that only begin with hf_ stay. */
export function withoutTokens(text: string): string {
  return text.replace(SECRETS, shortened)
}

/** An environment's address as a person pasted it, without query, fragment, user name and password. */
export function withoutCredentials(address: string): string {
  return address.trim().replace(/^([a-z][a-z0-9+.-]*:\/\/+)?[^/?#]*@/i, '$1').replace(/[?#].*$/s, '')
}

/** The same plain data with every text in it, keys aside, mapped. */
function mapTexts<T>(value: T, map: (text: string) => string): T {
  const mapped = (each: unknown): unknown => {
    if (typeof each === 'string') return map(each)
    if (Array.isArray(each)) return each.map(mapped)
    if (isRecord(each)) return Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, mapped(inner)]))
    return each
  }
  return mapped(value) as T
}

/** A run as it may leave the page: its environments' addresses are places only, and no text in it holds a token. Its id stays. */
export function withoutSecrets(run: RunRecord): RunRecord {
  const pasted = singleSpecs(run.config.environment).flatMap((one) => (one.kind === 'openenv' && withoutCredentials(one.url) !== one.url ? [one.url.trim()] : []))
  // Notes, names and sentences may repeat the address.
  const clean = (text: string) => withoutTokens(pasted.reduce((rest, address) => rest.replaceAll(address, withoutCredentials(address)), text))
  return { ...mapTexts(run, clean), id: run.id }
}

/**
 * An episode as it may leave the page: texts as in withoutSecrets. Tokens of the model that spell a secret lose their text, their id
 * (0 stands there, since the id could be decoded) and their alternatives; all lists keep their lengths, and numbers stay.
 */
export function withoutEpisodeSecrets(episode: KeptEpisode): KeptEpisode {
  const { turns, messages, scene, error, prompt, completion } = episode
  const said = mapTexts({ turns, messages, error, prompt, completion }, withoutTokens)
  return { ...episode, ...said, ...(scene === undefined ? {} : { scene: mapTexts(scene, withoutTokens) }), ...spelled(episode) }
}

/** Per token, what is left where some spell a secret together. */
function spelled({ ids, texts, alternatives }: KeptEpisode): Pick<KeptEpisode, 'ids' | 'texts' | 'alternatives'> {
  const secrets = [...texts.join('').matchAll(SECRETS)].map((match) => ({ secret: match[0], start: match.index, end: match.index + match[0].length }))
  if (secrets.length === 0) return { ids, texts, alternatives }
  const starts: number[] = []
  texts.reduce((at, text) => (starts.push(at), at + text.length), 0)
  const within = texts.map((text, i) => {
    const at = starts[i] ?? 0
    return secrets.filter(({ start, end }) => at < end && at + text.length > start)
  })
  return {
    ids: ids.map((id, i) => (within[i]?.length ? 0 : id)),
    alternatives: alternatives.map((options, i) => (within[i]?.length ? null : options)),
    texts: texts.map((text, i) => remaining(text, starts[i] ?? 0, within[i] ?? [])),
  }
}

/** A token's text, which begins at `at`, with what stands for a secret where that begins, and nothing where it goes on. */
function remaining(text: string, at: number, secrets: readonly { secret: string; start: number; end: number }[]): string {
  let left = ''
  let from = 0
  for (const { secret, start, end } of secrets) {
    left += text.slice(from, Math.max(0, start - at)) + (start >= at ? shortened(secret) : '')
    from = end - at
  }
  return left + text.slice(from)
}
