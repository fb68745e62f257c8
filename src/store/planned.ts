/** A run's plan of stages in its settings: taken with a preset, composed stage by stage, left out again. Pure. */

import type { RunConfig } from '../core/config'
import { DEFAULT_STAGE, type PlannedStage, type StageKind, type StageRows } from '../core/stage'
import { isHubModel } from '../env/models'
import { presetConfig } from '../worker/protocol'
import { withModel } from './model-settings'
import { type PresetName, presetByName, shownStage } from './presets'

/** Groups that a stage plays at first. */
const FIRST_GROUPS = 64

/** A preset with stages on the model of `config`, if that is one of the Hub; its stages then have the rates that suit a large model. */
export function plannedConfig(name: PresetName, config: RunConfig): RunConfig {
  const preset = presetConfig(presetByName(name), config.grpo.seed)
  if (!isHubModel(config.model)) return { ...preset, backend: config.backend }
  const { precision, adapter, backend } = config
  return { ...withModel(preset, config), precision, adapter, backend }
}

/** The run with GRPO alone; its tools stay as they are. */
export function withoutStages({ stages: _, ...config }: RunConfig): RunConfig {
  return config
}

/** The run with this plan; none where it is empty. */
export function withStages(config: RunConfig, stages: readonly PlannedStage[]): RunConfig {
  if (stages.length === 0) return withoutStages(config)
  return { ...config, stages: [...stages] }
}

/**
 * What a stage that is added begins with: on a model of this site as in the preset with stages, on one of the Hub what suits a large model.
 * `randomly`: the environment's calls can be drawn at random; else SFT imitates the model's own episodes.
 */
export function firstStage(kind: StageKind, { model }: Pick<RunConfig, 'model'>, randomly: boolean): PlannedStage {
  const shown = shownStage(kind)
  const settings = (!isHubModel(model) && shown?.settings) || DEFAULT_STAGE[kind]
  const rows: StageRows = kind === 'sft' && !randomly ? { from: 'episodes', groups: FIRST_GROUPS, least: 1 } : (shown?.rows ?? { from: 'pairs', groups: FIRST_GROUPS })
  return { kind, rows: { ...rows }, settings: { ...settings } }
}

/** The plan with a stage at this place, those from there on after it. */
export const withStage = (plan: readonly PlannedStage[], at: number, stage: PlannedStage): PlannedStage[] => [...plan.slice(0, at), stage, ...plan.slice(at)]

/** The plan without the stage at this place. */
export const withoutStage = (plan: readonly PlannedStage[], at: number): PlannedStage[] => plan.filter((_, i) => i !== at)

/** The plan with a stage at another place; as it is where there is no such place. */
export function movedStage(plan: readonly PlannedStage[], from: number, to: number): PlannedStage[] {
  const stage = plan[from]
  return stage && to >= 0 && to < plan.length ? withStage(withoutStage(plan, from), to, stage) : [...plan]
}
