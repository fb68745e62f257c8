/** How far a page is from what a card wants trained, and what is to be pressed next. Pure. */

import type { RunConfig } from '../../core/config'
import { isFresh } from '../../store/controller'
import { getSetting, type SettingKey, withSettings, writeSetting } from '../../store/settings'
import { defaultConfig } from '../../store/presets'
import { isActive, type RunView } from '../../store/view'
import type { Wants } from './card'

export type Progress =
  | { state: 'met' }
  /** The settings must be changed: the card does it on request. */
  | { state: 'set' }
  /** Reset takes the settings over. */
  | { state: 'reset' }
  /** Step or Train is to be pressed. */
  | { state: 'press'; steps: number; done: number }
  | { state: 'running'; steps: number; done: number }
  | { state: 'loading' }

interface Page {
  config: RunConfig
  applied: RunConfig | null
  /** Of the worker, never the recorded run. */
  view: RunView
}

const keysOf = ({ settings }: Wants) => Object.keys(settings) as SettingKey[]

/** Whether a config is what the card wants. */
export function suits(config: RunConfig | null, wants: Wants): boolean {
  if (config === null) return false
  const { environment } = config
  if (wants.environment && (environment.kind !== 'builtin' || environment.name !== wants.environment)) return false
  return keysOf(wants).every((key) => getSetting(config, key) === wants.settings[key])
}

/** The config with what the card wants. Another environment brings its own starting settings. */
export function withWants(config: RunConfig, wants: Wants): RunConfig {
  const { environment } = config
  const other = wants.environment && (environment.kind !== 'builtin' || environment.name !== wants.environment)
  const base = other ? { ...defaultConfig({ kind: 'builtin', name: wants.environment as 'lane' | 'echo' }), backend: config.backend } : config
  return withSettings(base, wants.settings)
}

/** 'num_generations 16, prompts_per_step 4' */
export function settingsInWords(wants: Wants): string {
  return keysOf(wants)
    .map((key) => `${key} ${writeSetting(wants.settings[key] ?? null)}`)
    .join(', ')
}

/** What is to be done next. */
export function progressOf(wants: Wants, { config, applied, view }: Page): Progress {
  const done = view.history.length
  const { steps } = wants
  if (suits(applied, wants) && done >= steps) return { state: 'met' }
  if (!suits(config, wants)) return { state: 'set' }
  const fresh = isFresh(view)
  if (!fresh && !suits(applied, wants)) return { state: 'reset' }
  if (isActive(view.run)) return { state: 'running', steps, done }
  if (view.run.state === 'loading' || view.run.state === 'load-paused') return { state: 'loading' }
  return { state: 'press', steps, done }
}
