/** How a person looks at the page: a typed table of view settings, each in the page's link where it differs from its default. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import { GRAINS, type Grain } from '../worker/protocol'
import { EPISODE_FILTERS, type EpisodeFilter } from './episode-faults'

export const HEATS = ['author', 'logprob', 'probability', 'entropy', 'difference', 'ratio', 'kl', 'advantage', 'change'] as const
/** What colours the tokens of the trajectory. */
export type Heat = (typeof HEATS)[number]

export const EPISODE_ORDERS = ['index', 'best', 'worst', 'surprising', 'changed'] as const
/** How the episodes of a group are ordered. */
export type EpisodeOrder = (typeof EPISODE_ORDERS)[number]

export const CURVE_AXES = ['step', 'episodes', 'time'] as const
/** What the curves run over. */
export type CurveAxis = (typeof CURVE_AXES)[number]

export const PANELS_THAT_OPEN = ['chat', 'play', 'compare', 'stage'] as const
/** Panels that are one line high until a person opens them. */
export type PanelThatOpens = (typeof PANELS_THAT_OPEN)[number]

/** Which episode is played before and after. */
export interface ComparedChoice {
  split: 'train' | 'heldout'
  /** Environment seed. */
  seed: number
  /** The likeliest token each time, instead of one that is drawn. */
  greedy: boolean
}

export interface Display {
  heat: Heat
  /** Blanks are drawn as signs. */
  blanks: boolean
  order: EpisodeOrder
  /** Which episodes of the group are listed. */
  only: EpisodeFilter
  /** Metrics whose curves are drawn; empty: the page's own choice. */
  curves: readonly string[]
  /** Weight of what came before in the drawn curves' moving average, 0 (none) to below 1. */
  smoothing: number
  /** Logarithmic values. */
  log: boolean
  axis: CurveAxis
  /** What one press of Step advances. */
  grain: Grain
  /** Speed of what is watched, 1 as fast as it comes; below 1 a live run is slowed down for reading. */
  speed: number
  /** The lesson that is open. */
  lesson: string | null
  /** Its card that is in view, from 1. */
  card: number
  compare: ComparedChoice
  /** Panels that are open. */
  open: readonly PanelThatOpens[]
  /** Parts of the page that a teacher hid. */
  hide: readonly string[]
  /** The benchmark of this machine is open. */
  bench: boolean
}

export const DEFAULT_DISPLAY: Display = {
  heat: 'author',
  blanks: false,
  order: 'index',
  only: 'all',
  curves: [],
  smoothing: 0,
  log: false,
  axis: 'step',
  grain: 'step',
  speed: 1,
  lesson: null,
  card: 1,
  compare: { split: 'heldout', seed: 3, greedy: true },
  open: [],
  hide: [],
  bench: false,
}

export type DisplayStore = StoreApi<Display>

export function createDisplayStore(display: Partial<Display> = {}): DisplayStore {
  return createStore<Display>(() => ({ ...DEFAULT_DISPLAY, ...display }))
}

interface Codec<T> {
  /** What a value must be, as the end of "heat must be …". */
  expects: string
  write(value: T): string
  /** undefined for what is none. */
  read(text: string): T | undefined
}

const oneOf = <T extends string>(options: readonly T[]): Codec<T> => ({
  expects: options.join(', '),
  write: (value) => value,
  read: (text) => options.find((option) => option === text),
})

const flag: Codec<boolean> = {
  expects: 'true or false',
  write: String,
  read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
}

const between = (least: number, most: number): Codec<number> => ({
  expects: `a number from ${least} to ${most}`,
  write: String,
  read: (text) => (/^\d+(\.\d+)?$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined),
})

/** Names as they occur on the page; which of them mean something is for those who read them to say. */
const NAME = /^[\w./-]{1,80}$/
const MOST_NAMES = 60

const name: Codec<string | null> = { expects: 'a short name', write: (value) => value ?? '', read: (text) => (NAME.test(text) ? text : undefined) }

const names: Codec<readonly string[]> = {
  expects: 'names with commas between them',
  write: (value) => value.join(','),
  read(text) {
    const list = text.split(',')
    return list.length <= MOST_NAMES && list.every((item) => NAME.test(item)) ? [...new Set(list)] : undefined
  },
}

const someOf = <T extends string>(options: readonly T[]): Codec<readonly T[]> => ({
  expects: `a list of ${options.join(', ')}`,
  write: (value) => value.join(','),
  read(text) {
    const list = text.split(',')
    const known = options.filter((option) => list.includes(option))
    return known.length === new Set(list).size ? known : undefined
  },
})

/** The largest number that a card may have. */
const MOST_CARDS = 20

const card: Codec<number> = {
  expects: `a whole number from 1 to ${MOST_CARDS}`,
  write: String,
  read: (text) => (/^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= MOST_CARDS ? Number(text) : undefined),
}

const compared: Codec<ComparedChoice> = {
  expects: 'like heldout-1-greedy or train-1-sampled, with a whole number below 2147483648 in its middle',
  write: ({ split, seed, greedy }) => `${split}-${seed}-${greedy ? 'greedy' : 'sampled'}`,
  read(text) {
    const [, split, digits, how] = /^(train|heldout)-(\d{1,10})-(greedy|sampled)$/.exec(text) ?? []
    const seed = Number(digits)
    return (split === 'train' || split === 'heldout') && isSeed(seed) ? { split, seed, greedy: how === 'greedy' } : undefined
  },
}

/** What every environment takes as a seed. */
export function isSeed(seed: number): boolean {
  return Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31
}

const CODECS: { [K in keyof Display]: Codec<Display[K]> } = {
  heat: oneOf(HEATS),
  blanks: flag,
  order: oneOf(EPISODE_ORDERS),
  only: oneOf(EPISODE_FILTERS),
  curves: names,
  smoothing: between(0, 0.99),
  log: flag,
  axis: oneOf(CURVE_AXES),
  grain: oneOf(GRAINS),
  speed: between(0.1, 16),
  lesson: name,
  card,
  compare: compared,
  open: someOf(PANELS_THAT_OPEN),
  hide: names,
  bench: flag,
}

export const DISPLAY_KEYS = Object.keys(CODECS) as (keyof Display)[]

/** Key and text of everything that differs from its default. */
export function writeDisplay(display: Display): [string, string][] {
  return DISPLAY_KEYS.flatMap((key) => {
    const text = writeOne(display, key)
    return text === writeOne(DEFAULT_DISPLAY, key) ? [] : [[key, text]]
  })
}

function writeOne<K extends keyof Display>(display: Display, key: K): string {
  return CODECS[key].write(display[key])
}

/** Reads one key of a link; what it must be where `text` is no value of it. */
export function readDisplay(key: keyof Display, text: string): { ok: true; value: Partial<Display> } | { ok: false; expects: string } {
  const { read, expects } = CODECS[key]
  const value = read(text)
  return value === undefined ? { ok: false, expects } : { ok: true, value: { [key]: value } }
}
