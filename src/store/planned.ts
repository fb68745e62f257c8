/** A run's plan of stages in its settings: taken with a preset, left out again. Pure. */

import type { RunConfig } from '../core/config'
import { DEFAULT_STAGE } from '../core/stage'
import { isHubModel } from '../env/models'
import { presetConfig } from '../worker/protocol'
import { withModel } from './model-settings'
import { type PresetName, presetByName } from './presets'

/** A preset with stages on the model of `config`, if that is one of the Hub; its stages then have the rates that suit a large model. */
export function plannedConfig(name: PresetName, config: RunConfig): RunConfig {
  const preset = presetConfig(presetByName(name), config.grpo.seed)
  if (!isHubModel(config.model)) return { ...preset, backend: config.backend }
  const { precision, adapter, backend } = config
  const stages = (preset.stages ?? []).map(({ kind, rows, settings }) => ({ kind, rows, settings: { ...settings, learning_rate: DEFAULT_STAGE[kind].learning_rate } }))
  return { ...withModel(preset, config), ...(stages.length > 0 && { stages }), precision, adapter, backend }
}

/** The run with GRPO alone; its tools stay as they are. */
export function withoutStages({ stages: _, ...config }: RunConfig): RunConfig {
  return config
}
