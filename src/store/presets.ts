/** Which settings an environment starts from: its preset's, or the shipped model's defaults for a server of one's own. */

import { DEFAULT_LORA, type RunConfig } from '../core/config'
import type { EnvironmentSpec } from '../core/environment-spec'
import { PRESETS, presetById, presetConfig, TINY_BASE, TINY_GRPO, type Preset } from '../worker/protocol'

export type PresetName = Preset['id']

export const PRESET_NAMES: readonly PresetName[] = PRESETS.map((preset) => preset.id)
const FIRST_PRESET: PresetName = 'lane'

/** The config before anything is changed; without an environment, that of the first preset. */
export function defaultConfig(environment: EnvironmentSpec = { kind: 'builtin', name: FIRST_PRESET }): RunConfig {
  if (environment.kind === 'builtin') return presetConfig(presetById(environment.name))
  return {
    environment,
    tool_edits: [],
    ...TINY_BASE,
    // Filled with the environment's own once it is connected, if it has any.
    system_prompt: '',
    user_prompt: '',
    enable_thinking: false,
    grpo: { ...TINY_GRPO },
    lora: { ...DEFAULT_LORA, target_modules: [...DEFAULT_LORA.target_modules] },
    backend: 'auto',
  }
}
