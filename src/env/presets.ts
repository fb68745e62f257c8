/** Ready-made runs: an environment, prompts that suit it, and settings; README's Numbers say which of them were seen to learn. */

import { DEFAULT_GRPO, DEFAULT_LORA, type GrpoConfig, type LoraConfig, type RunConfig } from '../core/config'
import type { EnvironmentSpec } from '../core/environment-spec'
import { PlaygroundError } from '../core/errors'
import { isSame } from '../core/same'
import { DEFAULT_STAGE, type PlannedStage } from '../core/stage'
import type { ToolEdit } from '../core/tool-edits'
import { catchRules } from './builtin/catch'
import { echoRules } from './builtin/echo'
import { guessRules } from './builtin/guess'
import { laneRules } from './builtin/lane'
import { ARITHMETIC_SYSTEM } from './prompts/arithmetic'

export type PresetName = 'lane' | 'catch' | 'echo' | 'guess' | 'arithmetic' | 'mix' | 'staged'

export interface Preset {
  id: PresetName
  title: string
  /** One sentence. */
  description: string
  environment: EnvironmentSpec
  /** A folder of this site; absent: the shipped model. */
  model?: string
  system_prompt: string
  user_prompt: string
  enable_thinking: boolean
  /** What differs from DEFAULT_GRPO. */
  grpo: Partial<GrpoConfig>
  lora: LoraConfig
  /** Absent: the environment's tools as they are, and no stage before GRPO. */
  tool_edits?: readonly ToolEdit[]
  stages?: readonly PlannedStage[]
}

/** Folder of the model that the site ships and the presets are made for. */
export const TINY_MODEL = 'models/tiny-qwen3'

/** The shipped model, taught to write digits as well: it never had to before, and a LoRA cannot make it. */
export const TINY_NUMBERS_MODEL = 'models/tiny-qwen3-numbers'

/** The shipped model as it is, with a fresh LoRA. */
export const TINY_BASE = { model: TINY_MODEL, model_revision: 'main', precision: 'float32', adapter: null } as const

/** What suits the shipped model in an environment that has no preset (a server of one's own): it wants a far higher rate than a large model. */
export const TINY_GRPO: GrpoConfig = { ...DEFAULT_GRPO, learning_rate: 1e-3, prompts_per_step: 2 }

/** A word that the shipped model has had to write before, for a tool that it does not know by it: a LoRA cannot make it write others. */
const RENAMED: readonly ToolEdit[] = [{ kind: 'rename', tool: 'lane_change', name: 'move' }]

/** dapo, no KL, temperature 1, groups of eight and all linear layers at r 16, alpha 32 are the defaults already. */
export const PRESETS: readonly Preset[] = [
  {
    id: 'lane',
    title: 'Emergency stop',
    description: 'Something stands on the road: the model must learn to stop while there is room and else change to the free lane.',
    environment: { kind: 'builtin', name: 'lane' },
    system_prompt: laneRules.prompts.system,
    user_prompt: laneRules.prompts.user,
    enable_thinking: false,
    grpo: { prompts_per_step: 8, learning_rate: 1e-3, max_steps: 50, max_completion_length: 256, max_tool_calling_iterations: 3 },
    lora: DEFAULT_LORA,
  },
  {
    id: 'catch',
    title: 'Catch the ball',
    description: 'A ball falls for five to seven moves: the model must learn to walk under it, though the reward comes only at the end.',
    environment: { kind: 'builtin', name: 'catch' },
    system_prompt: catchRules.prompts.system,
    user_prompt: catchRules.prompts.user,
    enable_thinking: false,
    // Divided by its deviation, a nearly solved group shouts down the others: 0.79 after 40 steps instead of 0.94.
    grpo: {
      prompts_per_step: 8,
      scale_rewards: 'none',
      learning_rate: 1e-3,
      max_steps: 40,
      max_completion_length: 448,
      max_tool_calling_iterations: 7,
    },
    lora: DEFAULT_LORA,
  },
  {
    id: 'echo',
    title: 'Echo',
    description: 'The smallest run, rewarded by length as in TRL’s echo example: asked to repeat one or two words, the model learns to ramble.',
    environment: { kind: 'builtin', name: 'echo' },
    system_prompt: echoRules.prompts.system,
    user_prompt: echoRules.prompts.user,
    enable_thinking: false,
    grpo: {
      num_generations: 16,
      prompts_per_step: 4,
      learning_rate: 3e-3,
      lr_scheduler_type: 'linear',
      max_steps: 30,
      max_completion_length: 64,
      max_tool_calling_iterations: 1,
    },
    lora: DEFAULT_LORA,
  },
  {
    id: 'guess',
    title: 'Guess the number',
    description: 'A secret number, three guesses, higher or lower: the model must learn to halve the range instead of counting through it.',
    environment: { kind: 'builtin', name: 'guess' },
    model: TINY_NUMBERS_MODEL,
    system_prompt: guessRules.prompts.system,
    user_prompt: guessRules.prompts.user,
    enable_thinking: false,
    grpo: { prompts_per_step: 8, learning_rate: 1e-3, max_steps: 50, max_completion_length: 256, max_tool_calling_iterations: 3 },
    lora: DEFAULT_LORA,
  },
  {
    id: 'arithmetic',
    title: 'Sums',
    description: 'A sum, one answer in a box, and a reward that compares as mathematics: no environment, only prompts with a known solution.',
    environment: { kind: 'prompts', dataset: { kind: 'builtin', name: 'arithmetic' } },
    model: TINY_NUMBERS_MODEL,
    system_prompt: ARITHMETIC_SYSTEM,
    user_prompt: '',
    enable_thinking: false,
    grpo: { prompts_per_step: 8, learning_rate: 1e-3, max_steps: 60, max_completion_length: 32, reward_funcs: [{ name: 'accuracy_reward' }] },
    lora: DEFAULT_LORA,
  },
  {
    id: 'mix',
    title: 'Two games at once',
    description: 'Emergency stop and catch in one run, half of the prompts each: one adapter for both, each with its own tools and reward..',
    environment: {
      kind: 'mix',
      members: [laneRules, catchRules].map(({ name, prompts }) => ({
        environment: { kind: 'builtin' as const, name: name === 'lane' ? ('lane' as const) : ('catch' as const) },
        weight: 1,
        system_prompt: prompts.system,
        user_prompt: prompts.user,
      })),
      dataset: null,
    },
    system_prompt: '',
    user_prompt: '',
    enable_thinking: false,
    grpo: {
      prompts_per_step: 8,
      scale_rewards: 'none',
      learning_rate: 1e-3,
      max_steps: 60,
      max_completion_length: 448,
      max_tool_calling_iterations: 7,
    },
    lora: DEFAULT_LORA,
  },
  {
    id: 'staged',
    title: 'SFT, DPO, GRPO',
    description: 'Emergency stop with a tool under a name that the model does not know: SFT shows it the form by games of random calls, DPO prefers the better of its own games, GRPO does the rest. Train makes all three.',
    environment: { kind: 'builtin', name: 'lane' },
    system_prompt: laneRules.prompts.system,
    user_prompt: laneRules.prompts.user,
    enable_thinking: false,
    grpo: { prompts_per_step: 8, learning_rate: 1e-3, max_steps: 50, max_completion_length: 256, max_tool_calling_iterations: 3, eval_strategy: 'steps', eval_on_start: false, eval_episodes: 64 },
    lora: DEFAULT_LORA,
    tool_edits: RENAMED,
    stages: [
      { kind: 'sft', rows: { from: 'random', games: 240 }, settings: { ...DEFAULT_STAGE.sft, learning_rate: 2e-3, max_steps: 150 } },
      // Hinge stops at a margin: sigmoid goes on pushing, and valid calls fell from 0.95 to 0.10 within 40 steps.
      {
        kind: 'dpo',
        rows: { from: 'pairs', groups: 64 },
        settings: { ...DEFAULT_STAGE.dpo, learning_rate: 1e-3, max_steps: 30, per_device_train_batch_size: 32, loss_type: 'hinge', beta: 0.5 },
      },
    ],
  },
]

/** A preset by its id; throws PlaygroundError('config') when there is none. */
export function presetById(id: string): Preset {
  const preset = PRESETS.find((p) => p.id === id)
  if (preset === undefined) {
    throw new PlaygroundError('config', `There is no preset "${id}".`, `Choose one of ${PRESETS.map((p) => p.id).join(', ')}.`)
  }
  return preset
}

/** The preset that an environment belongs to, one without stages; undefined where nobody made one for it. */
export function presetOf(environment: EnvironmentSpec): Preset | undefined {
  return PRESETS.find((preset) => !preset.stages && isSame(preset.environment, environment))
}

/** The preset that a run was begun from: with stages and its tools as they are there, the one of its environment that has some. */
export function presetOfRun({ environment, stages, tool_edits }: Pick<RunConfig, 'environment' | 'stages' | 'tool_edits'>): Preset | undefined {
  return (stages && PRESETS.find((preset) => preset.stages && isSame([preset.environment, preset.tool_edits ?? []], [environment, tool_edits]))) ?? presetOf(environment)
}

/** The whole run that a preset stands for. */
export function presetConfig(preset: Preset, seed = DEFAULT_GRPO.seed): RunConfig {
  const { environment, model, system_prompt, user_prompt, enable_thinking, grpo, lora, tool_edits = [], stages } = preset
  return {
    environment,
    tool_edits: [...tool_edits],
    ...TINY_BASE,
    ...(model !== undefined && { model }),
    system_prompt,
    user_prompt,
    enable_thinking,
    grpo: { ...DEFAULT_GRPO, ...grpo, seed },
    lora: { ...lora, target_modules: [...lora.target_modules] },
    ...(stages && { stages: [...stages] }),
    backend: 'auto',
  }
}
