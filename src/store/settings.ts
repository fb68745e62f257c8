/** The table of every setting a person may change: its TRL name, its limits, how it is read from and written to text. */

import { z } from 'zod/mini'
import { EVAL_STRATEGIES, type GrpoConfig, IMPORTANCE_SAMPLING_LEVELS, LORA_TARGETS, type LoraTarget, LOSS_TYPES, MISMATCH_MODES, type RunConfig } from '../core/config'
import { conflictsOf } from '../core/conflicts'
import { readNumber, readWhole } from '../core/typed-number'

/** Settings that have a control; TRL's names, with PEFT's r and lora_alpha. */
export type SettingKey =
  | Exclude<keyof GrpoConfig, 'adam_beta1' | 'adam_beta2' | 'adam_epsilon' | 'weight_decay' | 'reward_funcs' | 'reward_weights'>
  | 'use_peft'
  | 'r'
  | 'lora_alpha'
export type SettingValue = number | string | boolean | null

export type Setting = {
  key: SettingKey
  /** Whether text 'off' is allowed and means null. */
  off: boolean
} & (
  | { kind: 'number'; integer: boolean; min: number; max: number; step: number; /** min itself is refused. */ above: boolean }
  | { kind: 'choice'; options: readonly string[] }
  | { kind: 'flag' }
)

const whole = (key: SettingKey, min: number, max: number): Setting => ({
  key,
  kind: 'number',
  integer: true,
  min,
  max,
  step: 1,
  above: false,
  off: false,
})
const real = (key: SettingKey, min: number, max: number, step: number, more: { off?: boolean; above?: boolean } = {}): Setting => ({
  key,
  kind: 'number',
  integer: false,
  min,
  max,
  step,
  above: more.above ?? false,
  off: more.off ?? false,
})
const choice = (key: SettingKey, ...options: readonly string[]): Setting => ({ key, kind: 'choice', options, off: false })
const flag = (key: SettingKey): Setting => ({ key, kind: 'flag', off: false })

/** Shown at once; the rest is one click away. */
export const MAIN_SETTINGS: readonly Setting[] = [
  whole('seed', 0, 2 ** 31 - 1),
  real('learning_rate', 0, 1, 0.0001),
  whole('num_generations', 2, 64),
  whole('prompts_per_step', 1, 64),
  whole('max_steps', 1, 100_000),
  real('temperature', 0, 5, 0.1, { above: true }),
]

export type SettingGroup = 'loss' | 'masks' | 'families' | 'mismatch' | 'schedule' | 'sampling' | 'evaluation' | 'lora'

export const SETTING_GROUPS: readonly { id: SettingGroup; settings: readonly Setting[] }[] = [
  {
    id: 'loss',
    settings: [
      choice('loss_type', ...LOSS_TYPES),
      choice('scale_rewards', 'group', 'batch', 'none'),
      choice('multi_objective_aggregation', 'sum_then_normalize', 'normalize_then_sum'),
      choice('importance_sampling_level', ...IMPORTANCE_SAMPLING_LEVELS),
      real('epsilon', 0, 10, 0.05),
      real('epsilon_high', 0, 10, 0.05, { off: true }),
      real('delta', 0, 100, 0.5, { off: true, above: true }),
      real('beta', 0, 10, 0.01),
      flag('use_bias_correction_kl'),
      whole('num_iterations', 1, 16),
      whole('steps_per_generation', 1, 16),
    ],
  },
  {
    id: 'masks',
    settings: [
      flag('mask_truncated_completions'),
      real('top_entropy_quantile', 0, 1, 0.1, { above: true }),
      real('entropy_coef', 0, 10, 0.001),
      flag('use_adaptive_entropy'),
      real('entropy_target', 0, 20, 0.05),
      real('entropy_coef_delta', 0, 1, 0.001),
      real('entropy_coef_min', 0, 10, 0.001),
      real('entropy_coef_max', 0, 10, 0.1),
      real('off_policy_mask_threshold', -100, 100, 0.1, { off: true }),
    ],
  },
  {
    id: 'families',
    settings: [
      real('sapo_temperature_pos', 0, 100, 0.05, { above: true }),
      real('sapo_temperature_neg', 0, 100, 0.05, { above: true }),
      real('vespo_k_pos', 0, 100, 0.5),
      real('vespo_lambda_pos', 0, 100, 0.5),
      real('vespo_k_neg', 0, 100, 0.5),
      real('vespo_lambda_neg', 0, 100, 0.5),
    ],
  },
  {
    id: 'mismatch',
    settings: [
      flag('vllm_importance_sampling_correction'),
      choice('vllm_importance_sampling_mode', ...MISMATCH_MODES),
      real('vllm_importance_sampling_clip_max', 0, 1000, 0.5, { off: true, above: true }),
      real('vllm_importance_sampling_clip_min', 0, 1000, 0.1, { off: true }),
    ],
  },
  {
    id: 'schedule',
    settings: [
      choice('lr_scheduler_type', 'constant', 'linear', 'cosine'),
      whole('warmup_steps', 0, 100_000),
      real('max_grad_norm', 0, 1000, 0.1, { above: true }),
      real('target_reward', -1e6, 1e6, 0.05, { off: true }),
    ],
  },
  {
    id: 'sampling',
    settings: [
      whole('max_completion_length', 1, 32_768),
      whole('max_tool_calling_iterations', 1, 1000),
      real('top_p', 0, 1, 0.05, { above: true }),
      whole('top_k', 0, 200_000),
      real('min_p', 0, 1, 0.01, { off: true }),
      flag('dynamic_sampling'),
      whole('max_resampled_groups', 1, 1000),
      whole('max_staleness', 0, 1),
    ],
  },
  {
    id: 'evaluation',
    settings: [choice('eval_strategy', ...EVAL_STRATEGIES), whole('eval_steps', 1, 100_000), flag('eval_on_start'), whole('eval_episodes', 1, 1000), flag('eval_greedy')],
  },
  { id: 'lora', settings: [flag('use_peft'), whole('r', 1, 256), real('lora_alpha', 0, 1024, 1, { above: true })] },
]

export const ALL_SETTINGS: readonly Setting[] = [...MAIN_SETTINGS, ...SETTING_GROUPS.flatMap((g) => g.settings)]

/** The value a config holds for a setting. */
export function getSetting(config: RunConfig, key: SettingKey): SettingValue {
  if (key === 'use_peft') return config.use_peft ?? true
  return key === 'r' || key === 'lora_alpha' ? config.lora[key] : config.grpo[key]
}

/** A copy of the config with one setting changed. The value must have come from `readSetting`. */
export function setSetting(config: RunConfig, key: SettingKey, value: SettingValue): RunConfig {
  if (key === 'use_peft') {
    const { use_peft: _, ...rest } = config
    return value === false ? { ...rest, use_peft: false } : rest
  }
  return key === 'r' || key === 'lora_alpha'
    ? { ...config, lora: { ...config.lora, [key]: value } }
    : { ...config, grpo: { ...config.grpo, [key]: value } }
}

/** What a setting accepts, as a schema over the parsed value. */
function schemaOf(setting: Setting): z.ZodMiniType<SettingValue> {
  if (setting.kind === 'choice') return z.enum(setting.options as [string, ...string[]])
  if (setting.kind === 'flag') return z.boolean()
  const limits = [setting.above ? z.gt(setting.min) : z.gte(setting.min), z.lte(setting.max)]
  const number = (setting.integer ? z.int() : z.number()).check(...limits)
  return setting.off ? z.nullable(number) : number
}

/** A copy of the config with several settings changed. */
export function withSettings(config: RunConfig, settings: Partial<Record<SettingKey, SettingValue>>): RunConfig {
  return (Object.keys(settings) as SettingKey[]).reduce((next, key) => setSetting(next, key, settings[key] ?? null), config)
}

/** Why a setting cannot stand beside the others, and what to change; null where it can. */
export function conflictOf(config: RunConfig, key: SettingKey): string | null {
  const found = conflictsOf(config.grpo, config).find(({ keys }) => (keys as readonly string[]).includes(key))
  return found ? `${found.why}. ${found.advice}` : null
}

export type Read<T> = { ok: true; value: T } | { ok: false; why: string }

/** What the setting accepts, in words: "a whole number from 2 to 64". */
export function limitsOf(setting: Setting): string {
  if (setting.kind === 'choice') return `one of ${setting.options.join(', ')}`
  if (setting.kind === 'flag') return 'true or false'
  const noun = setting.integer ? 'a whole number' : 'a number'
  const from = setting.above ? `above ${setting.min} and up to ${setting.max}` : `from ${setting.min} to ${setting.max}`
  return `${noun} ${from}${setting.off ? ', or off' : ''}`
}

/** Text (of a control or a link) → value; `why` says what is accepted. Empty text means off where off is allowed. */
export function readSetting(setting: Setting, text: string): Read<SettingValue> {
  const trimmed = text.trim()
  let value: SettingValue = trimmed
  if (setting.kind === 'number') {
    const isOff = setting.off && (trimmed === '' || trimmed === 'off')
    value = isOff ? null : setting.integer ? readWhole(trimmed) : readNumber(trimmed)
  }
  if (setting.kind === 'flag') value = trimmed === 'true' ? true : trimmed === 'false' ? false : trimmed
  const result = schemaOf(setting).safeParse(value)
  return result.success ? { ok: true, value: result.data } : { ok: false, why: `${setting.key} must be ${limitsOf(setting)}` }
}

/** Value → the text that `readSetting` reads back. */
export function writeSetting(value: SettingValue): string {
  return value === null ? 'off' : String(value)
}

/** LoRA targets from a comma-separated list; at least one, in the order of LORA_TARGETS. */
export function readTargets(text: string): Read<LoraTarget[]> {
  const names = text.split(',').map((name) => name.trim())
  const known = LORA_TARGETS.filter((target) => names.includes(target))
  if (known.length === 0 || known.length !== new Set(names).size) {
    return { ok: false, why: `lora_targets must be a list of ${LORA_TARGETS.join(', ')}` }
  }
  return { ok: true, value: known }
}
