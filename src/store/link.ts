/** The page's address holds its settings: a config ↔ the hash, versioned, only what differs from the preset. */

import type { RunConfig } from '../core/config'
import { readPageFunction } from '../core/environment-spec-schema'
import { hasCode, hostsOf, MOST_HOSTS, readHosts, withHosts } from '../core/network-hosts'
import { isHubModel } from '../env/models'
import { readRewards } from '../core/reward-funcs'
import { isSame } from '../core/same'
import { readStages, writeStages } from '../core/stage-schema'
import { isRepoId } from '../hub/model-reference'
import { DEFAULT_DISPLAY, DISPLAY_KEYS, type Display, readDisplay, writeDisplay } from './display'
import { sortHidden } from './hide'
import { readEnvironment, writeEnvironment } from './link-environment'
import { isLesson, LESSON_IDS, LESSON_STARTS, lessonConfig } from './lessons'
import { withModel, writeReference } from './model-settings'
import { withStages } from './planned'
import { defaultConfig, presetByName, startOf } from './presets'
import { presetConfig } from '../worker/protocol'
import { ALL_SETTINGS, getSetting, readSetting, readTargets, setSetting, writeSetting } from './settings'
import { readToolEdits, writeToolEdits } from './tool-edits'

const VERSION = '1'
/** A prompt longer than this does not belong in a link. */
const MAX_PROMPT = 32_000
const MAX_MODEL = 200
const MODEL = 'a folder of this site (models/NAME) or a repository on the Hub (owner/name)'
/** Places within a step of the recorded run that a link tells apart. */
const PLACES = 100
const REVISION = /^[A-Za-z0-9][\w./-]*$/

/** Where in a run the page looks; none of it where it follows the newest step. */
export interface LinkPlace {
  /** The step of the run that is looked at. */
  step?: number
  /** Where the recorded run is held: 3.5 is in the middle of step 4. */
  at?: number
}

export interface LinkContent extends LinkPlace {
  config: RunConfig
  /** Index of the selected episode. */
  episode: number
  /** Position of the selected token; absent for none. */
  token?: number
  /** What differs from the page's own way of showing things. */
  display: Partial<Display>
  /** One sentence for everything in the link that was not used. */
  problems: string[]
}

/** The hash (with '#') of a config, the selected episode, its selected token, how they are shown and where. `readLink` gives the same back. */
export function writeLink(config: RunConfig, episode: number, token: number | null = null, display: Display = DEFAULT_DISPLAY, place: LinkPlace = {}): string {
  const out = new URLSearchParams({ v: VERSION, ...writeEnvironment(config) })
  const start = startOf(config)
  const base = withModel(start, config)
  if (config.model !== start.model) out.set('model', config.model)
  if (config.model_revision !== 'main') out.set('model_revision', config.model_revision)
  if (config.precision !== base.precision) out.set('precision', config.precision)
  // A file given by hand stays with the person who has it.
  if (config.adapter?.kind === 'hub') out.set('adapter', writeReference(config.adapter.repo, config.adapter.revision))
  for (const { key } of ALL_SETTINGS) {
    const value = getSetting(config, key)
    // The seed is always in view: a link without it would hide what makes the run what it is.
    if (key === 'seed' || value !== getSetting(base, key)) out.set(key, writeSetting(value))
  }
  if (config.lora.target_modules.join() !== base.lora.target_modules.join()) out.set('lora_targets', config.lora.target_modules.join())
  if (!isSame(config.tool_edits, base.tool_edits)) out.set('tool_edits', writeToolEdits(config.tool_edits))
  if (config.stages && !isSame(config.stages, base.stages)) out.set('stages', writeStages(config.stages))
  if (config.rollout_func) out.set('rollout_func', JSON.stringify(config.rollout_func))
  if (hasCode(config) && hostsOf(config).length > 0) out.set('network_hosts', hostsOf(config).join())
  const { reward_funcs, reward_weights } = config.grpo
  if (JSON.stringify(reward_funcs) !== JSON.stringify(base.grpo.reward_funcs)) out.set('reward_funcs', JSON.stringify(reward_funcs))
  if (reward_weights !== null) out.set('reward_weights', reward_weights.join())
  if (config.backend !== base.backend) out.set('backend', config.backend)
  if (config.system_prompt !== base.system_prompt) out.set('system_prompt', config.system_prompt)
  if (config.user_prompt !== base.user_prompt) out.set('user_prompt', config.user_prompt)
  if (config.enable_thinking !== base.enable_thinking) out.set('enable_thinking', String(config.enable_thinking))
  if (episode !== 0) out.set('episode', String(episode))
  if (token !== null) out.set('position', String(token))
  if (place.step !== undefined) out.set('step', String(place.step))
  if (place.at !== undefined) out.set('at', String(Math.round(place.at * PLACES) / PLACES))
  for (const [key, value] of writeDisplay(display)) out.set(key, value)
  return `#${out.toString()}`
}

/** Reads a hash; never throws. Whatever is wrong becomes a sentence in `problems` and keeps its default. */
export function readLink(hash: string): LinkContent {
  const problems: string[] = []
  const text = hash.replace(/^#/, '')
  const params = new URLSearchParams(text)
  const version = params.get('v')
  if (text === '') return { config: defaultConfig(), episode: 0, display: {}, problems }
  if (version !== VERSION) {
    const what = version === null ? 'does not say its version' : `is of version ${quote(version)}, which this page does not know`
    return { config: defaultConfig(), episode: 0, display: {}, problems: [`The link ${what}; the defaults are used.`] }
  }
  const refuse = (why: string) => problems.push(`The link was not used in full: ${why}; the default is kept.`)

  const lesson = readLesson(params)
  const start = lesson !== null && !params.has('env') ? LESSON_STARTS[lesson] : null
  const where = readEnvironment(params.get('env'), params.get('env_spec'))
  where.refused.forEach(refuse)
  problems.push(...where.missing)
  let config = lesson !== null && start ? lessonConfig(lesson) : where.staged ? presetConfig(presetByName(where.staged)) : defaultConfig(where.spec)
  const known = new Set<string>(['v', 'env', 'env_spec'])
  const take = (key: string, use: (value: string) => void) => {
    known.add(key)
    const value = params.get(key)
    if (value !== null) use(value)
  }
  // First the model: the settings that suit it are what the others differ from.
  take('model', (value) => {
    // Never an address: a link must not make the page load from anywhere else. The Hub is asked only after a person's word.
    if (isSiteFolder(value) || isRepo(value)) config = withModel(config, { model: value, model_revision: 'main' })
    else refuse(`model must be ${MODEL}, not ${quote(value)}`)
  })
  take('model_revision', (value) => {
    if (isRevision(value)) config = { ...config, model_revision: value }
    else refuse(`model_revision must be a branch, tag or commit, not ${quote(value)}`)
  })
  take('precision', (value) => {
    if (value === 'float32' || value === 'int8' || value === 'int4') config = { ...config, precision: value }
    else refuse(`precision must be float32, int8 or int4, not ${quote(value)}`)
  })
  take('adapter', (value) => {
    const [repo = '', revision = 'main', ...rest] = value.split('@')
    if (isRepo(repo) && isRevision(revision) && rest.length === 0) config = { ...config, adapter: { kind: 'hub', repo, revision } }
    else refuse(`adapter must be a repository on the Hub, owner/name or owner/name@revision, not ${quote(value)}`)
  })
  for (const setting of ALL_SETTINGS) {
    take(setting.key, (value) => {
      const read = readSetting(setting, value)
      if (read.ok) config = setSetting(config, setting.key, read.value)
      else refuse(`${read.why}, not ${quote(value)}`)
    })
  }
  take('lora_targets', (value) => {
    const read = readTargets(value)
    if (read.ok) config = { ...config, lora: { ...config.lora, target_modules: read.value } }
    else refuse(`${read.why}, not ${quote(value)}`)
  })
  take('tool_edits', (value) => {
    const read = readToolEdits(value)
    if (read.ok) config = { ...config, tool_edits: read.value }
    else refuse(`${read.why}, not ${quote(value)}`)
  })
  take('stages', (value) => {
    const stages = readStages(parseJson(value))
    if (stages) config = withStages(config, stages)
    else refuse(`stages must be the JSON of a list of stages, as this page writes it, not ${quote(value)}`)
  })
  take('rollout_func', (value) => {
    const rollout_func = readPageFunction(parseJson(value))
    if (rollout_func) config = { ...config, rollout_func }
    else refuse(`rollout_func must be the JSON of a function, {called, code}, not ${quote(value)}`)
  })
  take('reward_funcs', (value) => {
    const weights = params.get('reward_weights')
    const read = readRewards(parseJson(value), weights === null ? null : weightsOf(weights))
    // Code of a link is only text here: the sandbox runs what a person has allowed.
    if (read) config = { ...config, grpo: { ...config.grpo, ...read } }
    else refuse(`reward_funcs must be a list of reward functions, with reward_weights as many numbers, not ${quote(value)}`)
  })
  take('reward_weights', (value) => {
    if (params.has('reward_funcs')) return
    const read = readRewards(config.grpo.reward_funcs, weightsOf(value))
    if (read) config = { ...config, grpo: { ...config.grpo, ...read } }
    else refuse(`reward_weights must be one number for each reward function, not ${quote(value)}`)
  })
  take('network_hosts', (value) => {
    const hosts = readHosts(value.split(','))
    // A request: the sandbox has them where a person has allowed the code with them.
    if (hosts && hasCode(config)) config = withHosts(config, hosts)
    else refuse(hosts ? 'network_hosts are for code, and the link has none' : `network_hosts must be at most ${MOST_HOSTS} hosts such as https://api.example.org, not ${quote(value)}`)
  })
  take('backend', (value) => {
    if (value === 'auto' || value === 'webgpu' || value === 'wasm') config = { ...config, backend: value }
    else refuse(`backend must be auto, webgpu or wasm, not ${quote(value)}`)
  })
  for (const key of ['system_prompt', 'user_prompt'] as const) {
    take(key, (value) => {
      if (value.length <= MAX_PROMPT) config = { ...config, [key]: value }
      else refuse(`${key} has ${value.length} characters, more than ${MAX_PROMPT}`)
    })
  }
  take('enable_thinking', (value) => {
    if (value === 'true' || value === 'false') config = { ...config, enable_thinking: value === 'true' }
    else refuse(`enable_thinking must be true or false, not ${quote(value)}`)
  })
  let episode = start?.episode ?? 0
  take('episode', (value) => {
    if (/^\d{1,5}$/.test(value)) episode = Number(value)
    else refuse(`episode must be a whole number, not ${quote(value)}`)
  })
  let token: number | undefined
  take('position', (value) => {
    if (/^\d{1,6}$/.test(value)) token = Number(value)
    else refuse(`position must be a whole number, not ${quote(value)}`)
  })
  const place: LinkPlace = start?.at === undefined ? {} : { at: start.at }
  take('step', (value) => {
    if (/^[1-9]\d{0,5}$/.test(value)) place.step = Number(value)
    else refuse(`step must be a whole number above 0, not ${quote(value)}`)
  })
  take('at', (value) => {
    if (/^\d{1,6}(\.\d{1,2})?$/.test(value)) place.at = Number(value)
    else refuse(`at must be a place in the recorded run such as 3.5, not ${quote(value)}`)
  })
  let display: Partial<Display> = start?.display ?? {}
  for (const key of DISPLAY_KEYS) {
    take(key, (value) => {
      const read = readDisplay(key, value)
      if (read.ok) display = { ...display, ...read.value }
      else refuse(`${key} must be ${read.expects}, not ${quote(value)}`)
    })
  }
  if (display.lesson && !isLesson(display.lesson)) {
    refuse(`lesson must be ${LESSON_IDS.join(', ')}, not ${quote(display.lesson)}`)
    const { lesson: _, ...rest } = display
    display = rest
  }
  if (display.hide) {
    const { known: hide, unknown: strange } = sortHidden(display.hide)
    if (strange.length > 0) problems.push(`The link hides parts that this page does not have: ${listed(strange)}.`)
    display = { ...display, hide }
  }
  const unknown = [...new Set(params.keys())].filter((key) => !known.has(key))
  if (unknown.length > 0) problems.push(`The link names settings that this page does not know: ${listed(unknown)}.`)
  return { config, episode, ...(token !== undefined && { token }), ...place, display, problems }
}

/** A lesson that is named without an environment brings its own start: settings, place, what is hidden. */
function readLesson(params: URLSearchParams) {
  const name = params.get('lesson')
  return name !== null && isLesson(name) ? name : null
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isSiteFolder = (text: string) => text.length <= MAX_MODEL && /^models\/[\w-][\w.-]*$/.test(text)
const isRepo = (text: string) => isRepoId(text) && isHubModel(text)
const isRevision = (text: string) => text.length <= MAX_MODEL && REVISION.test(text) && !text.includes('..')

function quote(text: string): string {
  return `"${text.length > 40 ? `${text.slice(0, 40)}…` : text}"`
}

const MOST_NAMED = 8

/** The first few in quotes, and how many more there are. */
function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMED
  return `${names.slice(0, MOST_NAMED).map(quote).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Numbers of a list with commas; an empty place is none. */
function weightsOf(text: string): number[] {
  return text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
}
