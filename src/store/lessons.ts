/** The lessons by name, and the state of the page in which each begins: a link that names a lesson and no environment opens in it. */

import type { RunConfig } from '../core/config'
import type { Display } from './display'
import { defaultConfig } from './presets'
import { type SettingKey, type SettingValue, withSettings } from './settings'

export const LESSON_IDS = ['one-step', 'why-groups', 'masking', 'reward-hacking', 'zero-variance', 'clipping', 'temperature'] as const
export type LessonId = (typeof LESSON_IDS)[number]

export interface LessonStart {
  environment: 'lane' | 'echo'
  /** What differs from the environment's own settings. */
  settings?: Partial<Record<SettingKey, SettingValue>>
  /** Place in the recorded run, where it is shown. */
  at?: number
  /** Index of the selected episode. */
  episode?: number
  display: Partial<Display>
}

/** What a lesson has no use for draws the eye away from what it has. */
const ASIDE: readonly string[] = ['chat', 'play']

export const LESSON_STARTS: Record<LessonId, LessonStart> = {
  'one-step': { environment: 'lane', at: 2, episode: 0, display: { heat: 'advantage', hide: ASIDE } },
  'why-groups': { environment: 'lane', at: 3, episode: 0, display: { heat: 'author', hide: ASIDE } },
  masking: { environment: 'lane', at: 10, episode: 4, display: { heat: 'author', hide: ASIDE } },
  // At the preset's own seed it stays as it is; at this one it learns.
  'reward-hacking': { environment: 'echo', settings: { seed: 1 }, display: { heat: 'author', hide: ['play'] } },
  'zero-variance': { environment: 'lane', at: 17, episode: 0, display: { heat: 'advantage', hide: ASIDE } },
  clipping: { environment: 'lane', at: 2, episode: 0, display: { heat: 'advantage', hide: ASIDE } },
  temperature: { environment: 'lane', at: 1, episode: 0, display: { heat: 'entropy', hide: ASIDE } },
}

/** Whether a name of a link is a lesson's. */
export const isLesson = (name: string): name is LessonId => (LESSON_IDS as readonly string[]).includes(name)

/** The settings that a lesson begins with. */
export function lessonConfig(id: LessonId): RunConfig {
  const { environment, settings = {} } = LESSON_STARTS[id]
  return withSettings(defaultConfig({ kind: 'builtin', name: environment }), settings)
}
