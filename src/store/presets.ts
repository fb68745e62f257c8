/** Which settings an environment starts from: its preset's, or the shipped model's defaults for one that has none. */

import { DEFAULT_GRPO, DEFAULT_LORA, type GrpoConfig, type RunConfig } from '../core/config'
import { type EnvironmentSpec, singleSpecs } from '../core/environment-spec'
import { OWN_REWARD, type RewardFunc } from '../core/reward-funcs'
import type { PlannedStage, StageKind } from '../core/stage'
import { PRESETS, presetById, presetConfig, presetOf, presetOfRun, TINY_BASE, TINY_GRPO, type Preset } from '../worker/protocol'

export { presetOf, presetOfRun }

export type PresetName = Preset['id']

export const PRESET_NAMES: readonly PresetName[] = PRESETS.map((preset) => preset.id)
const FIRST_PRESET: PresetName = 'lane'

/** A preset that there is. */
export const presetByName = (name: PresetName): Preset => presetById(name)

/** A stage of this kind as the preset with stages has it on a model of this site. */
export const shownStage = (kind: StageKind): PlannedStage | undefined => presetByName('staged').stages?.find((stage) => stage.kind === kind)

/** The config that a run with this environment, these tools and these stages was begun from, before anything was changed. */
export function startOf(config: Pick<RunConfig, 'environment' | 'stages' | 'tool_edits'>): RunConfig {
  const preset = presetOfRun(config)
  return preset?.stages ? presetConfig(preset) : defaultConfig(config.environment)
}

/** The config before anything is changed; without an environment, that of the first preset. */
export function defaultConfig(environment: EnvironmentSpec = presetById(FIRST_PRESET).environment): RunConfig {
  const preset = presetOf(environment)
  if (preset) return presetConfig(preset)
  return {
    environment,
    tool_edits: [],
    ...TINY_BASE,
    // Filled with the environment's own once it is connected, if it has any.
    system_prompt: '',
    user_prompt: '',
    enable_thinking: false,
    grpo: { ...TINY_GRPO, ...suiting(environment) },
    lora: { ...DEFAULT_LORA, target_modules: [...DEFAULT_LORA.target_modules] },
    backend: 'auto',
  }
}

/** What differs from the defaults: room for the longest of several environments, and someone who judges where no environment does. */
function suiting(environment: EnvironmentSpec): Partial<GrpoConfig> {
  const members = singleSpecs(environment)
  const answers = members.filter(({ kind }) => kind === 'prompts').length
  const judges: RewardFunc[] = [...(answers < members.length ? [OWN_REWARD] : []), ...(answers > 0 ? [{ name: 'accuracy_reward' } as const] : [])]
  const known = environment.kind === 'mix' ? members.flatMap((member) => presetOf(member)?.grpo ?? []) : []
  const most = (key: 'prompts_per_step' | 'max_completion_length' | 'max_tool_calling_iterations') => Math.max(...known.map((grpo) => grpo[key] ?? DEFAULT_GRPO[key]))
  return {
    ...(answers > 0 && { reward_funcs: judges }),
    ...(known.length > 0 && {
      prompts_per_step: most('prompts_per_step'),
      max_completion_length: most('max_completion_length'),
      max_tool_calling_iterations: most('max_tool_calling_iterations'),
    }),
  }
}
