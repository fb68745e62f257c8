/** The run that imported trajectories belong to: as it travelled with them, or as little as the rows tell. */

import { z } from 'zod'
import { environmentSpecSchema, pageFunctionSchema } from '../../core/environment-spec-schema'
import { toolEditSchema } from '../../core/tool-edit-schema'
import { DEFAULT_GRPO, DEFAULT_LORA, EARLIER_GRPO, EVAL_STRATEGIES, IMPORTANCE_SAMPLING_LEVELS, LORA_TARGETS, LOSS_TYPES, MISMATCH_MODES } from '../../core/config'
import { readHosts } from '../../core/network-hosts'
import { readRewards } from '../../core/reward-funcs'
import type { RunRecord } from '../../core/run-record'
import { STAGE_KINDS } from '../../core/stage'
import { stageSettingsSchema, stagesSchema } from '../../core/stage-schema'
import type { Tool } from '../../core/tools'
import { travelling } from './row'

const count = z.number().int().min(0)
const precision = z.enum(['float32', 'int8', 'int4'])
const backend = z.enum(['webgpu', 'wasm'])

const lora = z.object({ r: count, lora_alpha: z.number(), use_rslora: z.boolean(), target_modules: z.array(z.enum(LORA_TARGETS)) })

const number = z.number()
/** Settings that files of earlier versions lack: a run without them was trained with what they are off by. */
const later = {
  importance_sampling_level: z.enum(IMPORTANCE_SAMPLING_LEVELS).default(EARLIER_GRPO.importance_sampling_level),
  delta: number.nullable().default(EARLIER_GRPO.delta),
  use_bias_correction_kl: z.boolean().default(EARLIER_GRPO.use_bias_correction_kl),
  top_entropy_quantile: number.default(EARLIER_GRPO.top_entropy_quantile),
  entropy_coef: number.default(EARLIER_GRPO.entropy_coef),
  use_adaptive_entropy: z.boolean().default(EARLIER_GRPO.use_adaptive_entropy),
  entropy_coef_min: number.default(EARLIER_GRPO.entropy_coef_min),
  entropy_coef_max: number.default(EARLIER_GRPO.entropy_coef_max),
  entropy_coef_delta: number.default(EARLIER_GRPO.entropy_coef_delta),
  entropy_target: number.default(EARLIER_GRPO.entropy_target),
  off_policy_mask_threshold: number.nullable().default(EARLIER_GRPO.off_policy_mask_threshold),
  vllm_importance_sampling_correction: z.boolean().default(EARLIER_GRPO.vllm_importance_sampling_correction),
  vllm_importance_sampling_mode: z.enum(MISMATCH_MODES).default(EARLIER_GRPO.vllm_importance_sampling_mode),
  vllm_importance_sampling_clip_max: number.nullable().default(EARLIER_GRPO.vllm_importance_sampling_clip_max),
  vllm_importance_sampling_clip_min: number.nullable().default(EARLIER_GRPO.vllm_importance_sampling_clip_min),
  sapo_temperature_neg: number.default(EARLIER_GRPO.sapo_temperature_neg),
  sapo_temperature_pos: number.default(EARLIER_GRPO.sapo_temperature_pos),
  vespo_k_pos: number.default(EARLIER_GRPO.vespo_k_pos),
  vespo_lambda_pos: number.default(EARLIER_GRPO.vespo_lambda_pos),
  vespo_k_neg: number.default(EARLIER_GRPO.vespo_k_neg),
  vespo_lambda_neg: number.default(EARLIER_GRPO.vespo_lambda_neg),
  steps_per_generation: count.default(EARLIER_GRPO.steps_per_generation),
  multi_objective_aggregation: z.enum(['sum_then_normalize', 'normalize_then_sum']).default(EARLIER_GRPO.multi_objective_aggregation),
}

const grpo = z.object({
  num_generations: count,
  prompts_per_step: count,
  max_completion_length: count,
  max_tool_calling_iterations: count,
  max_steps: count,
  learning_rate: z.number(),
  lr_scheduler_type: z.enum(['linear', 'cosine', 'constant']),
  warmup_steps: count,
  adam_beta1: z.number(),
  adam_beta2: z.number(),
  adam_epsilon: z.number(),
  weight_decay: z.number(),
  max_grad_norm: z.number(),
  temperature: z.number(),
  top_p: z.number(),
  top_k: z.number(),
  min_p: z.number().nullable(),
  loss_type: z.enum(LOSS_TYPES),
  epsilon: z.number(),
  epsilon_high: z.number().nullable(),
  beta: z.number(),
  num_iterations: count,
  scale_rewards: z.enum(['group', 'batch', 'none']),
  // What cannot be read is told as the environment's own reward: nothing is trained on from a file.
  reward_funcs: z.unknown().transform((funcs) => readRewards(funcs, null)?.reward_funcs ?? EARLIER_GRPO.reward_funcs),
  reward_weights: z.array(number).nullable().default(EARLIER_GRPO.reward_weights),
  ...later,
  mask_truncated_completions: z.boolean(),
  dynamic_sampling: z.boolean().default(EARLIER_GRPO.dynamic_sampling),
  max_resampled_groups: number.default(EARLIER_GRPO.max_resampled_groups),
  max_staleness: number.default(EARLIER_GRPO.max_staleness),
  seed: count,
  target_reward: z.number().nullable(),
  eval_strategy: z.enum(EVAL_STRATEGIES).default(EARLIER_GRPO.eval_strategy),
  eval_steps: count.default(EARLIER_GRPO.eval_steps),
  eval_on_start: z.boolean().default(EARLIER_GRPO.eval_on_start),
  eval_episodes: count.default(EARLIER_GRPO.eval_episodes),
  eval_greedy: z.boolean().default(EARLIER_GRPO.eval_greedy),
})

const config = z.object({
  environment: environmentSpecSchema,
  tool_edits: z.array(toolEditSchema),
  rollout_func: z.optional(pageFunctionSchema),
  // What is no host is told as none: nothing runs of what is read from a file.
  network_hosts: z.optional(z.array(z.string()).transform((list) => readHosts(list) ?? undefined)),
  model: z.string(),
  model_revision: z.string(),
  precision,
  adapter: z
    .discriminatedUnion('kind', [
      z.object({ kind: z.literal('hub'), repo: z.string(), revision: z.string() }),
      z.object({ kind: z.literal('file'), name: z.string() }),
    ])
    .nullable(),
  system_prompt: z.string(),
  user_prompt: z.string(),
  enable_thinking: z.boolean(),
  grpo,
  lora,
  use_peft: z.optional(z.literal(false)),
  stages: z.optional(stagesSchema),
  backend: z.enum(['webgpu', 'wasm', 'auto']),
})

const place = z.object({ repo: z.string(), revision: z.string(), sha: z.string(), config: z.string(), split: z.string() })
const metrics = z.record(z.string(), z.number().nullable())
const measure = z.object({ episodes: count, success: number, valid: number, reward: number })
const stage = z.object({
  kind: z.enum(STAGE_KINDS),
  dataset: z.string(),
  source: place.optional(),
  rows: count,
  steps: count,
  settings: stageSettingsSchema,
  afterStep: count,
  first: metrics,
  last: metrics,
  planned: count.optional(),
  skipped: z.string().optional(),
  before: measure.optional(),
  after: measure.optional(),
  lead: z.array(z.number().nullable()).optional(),
})

const tool = z.object({
  type: z.literal('function'),
  function: z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.unknown()) }),
}) as z.ZodType<Tool>

const schema: z.ZodType<RunRecord> = z.object({
  id: z.string(),
  name: z.string(),
  notes: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
  config,
  modelSha: z.string().nullable(),
  lora: lora.nullable(),
  engine: z.object({
    backend,
    device: z.string(),
    threads: z.number(),
    model: z.string(),
    parameters: z.number(),
    trainable: z.number(),
    vocabSize: z.number(),
    ortVersion: z.string(),
  }),
  environment: z.object({
    name: z.string(),
    tools: z.array(tool),
    prompts: z.object({ system: z.string(), user: z.string() }),
    dataset: z.object({ name: z.string(), place: place.optional(), rows: count, heldOut: count, columns: z.array(z.string()) }).optional(),
    members: z
      .array(
        z.object({
          name: z.string(),
          tools: z.array(tool),
          ownTools: z.array(tool).optional(),
          prompts: z.object({ system: z.string(), user: z.string() }),
          maxSessions: count.nullable(),
        }),
      )
      .optional(),
  }),
  step: count,
  checkpoint: count.nullable(),
  finished: z.boolean(),
  evaluations: z.array(
    z.object({
      step: count,
      split: z.enum(['train', 'heldout']),
      solved: count,
      scorable: count,
      reward: z.number(),
      precision,
      policy: z.literal('base').optional(),
      greedy: z.literal(true).optional(),
      metrics: metrics.optional(),
    }),
  ),
  stages: z.array(stage).optional(),
  bytes: z.number(),
  droppedSteps: count,
  version: z.string(),
})

/** The run's JSON as a row holds it. A run that is only looked at has no checkpoint. Throws ZodError or SyntaxError. */
export function parseRun(json: string): RunRecord {
  return travelling(schema.parse(JSON.parse(json)))
}

/** A run of which nothing but its trajectories is known: empty texts stand for what the file does not say. */
export function bareRun(known: { id: string; name: string; environment: string; step: number; num_generations: number; prompts_per_step: number }): RunRecord {
  const { id, name, environment, step, num_generations, prompts_per_step } = known
  return {
    id,
    name,
    notes: '',
    createdAt: Date.now(),
    updatedAt: Date.now(),
    config: {
      environment: { kind: 'openenv', url: '' },
      tool_edits: [],
      model: '',
      model_revision: '',
      precision: 'float32',
      adapter: null,
      system_prompt: '',
      user_prompt: '',
      enable_thinking: false,
      grpo: { ...DEFAULT_GRPO, num_generations, prompts_per_step, max_steps: step },
      lora: DEFAULT_LORA,
      backend: 'auto',
    },
    modelSha: null,
    lora: null,
    engine: { backend: 'wasm', device: '', threads: 0, model: '', parameters: 0, trainable: 0, vocabSize: 0, ortVersion: '' },
    environment: { name: environment, tools: [], prompts: { system: '', user: '' } },
    step,
    checkpoint: null,
    finished: true,
    evaluations: [],
    bytes: 0,
    droppedSteps: 0,
    version: '',
  }
}
