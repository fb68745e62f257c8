/** Settings of a run, under TRL's and PEFT's names, with TRL's meaning. */

import type { EnvironmentSpec, PageFunction } from './environment-spec'
import { OWN_REWARD, type RewardFunc } from './reward-funcs'
import type { PlannedStage } from './stage'
import type { ToolEdit } from './tool-edits'

export const LOSS_TYPES = ['grpo', 'bnpo', 'dr_grpo', 'dapo', 'cispo', 'sapo', 'vespo', 'luspo'] as const
export type LossType = (typeof LOSS_TYPES)[number]
export const IMPORTANCE_SAMPLING_LEVELS = ['token', 'sequence'] as const
export type ImportanceSamplingLevel = (typeof IMPORTANCE_SAMPLING_LEVELS)[number]
export const MISMATCH_MODES = ['token_truncate', 'token_mask', 'sequence_truncate', 'sequence_mask'] as const
/** How the sampler's disagreement with the training graph is answered: clamped or left out, by token or by sequence. */
export type MismatchMode = (typeof MISMATCH_MODES)[number]
export type MultiObjectiveAggregation = 'sum_then_normalize' | 'normalize_then_sum'
export type ScaleRewards = 'group' | 'batch' | 'none'
/** When a run is measured while it is trained: never, or every eval_steps steps. */
export const EVAL_STRATEGIES = ['no', 'steps'] as const
export type EvalStrategy = (typeof EVAL_STRATEGIES)[number]
export type LrSchedulerType = 'linear' | 'cosine' | 'constant'

export interface GrpoConfig {
  /** G: episodes per group (same prompt, same environment seed). At least 2. */
  num_generations: number
  /** Groups per step; TRL's generation_batch_size is this × num_generations. */
  prompts_per_step: number
  /** Token budget of an episode after its prompt: model tokens, tool results and glue, as in TRL. */
  max_completion_length: number
  /** Most rounds of tool calls in an episode. */
  max_tool_calling_iterations: number
  /** GRPO steps (optimizer steps = max_steps × num_iterations × steps_per_generation). */
  max_steps: number
  learning_rate: number
  lr_scheduler_type: LrSchedulerType
  warmup_steps: number
  adam_beta1: number
  adam_beta2: number
  adam_epsilon: number
  weight_decay: number
  max_grad_norm: number
  temperature: number
  /** 1 = off. */
  top_p: number
  /** 0 = off. */
  top_k: number
  /** null = off. */
  min_p: number | null
  loss_type: LossType
  /** Whether ρ is a token's own, or one for its sequence (GSPO). */
  importance_sampling_level: ImportanceSamplingLevel
  epsilon: number
  /** null = the same as epsilon. With cispo it is the cap itself, not its distance from 1. */
  epsilon_high: number | null
  /** Cap of ρ in the unclipped branch (two-sided clipping); null = none. */
  delta: number | null
  /** Weight of the KL term; 0 = no reference pass. */
  beta: number
  /** Multiplies the KL term by ρ, which makes its gradient that of the KL (DeepSeek-V3.2). */
  use_bias_correction_kl: boolean
  /** Share of the step's tokens, those of the highest entropy, that the policy term acts on; 1 = all. */
  top_entropy_quantile: number
  /** Weight of the entropy bonus; 0 = none. */
  entropy_coef: number
  /** entropy_coef then moves by entropy_coef_delta after every optimizer step, towards entropy_target nats. */
  use_adaptive_entropy: boolean
  entropy_coef_min: number
  entropy_coef_max: number
  entropy_coef_delta: number
  entropy_target: number
  /** Sequences with A < 0 that have become less likely by more than this a token, nats, are left out; null = none is (DeepSeek-V3.2). */
  off_policy_mask_threshold: number | null
  /** Weighs what the sampler wrote by what the training graph thinks of it. TRL's name, whose sampler is vLLM; ours is the decode graph. */
  vllm_importance_sampling_correction: boolean
  vllm_importance_sampling_mode: MismatchMode
  vllm_importance_sampling_clip_max: number | null
  vllm_importance_sampling_clip_min: number | null
  sapo_temperature_neg: number
  sapo_temperature_pos: number
  vespo_k_pos: number
  vespo_lambda_pos: number
  vespo_k_neg: number
  vespo_lambda_neg: number
  /** μ: how often the episodes of one generation are gone through. */
  num_iterations: number
  /** Optimizer steps of one pass: each takes an equal share of the generation's episodes, drawn by the seed. */
  steps_per_generation: number
  /** Updates that a batch may be behind: 0 = sampled after each; 1 = sampled while the one before is trained on. (In TRL, of AsyncGRPOConfig.) */
  max_staleness: number
  scale_rewards: ScaleRewards
  /** What gives rewards. (TRL's trainer takes them beside its config.) */
  reward_funcs: RewardFunc[]
  /** One weight per reward function; null = 1 each. */
  reward_weights: number[] | null
  /** Several reward functions: their weighted sum is measured in deviations, or each function by itself first (GDPO). */
  multi_objective_aggregation: MultiObjectiveAggregation
  mask_truncated_completions: boolean
  /** Groups without a signal are sampled again, with new seeds (DAPO; TRL has no such setting). */
  dynamic_sampling: boolean
  /** Most groups of a step that dynamic sampling adds. */
  max_resampled_groups: number
  seed: number
  /** Stop when the mean reward of the last five steps reaches this; null = never. */
  target_reward: number | null
  /** 'steps': episodes with seeds of their own are played during training, held-out ones where the environment has such. They train nothing. */
  eval_strategy: EvalStrategy
  /** GRPO steps from one evaluation to the next; there is one after the last step, too. */
  eval_steps: number
  /** Also before the first step. */
  eval_on_start: boolean
  /** Episodes of an evaluation, each of another scenario (in TRL, the rows of eval_dataset). */
  eval_episodes: number
  /** Evaluations take the likeliest token each time, instead of drawing at temperature 1. (TRL draws as in training.) */
  eval_greedy: boolean
}

/** TRL's defaults, except where a tab needs another (learning rate for LoRA, a finite number of tool rounds; who evaluates wants to see the start). */
export const DEFAULT_GRPO: GrpoConfig = {
  num_generations: 8,
  prompts_per_step: 1,
  max_completion_length: 512,
  max_tool_calling_iterations: 8,
  max_steps: 50,
  learning_rate: 2e-5,
  lr_scheduler_type: 'constant',
  warmup_steps: 0,
  adam_beta1: 0.9,
  adam_beta2: 0.999,
  adam_epsilon: 1e-8,
  weight_decay: 0,
  max_grad_norm: 1,
  temperature: 1,
  top_p: 1,
  top_k: 0,
  min_p: null,
  loss_type: 'dapo',
  importance_sampling_level: 'token',
  epsilon: 0.2,
  epsilon_high: null,
  delta: null,
  beta: 0,
  use_bias_correction_kl: true,
  top_entropy_quantile: 1,
  entropy_coef: 0,
  use_adaptive_entropy: false,
  entropy_coef_min: 0,
  entropy_coef_max: 1,
  entropy_coef_delta: 0.005,
  entropy_target: 0.2,
  off_policy_mask_threshold: null,
  vllm_importance_sampling_correction: true,
  vllm_importance_sampling_mode: 'sequence_mask',
  vllm_importance_sampling_clip_max: 3,
  vllm_importance_sampling_clip_min: null,
  sapo_temperature_neg: 1.05,
  sapo_temperature_pos: 1,
  vespo_k_pos: 2,
  vespo_lambda_pos: 3,
  vespo_k_neg: 3,
  vespo_lambda_neg: 2,
  num_iterations: 1,
  steps_per_generation: 1,
  max_staleness: 0,
  scale_rewards: 'group',
  reward_funcs: [OWN_REWARD],
  reward_weights: null,
  multi_objective_aggregation: 'sum_then_normalize',
  mask_truncated_completions: false,
  dynamic_sampling: false,
  max_resampled_groups: 8,
  seed: 42,
  target_reward: null,
  eval_strategy: 'no',
  eval_steps: 10,
  eval_on_start: true,
  eval_episodes: 32,
  eval_greedy: false,
}

/** What runs of versions that had fewer settings were trained with; a kept config is read as {...EARLIER_GRPO, ...config}. */
export const EARLIER_GRPO: GrpoConfig = { ...DEFAULT_GRPO, use_bias_correction_kl: false, vllm_importance_sampling_correction: false }

/** The seven linear layers that a LoRA may sit on, by PEFT's names. */
export const LORA_TARGETS = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const
export type LoraTarget = (typeof LORA_TARGETS)[number]

export interface LoraConfig {
  /** Rank. */
  r: number
  lora_alpha: number
  /** Scale by alpha/√r instead of alpha/r. */
  use_rslora: boolean
  target_modules: LoraTarget[]
}

export const DEFAULT_LORA: LoraConfig = { r: 16, lora_alpha: 32, use_rslora: false, target_modules: [...LORA_TARGETS] }

/** PEFT's scale s in y = W x + s·B(A x): alpha/r, or alpha/√r with use_rslora. */
export function loraScale(lora: LoraConfig): number {
  return lora.lora_alpha / (lora.use_rslora ? Math.sqrt(lora.r) : lora.r)
}

/** The LoRA that a run trains; null where it trains every weight. */
export const trainedLora = ({ lora, use_peft }: Pick<RunConfig, 'lora' | 'use_peft'>): LoraConfig | null => (use_peft === false ? null : lora)

export type Backend = 'webgpu' | 'wasm'

/**
 * How the frozen base weights are kept: 'int4' and 'int8' are TRL's load_in_4bit and load_in_8bit (symmetric blocks of 32 with
 * float32 scales). The LoRA, its gradients and AdamW's moments are float32 always.
 */
export type Precision = 'float32' | 'int8' | 'int4'

/** A LoRA in PEFT's format to start from: a repository on the Hub, or files that a person gave (named for people). */
export type AdapterSource = { kind: 'hub'; repo: string; revision: string } | { kind: 'file'; name: string }

/** Everything that, with the model's bytes, determines a run. */
export interface RunConfig {
  environment: EnvironmentSpec
  /** What was changed about its tools, in order; the model sees the result. */
  tool_edits: ToolEdit[]
  /** TRL's rollout_func: a function of the person's own that generates the completions instead of the page's loop; absent: none. */
  rollout_func?: PageFunction
  /** Origins that the run's own code asks to reach from the sandbox (see network-hosts.ts); absent: none. In force where a person allowed the code with them. */
  network_hosts?: string[]
  /** A folder under the site's root, 'models/NAME', or a repository on the Hub, 'owner/name'. (The Hub has no owner called models.) */
  model: string
  /** Branch, tag or commit of a Hub model; TRL's name. */
  model_revision: string
  precision: Precision
  /** The LoRA that step 0 has; null makes a fresh one. Its rank, alpha and targets then replace those of `lora`. */
  adapter: AdapterSource | null
  system_prompt: string
  user_prompt: string
  /** Qwen3's thinking switch, TRL's chat_template_kwargs.enable_thinking. */
  enable_thinking: boolean
  grpo: GrpoConfig
  lora: LoraConfig
  /** TRL's switch: false trains every weight of the model instead of a LoRA; absent: true. */
  use_peft?: false
  /** What the adapter is trained with before the first GRPO step, in order; absent: nothing. */
  stages?: PlannedStage[]
  /** 'auto' takes WebGPU where there is a real adapter, else WASM. */
  backend: Backend | 'auto'
}
