/** The keys of the page: one table, from which the keyboard is read, the sheet is drawn and the buttons are marked. */

import { HEATS } from '../store/display'
import { orderEpisodes } from '../store/episode-order'
import type { Stores } from '../store/hooks'
import { pressPlayPause, pressReset, pressStep } from '../store/transport'
import { findStep } from '../store/view'
import type { CONTROLS_STRINGS } from './controls-strings'

/** What a key acts on. */
export interface KeyTarget {
  stores: Stores
  openSheet: () => void
}

export const SHORTCUT_PARTS = ['run', 'look', 'page'] as const

export interface Shortcut {
  id: keyof typeof CONTROLS_STRINGS.keys.words
  /** As KeyboardEvent.key has it; letters in lower case. */
  key: string
  shift?: true
  part: (typeof SHORTCUT_PARTS)[number]
  /** Held down, it goes on. */
  repeats?: true
  act: (target: KeyTarget) => void
}

export const SHORTCUTS: readonly Shortcut[] = [
  { id: 'play-pause', key: ' ', part: 'run', act: ({ stores }) => pressPlayPause(stores) },
  { id: 'step-token', key: '.', part: 'run', repeats: true, act: ({ stores }) => pressStep(stores, 'token') },
  { id: 'step-episode', key: 'e', part: 'run', repeats: true, act: ({ stores }) => pressStep(stores, 'episode') },
  { id: 'step-step', key: 's', part: 'run', repeats: true, act: ({ stores }) => pressStep(stores, 'step') },
  { id: 'reset', key: 'r', part: 'run', act: ({ stores }) => pressReset(stores) },
  { id: 'episode-before', key: '[', part: 'look', repeats: true, act: ({ stores }) => moveEpisode(stores, -1) },
  { id: 'episode-after', key: ']', part: 'look', repeats: true, act: ({ stores }) => moveEpisode(stores, 1) },
  { id: 'group-after', key: 'g', part: 'look', repeats: true, act: ({ stores }) => moveGroup(stores, 1) },
  { id: 'group-before', key: 'g', shift: true, part: 'look', repeats: true, act: ({ stores }) => moveGroup(stores, -1) },
  { id: 'colour', key: 'c', part: 'look', repeats: true, act: ({ stores }) => nextColour(stores) },
  { id: 'blanks', key: 'w', part: 'look', act: ({ stores: { display } }) => display.setState(({ blanks }) => ({ blanks: !blanks })) },
  { id: 'sheet', key: '?', part: 'page', act: ({ openSheet }) => openSheet() },
]

/** For aria-keyshortcuts. */
export const SHORTCUT_KEYS = Object.fromEntries(SHORTCUTS.map(({ id, key, shift }) => [id, `${shift ? 'Shift+' : ''}${key === ' ' ? 'Space' : key.toUpperCase()}`])) as Record<Shortcut['id'], string>

/** The entry that a key press means; null for keys that are none of the page's, or that belong to what has the focus. */
export function shortcutOf(event: KeyboardEvent): Shortcut | null {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return null
  const isLetter = /^[a-z]$/i.test(event.key)
  const found = SHORTCUTS.find(({ key, shift = false }) => (isLetter ? key === event.key.toLowerCase() && shift === event.shiftKey : key === event.key))
  if (!found || (event.repeat && !found.repeats)) return null
  return belongsToFocus(event.target, found.key) ? null : found
}

const TAKES_LETTERS = 'input:not([type=range], [type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable], [role=menu], [role=listbox], [role=combobox], dialog, [role=dialog]'
/** What Space presses or scrolls. */
const TAKES_SPACE = `${TAKES_LETTERS}, button, a, summary, label, [type=checkbox], [type=radio], [type=button], [role=button], [role=option], [tabindex]:not(main)`

/** Fields take letters, buttons and what scrolls take Space; so does all in an open dialog. */
function belongsToFocus(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false
  return target.closest(key === ' ' ? TAKES_SPACE : TAKES_LETTERS) !== null || target.ownerDocument.querySelector('dialog:modal') !== null
}

function shownStep({ shown, selection, setup }: Stores) {
  const step = findStep(shown.getState(), selection.getState().step)
  const { num_generations, prompts_per_step } = setup.getState().config.grpo
  const groups = step?.groupCount ?? prompts_per_step
  const episodes = step?.episodeCount ?? num_generations * prompts_per_step
  return { step, groups, size: Math.max(1, Math.round(episodes / groups)) }
}

/** In the order in which they stand, from group to group. */
function moveEpisode(stores: Stores, by: number) {
  const { selection, shown, display } = stores
  const { step, groups, size } = shownStep(stores)
  const order = step?.groups ? display.getState().order : 'index'
  const indices = Array.from({ length: groups }, (_, group) => {
    const members = step?.episodes.filter((e) => e.group === group) ?? []
    if (members.length < size) return Array.from({ length: size }, (_, i) => group * size + i)
    return orderEpisodes(members, order, ({ step, index }) => shown.tokens.read(step, index)).places.map((place) => members[place]?.index ?? group * size + place)
  }).flat()
  const next = indices[indices.indexOf(selection.getState().episode) + by]
  if (next !== undefined) selection.setState({ episode: next, token: null })
}

/** To the first episode of another group, round and round. */
function moveGroup(stores: Stores, by: number) {
  const { groups, size } = shownStep(stores)
  stores.selection.setState(({ episode }) => ({ episode: ((Math.floor(episode / size) + by + groups) % groups) * size, token: null }))
}

function nextColour({ display }: Stores) {
  display.setState(({ heat }) => ({ heat: HEATS[(HEATS.indexOf(heat) + 1) % HEATS.length] ?? heat }))
}

/** The same key stands for nothing else in this browser's storage. */
const KEY = 'grpo-playground-keys'

/** Whether single keys do anything: whoever speaks to the page, or is helped by other keys, can switch them off. */
export function readKeysOn(): boolean {
  try {
    return localStorage.getItem(KEY) !== 'off'
  } catch {
    return true
  }
}

/** Remembered where that is allowed. */
export function writeKeysOn(on: boolean): void {
  try {
    if (on) localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, 'off')
  } catch {
    // Storage may be forbidden; the choice then lasts until the page is left.
  }
}
