/** Settings of a run, under TRL's and PEFT's names, with TRL's meaning. */

import type { ToolEdit } from './tool-edits'

export type LossType = 'grpo' | 'bnpo' | 'dr_grpo' | 'dapo'
export type ScaleRewards = 'group' | 'batch' | 'none'
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
  /** GRPO steps (optimizer steps = max_steps × num_iterations). */
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
  epsilon: number
  /** null = the same as epsilon. */
  epsilon_high: number | null
  /** Weight of the KL term; 0 = no reference pass. */
  beta: number
  /** μ: optimizer steps per generation. */
  num_iterations: number
  scale_rewards: ScaleRewards
  mask_truncated_completions: boolean
  seed: number
  /** Stop when the mean reward of the last five steps reaches this; null = never. */
  target_reward: number | null
}

/** TRL's defaults, except where a tab needs another (learning rate for LoRA, a finite number of tool rounds). */
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
  epsilon: 0.2,
  epsilon_high: null,
  beta: 0,
  num_iterations: 1,
  scale_rewards: 'group',
  mask_truncated_completions: false,
  seed: 42,
  target_reward: null,
}

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

/** Where episodes come from. */
export type EnvironmentSpec =
  | { kind: 'builtin'; name: 'echo' | 'catch' | 'lane' }
  /** An OpenEnv server: anything a person may paste (ws, wss, http, https, host:port). */
  | { kind: 'openenv'; url: string }

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
  /** 'auto' takes WebGPU where there is a real adapter, else WASM. */
  backend: Backend | 'auto'
}
