/** The environment in a page's link: a preset's or built-in's name, a server's address, or a kind with its whole spec as JSON. */

import type { RunConfig } from '../core/config'
import { BUILTIN_NAMES, type BuiltinName, type EnvironmentSpec, type PromptSource, type SingleSpec } from '../core/environment-spec'
import { LONGEST_PAGE_CODE, readEnvironmentSpec } from '../core/environment-spec-schema'
import { isRecord } from '../core/records'
import { isHubModel } from '../env/models'
import { isRepoId } from '../hub/model-reference'
import { readAddress } from './address'
import { PRESET_NAMES, presetByName, presetOfRun, type PresetName } from './presets'

/** Rows of a pasted dataset beyond this do not belong in a link. */
export const MOST_LINKED = 20_000

const isPreset = (text: string): text is PresetName => (PRESET_NAMES as readonly string[]).includes(text)
const isBuiltin = (text: string): text is BuiltinName => (BUILTIN_NAMES as readonly string[]).includes(text)
const SPECIFIED = ['custom', 'prompts', 'mix'] as const
const isSpecified = (text: string): text is (typeof SPECIFIED)[number] => (SPECIFIED as readonly string[]).includes(text)

/** The link's `env` and, where a word does not say it all, `env_spec`. */
export function writeEnvironment(config: Pick<RunConfig, 'environment' | 'stages' | 'tool_edits'>): { env: string; env_spec?: string } {
  const { environment: spec } = config
  const preset = presetOfRun(config)
  if (preset) return { env: preset.id }
  if (spec.kind === 'builtin') return { env: spec.name }
  if (spec.kind === 'openenv') return { env: spec.url }
  return { env: spec.kind, env_spec: JSON.stringify(mapSources(spec, shortened)) }
}

/** Names of the pasted datasets that are too long for a link: their rows stay with the person who has them. */
export function leftOut(spec: EnvironmentSpec): string[] {
  const names: string[] = []
  mapSources(spec, (source) => {
    if (source.kind === 'text' && source.text.length > MOST_LINKED) names.push(source.name)
    return source
  })
  return names
}

const shortened = (source: PromptSource): PromptSource => (source.kind === 'text' && source.text.length > MOST_LINKED ? { ...source, text: '' } : source)

function mapSources(spec: EnvironmentSpec, map: (source: PromptSource) => PromptSource): EnvironmentSpec {
  const single = (one: SingleSpec): SingleSpec => (one.kind === 'prompts' ? { ...one, dataset: map(one.dataset) } : one)
  if (spec.kind !== 'mix') return single(spec)
  return { ...spec, members: spec.members.map((member) => ({ ...member, environment: single(member.environment) })), dataset: spec.dataset && map(spec.dataset) }
}

export interface ReadEnvironment {
  /** That a preset with stages is named: its settings are the start. */
  staged?: PresetName
  /** undefined: the page's first. */
  spec: EnvironmentSpec | undefined
  /** Why what the link says was not taken, each with what is kept instead. */
  refused: string[]
  /** What the link leaves to the person who opens it. */
  missing: string[]
}

/** The environment of a link; code in it is only text here. */
export function readEnvironment(env: string | null, json: string | null): ReadEnvironment {
  const refuse = (why: string): ReadEnvironment => ({ spec: undefined, refused: [why], missing: [] })
  const plain = (spec: EnvironmentSpec): ReadEnvironment => ({ spec, refused: [], missing: [] })
  if (env === null) return json === null ? { spec: undefined, refused: [], missing: [] } : refuse('env_spec needs env beside it')
  if (json === null) {
    if (isPreset(env)) return { ...plain(presetByName(env).environment), ...(presetByName(env).stages && { staged: env }) }
    if (isBuiltin(env)) return plain({ kind: 'builtin', name: env })
    if (isSpecified(env)) return refuse(`env ${env} needs env_spec, as this page writes it`)
    const address = readAddress(env)
    if (address.ok) return plain({ kind: 'openenv', url: address.value })
    return refuse(`env must be ${PRESET_NAMES.join(', ')} or a server's address, not ${quote(env)}`)
  }
  const given = parse(json)
  const spec = readEnvironmentSpec(given)
  if (!spec || spec.kind !== env) {
    const weight = wrongWeight(given)
    if (weight !== null) return refuse(`env_spec has an environment of weight ${quote(weight)}: a weight must be a number above 0`)
    return refuse(`env_spec must be the JSON of an environment of the kind ${SPECIFIED.join(', ')} that env names, as this page writes it, with code of at most ${LONGEST_PAGE_CODE} characters, not ${quote(json)}`)
  }
  const wrong = wrongPart(spec)
  if (wrong) return refuse(wrong)
  const missing: string[] = []
  mapSources(spec, (source) => {
    if (source.kind === 'text' && source.text.trim() === '') missing.push(`The link brings no rows of the dataset ${quote(source.name)} (those that are too long for a link stay behind): choose or paste them.`)
    return source
  })
  return { spec: cleaned(spec), refused: [], missing }
}

/** The first weight of several environments' JSON that is none, as it was written. */
function wrongWeight(json: unknown): string | null {
  const members = isRecord(json) && json['kind'] === 'mix' && Array.isArray(json['members']) ? (json['members'] as unknown[]) : []
  const weights = members.flatMap((member) => (isRecord(member) ? [member['weight']] : []))
  const wrong = weights.find((weight) => typeof weight !== 'number' || !(weight > 0))
  return wrong === undefined && !weights.includes(undefined) ? null : (JSON.stringify(wrong) ?? 'none')
}

/** What in a spec no page would write: an address that is none, a repository that cannot be. */
function wrongPart(spec: EnvironmentSpec): string | null {
  const members = spec.kind === 'mix' ? spec.members.map(({ environment }) => environment) : [spec]
  for (const one of members) {
    if (one.kind !== 'openenv') continue
    const address = readAddress(one.url)
    if (!address.ok) return `env_spec names a server that is none: ${address.why.replace(/\.$/, '')}`
  }
  let wrong: string | null = null
  mapSources(spec, (source) => {
    if (source.kind === 'hub' && (!isRepoId(source.repo) || !isHubModel(source.repo) || source.revision.includes('..'))) wrong = `env_spec names a dataset that is no repository on the Hub: ${quote(source.repo)}`
    return source
  })
  return wrong
}

/** Servers' addresses without what may be a secret in them. */
function cleaned(spec: EnvironmentSpec): EnvironmentSpec {
  const single = (one: SingleSpec): SingleSpec => {
    const address = one.kind === 'openenv' ? readAddress(one.url) : null
    return one.kind === 'openenv' && address?.ok ? { ...one, url: address.value } : one
  }
  return spec.kind === 'mix' ? { ...spec, members: spec.members.map((member) => ({ ...member, environment: single(member.environment) })) } : single(spec)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const quote = (text: string) => `"${text.length > 40 ? `${text.slice(0, 40)}…` : text}"`
