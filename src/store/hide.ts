/** What a teacher may hide: every part of the page by a name that a link can hold, and never lets go of. */

import { MAIN_SETTINGS, SETTING_GROUPS } from './settings'

export interface HidePart {
  key: string
  /** What is within it: hidden with it. */
  parts?: readonly HidePart[]
}

const all = (keys: readonly string[]): HidePart[] => keys.map((key) => ({ key }))

/** Each panel by its id, what stands within it, and what belongs to the whole page. Settings have their own names. */
export const HIDE_PARTS: readonly HidePart[] = [
  { key: 'bar', parts: all(['controls', 'badge', 'runs', 'take-away', 'link', 'theme']) },
  {
    key: 'task',
    parts: [
      ...all(['environment', 'scene', 'prompts', 'tools', 'model']),
      {
        key: 'settings',
        parts: [
          ...all([...MAIN_SETTINGS.map(({ key }) => key), 'reward_funcs']),
          ...SETTING_GROUPS.map(({ id, settings }) => ({ key: id, parts: all([...settings.map(({ key }) => key), ...(id === 'lora' ? ['target_modules', 'backend'] : [])]) })),
        ],
      },
    ],
  },
  { key: 'group' },
  { key: 'rewards' },
  { key: 'update', parts: all(['formula', 'metrics']) },
  { key: 'trajectory', parts: all(['heat']) },
  ...all(['plan', 'compare', 'chat', 'play', 'stage', 'timeline', 'curves', 'article', 'replay', 'tour']),
]

const within = (parts: readonly HidePart[]): HidePart[] => parts.flatMap((part) => [part, ...within(part.parts ?? [])])

/** Every name, what holds others before what it holds. */
export const HIDE_KEYS: readonly string[] = within(HIDE_PARTS).map(({ key }) => key)

/** The list with `part` hidden or shown. What holds it is shown with it, less what else it holds; what it holds goes with it. */
export function withHidden(hidden: readonly string[], key: string, hide: boolean): readonly string[] {
  const next = new Set(hidden)
  const change = (parts: readonly HidePart[], above: boolean): boolean => {
    const here = parts.find((part) => part.key === key)
    if (here) {
      if (above) for (const part of parts) next.add(part.key)
      for (const part of within([here])) next.delete(part.key)
      if (hide) next.add(key)
      return true
    }
    return parts.some((part) => {
      const covered = above || hidden.includes(part.key)
      if (!change(part.parts ?? [], covered)) return false
      next.delete(part.key)
      if (covered && above) for (const other of parts) if (other !== part) next.add(other.key)
      return true
    })
  }
  change(HIDE_PARTS, false)
  return HIDE_KEYS.filter((each) => next.has(each))
}

/** Whether a part is hidden, by itself or with what holds it. */
export function isHidden(hidden: readonly string[], key: string): boolean {
  const look = (parts: readonly HidePart[], above: boolean): boolean =>
    parts.some((part) => {
      const here = above || hidden.includes(part.key)
      return part.key === key ? here : look(part.parts ?? [], here)
    })
  return look(HIDE_PARTS, false)
}

/** Names of a link that mean something, and those that do not. */
export function sortHidden(names: readonly string[]): { known: readonly string[]; unknown: readonly string[] } {
  return { known: HIDE_KEYS.filter((key) => names.includes(key)), unknown: names.filter((name) => !HIDE_KEYS.includes(name)) }
}
