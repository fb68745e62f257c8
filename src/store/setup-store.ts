/** The settings as the controls show them, beside those the worker runs with. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import type { RunConfig } from '../core/config'
import type { EnvironmentSpec } from '../core/environment-spec'
import { isSame } from '../core/same'
import type { Command } from '../worker/protocol'
import { defaultConfig } from './presets'
import type { SettingKey } from './settings'

/** What of which stage cannot be taken: "stage 2 (DPO)", "beta must be above 0". */
export interface RefusedStage {
  place: string
  why: string
}

export interface SetupView {
  /** What the controls show. */
  config: RunConfig
  /** What the worker was last configured with; null before the first time. */
  applied: RunConfig | null
  /** Sentences about a link that could not be used in full. */
  problems: readonly string[]
  /** Servers, datasets of the Hub or code that a link names wait for a person's word before anything is contacted or run. */
  awaitsConsent: boolean
  /** Settings in whose control something stands that was not taken: the run would use their last good value. */
  refused: readonly SettingKey[]
  /** The same of the plan's stages: Train waits for them. */
  refusedStages: readonly RefusedStage[]
  /** Train or Step was pressed before the model was there: it begins then. */
  pressed: boolean
  /** The environment that could not be taken, while the run before it stands; null mostly. */
  turnedDown: EnvironmentSpec | null
  /** What loads a kept run, while that has not come. */
  resuming: Extract<Command, { type: 'resume' }> | null
}

export type SetupStore = StoreApi<SetupView>

export function createSetupStore(): SetupStore {
  return createStore<SetupView>(() => ({ config: defaultConfig(), applied: null, problems: [], awaitsConsent: false, refused: [], refusedStages: [], pressed: false, turnedDown: null, resuming: null }))
}

/** Whether two configs say the same. */
export const sameConfig = (a: RunConfig, b: RunConfig): boolean => isSame(a, b)

/** Whether a kept run with these settings is loaded on another base than they say: it can be measured there, not trained. */
export function isToMeasure({ precision }: NonNullable<SetupView['resuming']>, config: RunConfig): boolean {
  return precision !== undefined && precision !== config.precision
}

/** Whether the controls differ from what the worker has. */
export function hasChanges({ config, applied }: SetupView): boolean {
  return applied !== null && !sameConfig(config, applied)
}

/** Whether all that differs is where the run ends: it can go on with that as it is. */
export function onlyEndDiffers(setup: SetupView): boolean {
  const { config, applied } = setup
  if (!applied || !hasChanges(setup)) return false
  const { max_steps, target_reward } = config.grpo
  return sameConfig({ ...applied, grpo: { ...applied.grpo, max_steps, target_reward } }, config)
}
