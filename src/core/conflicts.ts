/** Settings that are each allowed and cannot go together: one sentence for the control that would join them and for the worker that refuses them. */

import type { GrpoConfig, RunConfig } from './config'
import { PlaygroundError } from './errors'

export interface Conflict {
  /** The settings, by name; changing one of them ends it. */
  keys: readonly (keyof GrpoConfig | 'use_peft')[]
  /** What does not go together, with the values; no full stop. */
  why: string
  /** What to change, likewise. */
  advice: string
}

/** What of a run beside its GRPO settings can stand against them. */
type Beside = Partial<Pick<RunConfig, 'use_peft' | 'precision' | 'adapter' | 'rollout_func'>>

/** Every conflict in these settings; none in TRL's defaults. */
export function conflictsOf(grpo: GrpoConfig, beside: Beside = {}): Conflict[] {
  const found: Conflict[] = beside.use_peft === false ? againstFull(grpo, beside) : []
  const { vllm_importance_sampling_mode: mode, vllm_importance_sampling_clip_min: least, vllm_importance_sampling_clip_max: most } = grpo
  if (grpo.loss_type === 'vespo' && grpo.vllm_importance_sampling_correction && mode.startsWith('sequence')) {
    found.push({
      keys: ['loss_type', 'vllm_importance_sampling_mode', 'vllm_importance_sampling_correction'],
      why: `loss_type vespo weighs whole sequences itself and does not go with vllm_importance_sampling_mode ${mode}`,
      advice: 'Set vllm_importance_sampling_mode to token_truncate or token_mask first, or choose the recipe VESPO',
    })
  }
  const episodes = grpo.num_generations * grpo.prompts_per_step
  if (grpo.steps_per_generation > episodes) {
    found.push({
      keys: ['steps_per_generation', 'num_generations', 'prompts_per_step'],
      why: `steps_per_generation is ${grpo.steps_per_generation}, and a generation has only ${episodes} episodes (num_generations × prompts_per_step)`,
      advice: `Set steps_per_generation to at most ${episodes}`,
    })
  }
  if (grpo.entropy_coef_min > grpo.entropy_coef_max) {
    found.push({
      keys: ['entropy_coef_min', 'entropy_coef_max'],
      why: `entropy_coef_min (${grpo.entropy_coef_min}) is above entropy_coef_max (${grpo.entropy_coef_max})`,
      advice: 'Raise entropy_coef_max first, or take a smaller entropy_coef_min',
    })
  }
  if (grpo.max_staleness > 0) found.push(...againstAhead(grpo, beside))
  if (least !== null && most !== null && least > most) {
    found.push({
      keys: ['vllm_importance_sampling_clip_min', 'vllm_importance_sampling_clip_max'],
      why: `vllm_importance_sampling_clip_min (${least}) is above vllm_importance_sampling_clip_max (${most})`,
      advice: 'Raise vllm_importance_sampling_clip_max first, or take a smaller vllm_importance_sampling_clip_min',
    })
  }
  return found
}

/** What does not go with training every weight. */
function againstFull({ beta }: GrpoConfig, { precision = 'float32', adapter = null }: Beside): Conflict[] {
  const found: Conflict[] = []
  if (precision !== 'float32') {
    found.push({ keys: ['use_peft'], why: `with use_peft off every weight is trained, and weights kept as ${precision} cannot be`, advice: 'Choose precision float32 first' })
  }
  if (adapter) found.push({ keys: ['use_peft'], why: 'with use_peft off there is no LoRA, and a starting LoRA is chosen', advice: 'Choose none as starting LoRA first' })
  if (beta > 0) {
    found.push({
      keys: ['use_peft', 'beta'],
      why: `beta is ${beta} and pulls to the model as it was, of which no copy is kept where every weight is trained (use_peft off)`,
      advice: 'Set beta to 0, or train a LoRA',
    })
  }
  return found
}

/** What does not go with sampling the next batch while the last is trained on. */
function againstAhead({ max_staleness, num_iterations, steps_per_generation }: GrpoConfig, { rollout_func }: Beside): Conflict[] {
  const found: Conflict[] = []
  for (const [key, value] of [['num_iterations', num_iterations], ['steps_per_generation', steps_per_generation]] as const) {
    if (value === 1) continue
    found.push({
      keys: ['max_staleness', key],
      why: `max_staleness ${max_staleness} samples the next batch until the optimizer step, so a batch has one step, and ${key} is ${value}`,
      advice: `Set ${key} to 1, or max_staleness to 0`,
    })
  }
  if (rollout_func) {
    found.push({
      keys: ['max_staleness'],
      why: `max_staleness is ${max_staleness}, and a rollout_func does not say when it waits for its environment, so nothing could be trained meanwhile`,
      advice: 'Set max_staleness to 0, or remove the rollout_func',
    })
  }
  return found
}

/** Throws PlaygroundError('config') at the first conflict. */
export function assertNoConflict(config: Pick<RunConfig, 'grpo'> & Beside): void {
  const [first] = conflictsOf(config.grpo, config)
  if (first) throw new PlaygroundError('config', `${first.why}.`, `${first.advice}.`)
}
