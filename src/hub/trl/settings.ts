/** The run's settings under TRL's names, as lines of Python for GRPOConfig, each with what must be known about it. */

import type { GrpoConfig, RunConfig } from '../../core/config'
import { comment, py } from './python'
import { mappedWeights } from './rewards'

/** One argument of GRPOConfig, and why it is as it is, where TRL's meaning is not the page's. */
interface Setting {
  name: string
  value: unknown
  why?: string
  /** Name of the constant of train.py that holds the value. */
  constant?: string
}

const SCHEDULES = { linear: 'linear', cosine: 'cosine', constant: 'constant' } as const

function schedule({ lr_scheduler_type, warmup_steps }: GrpoConfig): string {
  return lr_scheduler_type === 'constant' && warmup_steps > 0 ? 'constant_with_warmup' : SCHEDULES[lr_scheduler_type]
}

/** All of GrpoConfig that TRL has, besides the batch sizes and the number of steps, which train.py computes. */
export function grpoSettings({ grpo, enable_thinking, environment }: RunConfig): Setting[] {
  return [
    { name: 'num_generations', value: grpo.num_generations, constant: 'NUM_GENERATIONS' },
    { name: 'max_completion_length', value: grpo.max_completion_length, constant: 'MAX_COMPLETION_LENGTH' },
    {
      name: 'max_tool_calling_iterations',
      value: grpo.max_tool_calling_iterations,
      why: 'After the last round TRL lets the model write one more turn, whose calls are not made; the page ends there.',
    },
    { name: 'learning_rate', value: grpo.learning_rate },
    { name: 'lr_scheduler_type', value: schedule(grpo) },
    { name: 'warmup_steps', value: grpo.warmup_steps },
    { name: 'optim', value: 'adamw_torch' },
    { name: 'adam_beta1', value: grpo.adam_beta1 },
    { name: 'adam_beta2', value: grpo.adam_beta2 },
    { name: 'adam_epsilon', value: grpo.adam_epsilon },
    { name: 'weight_decay', value: grpo.weight_decay },
    { name: 'max_grad_norm', value: grpo.max_grad_norm },
    { name: 'temperature', value: grpo.temperature },
    { name: 'top_p', value: grpo.top_p },
    { name: 'top_k', value: grpo.top_k, why: '0 = off.' },
    { name: 'min_p', value: grpo.min_p },
    { name: 'repetition_penalty', value: 1 },
    { name: 'loss_type', value: grpo.loss_type },
    { name: 'epsilon', value: grpo.epsilon },
    { name: 'epsilon_high', value: grpo.epsilon_high },
    { name: 'beta', value: grpo.beta },
    { name: 'use_bias_correction_kl', value: grpo.use_bias_correction_kl },
    { name: 'importance_sampling_level', value: grpo.importance_sampling_level },
    { name: 'delta', value: grpo.delta },
    { name: 'top_entropy_quantile', value: grpo.top_entropy_quantile, why: 'The page takes the quantile over the optimizer step; TRL over each micro-batch.' },
    ...rest(grpo),
    { name: 'num_iterations', value: grpo.num_iterations, constant: 'NUM_ITERATIONS' },
    { name: 'scale_rewards', value: grpo.scale_rewards },
    { name: 'reward_weights', value: grpo.reward_weights && mappedWeights(grpo.reward_funcs, grpo.reward_weights) },
    { name: 'multi_objective_aggregation', value: grpo.multi_objective_aggregation },
    { name: 'mask_truncated_completions', value: grpo.mask_truncated_completions },
    { name: 'seed', value: grpo.seed, constant: 'SEED', why: 'Draws differ from the page’s: TRL samples with PyTorch’s generator.' },
    environment.kind === 'prompts'
      ? { name: 'shuffle_dataset', value: true, why: 'As on the page each row comes once an epoch, in another order than there.' }
      : { name: 'shuffle_dataset', value: false, why: 'The page’s groups in the page’s order.' },
    { name: 'chat_template_kwargs', value: { enable_thinking }, constant: 'CHAT_TEMPLATE_KWARGS' },
  ]
}

/** Those whose names and meanings are the same. */
function rest(grpo: GrpoConfig): Setting[] {
  const { entropy_coef, use_adaptive_entropy, entropy_coef_min, entropy_coef_max, entropy_coef_delta, entropy_target, off_policy_mask_threshold } = grpo
  const { sapo_temperature_neg, sapo_temperature_pos, vespo_k_pos, vespo_lambda_pos, vespo_k_neg, vespo_lambda_neg } = grpo
  const { vllm_importance_sampling_correction, vllm_importance_sampling_mode, vllm_importance_sampling_clip_max, vllm_importance_sampling_clip_min } = grpo
  const read = {
    ...{ entropy_coef, use_adaptive_entropy, entropy_coef_min, entropy_coef_max, entropy_coef_delta, entropy_target, off_policy_mask_threshold },
    ...{ sapo_temperature_neg, sapo_temperature_pos, vespo_k_pos, vespo_lambda_pos, vespo_k_neg, vespo_lambda_neg },
    ...{ vllm_importance_sampling_correction, vllm_importance_sampling_mode, vllm_importance_sampling_clip_max, vllm_importance_sampling_clip_min },
  }
  return Object.entries(read).map(([name, value]) => ({ name, value }))
}

/** The settings as arguments, each on a line of its own at `indent` blanks. */
export function settingLines(settings: readonly Setting[], indent: number): string {
  const before = ' '.repeat(indent)
  return settings
    .map(({ name, value, why, constant }) => `${why === undefined ? '' : `${comment(why, indent)}\n`}${before}${name}=${constant ?? py(value, indent)},`)
    .join('\n')
}
