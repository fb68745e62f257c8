/** How the choice of a model changes a run's settings, and when a choice must wait for a person's word. Pure. */

import { DEFAULT_GRPO, type GrpoConfig, type RunConfig } from '../core/config'
import { DEFAULT_STAGE, type PlannedStage } from '../core/stage'
import { isHubModel } from '../env/models'
import { defaultConfig, shownStage } from './presets'

export interface ModelChoice {
  model: string
  model_revision: string
}

/**
 * The config with another model and the settings that suit it. A Hub model starts from 4 bits and TRL's defaults (one group of
 * eight, 512 tokens, 2e-5; planned stages likewise), going back to a model of this site restores its preset; from one Hub model to another, or of this
 * site, the settings stay. Environment, prompts, seed, LoRA shape and backend are kept; a starting adapter belongs to its base and goes.
 */
export function withModel(config: RunConfig, { model, model_revision }: ModelChoice): RunConfig {
  if (model === config.model) return { ...config, model_revision }
  const next: RunConfig = { ...config, model, model_revision, adapter: null }
  const preset = defaultConfig(config.environment)
  if (isHubModel(model) === isHubModel(config.model)) return next
  if (next.stages) next.stages = suitedStages(next.stages, isHubModel(model))
  const large: GrpoConfig = { ...DEFAULT_GRPO, max_tool_calling_iterations: preset.grpo.max_tool_calling_iterations }
  if (isHubModel(model)) return { ...next, precision: 'int4', grpo: suited(config.grpo, preset.grpo, large) }
  return { ...next, precision: preset.precision, grpo: suited(config.grpo, large, preset.grpo) }
}

/** The settings that the choice of a Hub model changed against its environment's preset and that still are as it set them; empty for a model of this site. */
export function suitedSettings(config: RunConfig): [keyof GrpoConfig, GrpoConfig[keyof GrpoConfig]][] {
  if (!isHubModel(config.model)) return []
  const preset = defaultConfig(config.environment)
  const suits = withModel(preset, config).grpo
  const keys = Object.keys(suits) as (keyof GrpoConfig)[]
  return keys.flatMap((key) => (suits[key] !== preset.grpo[key] && config.grpo[key] === suits[key] ? [[key, suits[key]]] : []))
}

/** Learning rates of planned stages that still are as a stage of the former model begins become those of the new one. */
function suitedStages(stages: readonly PlannedStage[], large: boolean): PlannedStage[] {
  return stages.map((stage) => {
    const shipped = shownStage(stage.kind)?.settings.learning_rate ?? NaN
    const usual = DEFAULT_STAGE[stage.kind].learning_rate
    const [former, learning_rate] = large ? [shipped, usual] : [usual, shipped]
    return stage.settings.learning_rate === former ? { ...stage, settings: { ...stage.settings, learning_rate } } : stage
  })
}

/** What a person changed stays; what still is as the former model's settings were becomes the new model's. */
function suited(now: GrpoConfig, former: GrpoConfig, next: GrpoConfig): GrpoConfig {
  const keys = Object.keys(next) as (keyof GrpoConfig)[]
  return Object.fromEntries(keys.map((key) => [key, key === 'seed' || now[key] !== former[key] ? now[key] : next[key]])) as unknown as GrpoConfig
}

/**
 * The settings that an environment starts from with the model of `config` and its adapter. A folder of this site other than the
 * shipped model (a link may name one that is not there) gives way to it.
 */
export function defaultWithModel(environment: RunConfig['environment'], config: RunConfig): RunConfig {
  const preset = defaultConfig(environment)
  if (!isHubModel(config.model) && config.model !== preset.model) return preset
  return { ...withModel(preset, config), precision: config.precision, adapter: config.adapter }
}

/** Whether loading this config may fetch from the Hub. */
export function isFromHub({ model, adapter }: Pick<RunConfig, 'model' | 'adapter'>): boolean {
  return isHubModel(model) || adapter?.kind === 'hub'
}

/** Equal for configs that load the same weights. */
export function weightsKey({ model, model_revision, precision, adapter }: RunConfig): string {
  return JSON.stringify([model, model_revision, precision, adapter])
}

/** The controls name weights from the Hub that the worker was not told to load: only a press on Load may fetch them. */
export function needsLoad({ config, applied }: { config: RunConfig; applied: RunConfig | null }): boolean {
  return isFromHub(config) && (applied === null || weightsKey(applied) !== weightsKey(config))
}

/** A model's name without its owner or folder. */
export function shortName(model: string): string {
  return model.split('/').at(-1) ?? model
}

/** 'owner/name@revision'; 'main' is left out. */
export function writeReference(repo: string, revision: string): string {
  return revision === 'main' ? repo : `${repo}@${revision}`
}
