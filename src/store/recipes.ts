/** Named recipes that TRL documents, as changes to its defaults of the loss settings; which of them given settings are. */

import { DEFAULT_GRPO, type GrpoConfig, type RunConfig } from '../core/config'
import { conflictsOf } from '../core/conflicts'
import { defaultConfig } from './presets'
import { SETTING_GROUPS, type SettingGroup, type SettingKey, writeSetting } from './settings'

export const RECIPE_IDS = ['trl', 'gspo', 'dapo', 'dr_grpo', 'lite_ppo', 'scale_rl', '80_20', 'intellect_2', 'deepseek_r1', '2_grpo', 'sapo', 'vespo', 'luspo'] as const
export type RecipeId = (typeof RECIPE_IDS)[number]

export interface Recipe {
  /** As papers and TRL call it; the one of the defaults has none. */
  name: string
  /** What differs from TRL's defaults. A size stands here only where the recipe is about it. */
  patch: Partial<GrpoConfig>
}

export const RECIPES: Readonly<Record<RecipeId, Recipe>> = {
  trl: { name: 'TRL', patch: {} },
  gspo: {
    name: 'GSPO',
    patch: { loss_type: 'grpo', importance_sampling_level: 'sequence', beta: 0, epsilon: 3e-4, epsilon_high: 4e-4, steps_per_generation: 4 },
  },
  dapo: { name: 'DAPO', patch: { loss_type: 'dapo', epsilon_high: 0.28, mask_truncated_completions: true, dynamic_sampling: true } },
  dr_grpo: { name: 'Dr. GRPO', patch: { loss_type: 'dr_grpo', scale_rewards: 'none' } },
  lite_ppo: { name: 'Lite PPO', patch: { loss_type: 'dapo', scale_rewards: 'batch' } },
  scale_rl: { name: 'ScaleRL', patch: { loss_type: 'cispo', epsilon_high: 5, scale_rewards: 'batch', num_generations: 16 } },
  '80_20': { name: '80/20', patch: { top_entropy_quantile: 0.2 } },
  intellect_2: { name: 'INTELLECT-2', patch: { delta: 4, beta: 0.001 } },
  deepseek_r1: { name: 'DeepSeek-R1', patch: { beta: 0.001 } },
  '2_grpo': { name: '2-GRPO', patch: { num_generations: 2 } },
  sapo: { name: 'SAPO', patch: { loss_type: 'sapo' } },
  // TRL refuses it with the sequence modes, of which one is the default.
  vespo: { name: 'VESPO', patch: { loss_type: 'vespo', vllm_importance_sampling_mode: 'token_truncate' } },
  luspo: { name: 'LUSPO', patch: { loss_type: 'luspo', importance_sampling_level: 'sequence', epsilon: 2e-3, epsilon_high: 2.5e-3 } },
}

type Key = SettingKey & keyof GrpoConfig

const GROUPS: readonly SettingGroup[] = ['loss', 'masks', 'families', 'mismatch']
/** What every recipe settles; the rest is a recipe's business only where its patch says so. */
const SETTLED: readonly Key[] = [
  ...SETTING_GROUPS.filter(({ id }) => GROUPS.includes(id)).flatMap(({ settings }) => settings.map(({ key }) => key as Key)),
  'dynamic_sampling',
]

const sizesOf = ({ patch }: Recipe): Key[] => (Object.keys(patch) as Key[]).filter((key) => !SETTLED.includes(key))

/** The recipe that these settings are, the one that says most; null for settings of one's own. */
export function recipeOf(grpo: GrpoConfig): RecipeId | null {
  const fits = RECIPE_IDS.filter((id) => {
    const recipe = RECIPES[id]
    const wanted = { ...DEFAULT_GRPO, ...recipe.patch }
    return [...SETTLED, ...sizesOf(recipe)].every((key) => grpo[key] === wanted[key])
  })
  return fits.toSorted((a, b) => sizesOf(RECIPES[b]).length - sizesOf(RECIPES[a]).length)[0] ?? null
}

/** The settings with a recipe over TRL's defaults. Sizes that the recipe before had changed go back to where the task begins. */
export function withRecipe(config: RunConfig, id: RecipeId): RunConfig {
  const before = recipeOf(config.grpo)
  const start = defaultConfig(config.environment).grpo
  const settled = Object.fromEntries(SETTLED.map((key) => [key, DEFAULT_GRPO[key]]))
  const sizes = before === null ? {} : Object.fromEntries(sizesOf(RECIPES[before]).map((key) => [key, start[key]]))
  return { ...config, grpo: { ...config.grpo, ...settled, ...sizes, ...RECIPES[id].patch } }
}

/** Why a recipe cannot be taken with the settings that it leaves alone, as a sentence; null where it can. */
export function recipeRefused(config: RunConfig, id: RecipeId): string | null {
  const [conflict] = conflictsOf(withRecipe(config, id).grpo, config)
  return conflict ? `${conflict.why}. ${conflict.advice}.` : null
}

/** Where the settings differ from TRL's defaults, of all that a recipe settles: 'epsilon_high 0.28'. */
export function changesOf(grpo: GrpoConfig): string[] {
  const id = recipeOf(grpo)
  const keys = [...SETTLED, ...(id ? sizesOf(RECIPES[id]) : [])]
  return keys.filter((key) => grpo[key] !== DEFAULT_GRPO[key]).map((key) => `${key} ${writeSetting(grpo[key])}`)
}
