/** The names of a run's own metrics, which nothing that a person's code logs may take. */

import { VERDICTS } from '../core/episode'
import { EXIT_REASONS } from './metrics'

const CLIP = ['low_mean', 'low_min', 'high_mean', 'high_max', 'region_mean'].map((name) => `clip_ratio/${name}`)
const LENGTHS = ['mean', 'min', 'max'].flatMap((which) => [`completions/${which}_length`, `completions/${which}_terminated_length`])
const MISMATCH = [
  ...['mean', 'max'].map((which) => `sampling/sampling_logp_difference/${which}`),
  ...['min', 'mean', 'max'].map((which) => `sampling/importance_sampling_ratio/${which}`),
]
const EXITS = EXIT_REASONS.map((name) => `exit/${name}`)
const SAID = [...VERDICTS, 'said_zero'].map((name) => `verdict/${name}`)

/** Those of every run and of some settings alone; what tables of metrics have beside them; and TRL's that are not here. */
const OWN: ReadonlySet<string> = new Set([
  ...['loss', 'policy_loss', 'grad_norm', 'learning_rate', 'entropy', 'entropy_coef', 'kl', 'cispo_clip_ratio', 'vespo/phi_seq_mean', 'off_policy/masked'],
  ...['reward', 'reward_std', 'reward/min', 'reward/max', 'frac_reward_zero_std', 'success', 'num_tokens', 'step_time', 'seconds/sampling', 'seconds/training'],
  ...['groups/useful', 'groups/best_reward', 'groups/worst_reward', 'groups/resampled', 'completions/effective', 'completions/clipped_ratio', 'turns/mean'],
  ...['tokens/model', 'tokens/environment', 'tokens/template', 'tokens_per_second/sampling', 'tokens_per_second/training', 'sampling/staleness'],
  ...['tools/call_frequency', 'tools/failure_frequency', 'tools/parse_failure_frequency', 'environment/latency_ms', 'environment/unscorable'],
  ...['step', 'epoch', 'global_step', 'timestamp', 'clip_ratio', 'aux_loss'],
  ...CLIP,
  ...LENGTHS,
  ...MISMATCH,
  ...EXITS,
  ...SAID,
])

/** Whether a run may have a metric of its own under this name, whatever its settings; those that are called by environments and reward functions are not known here. */
export const isOwnMetric = (name: string): boolean => OWN.has(name) || name.startsWith('eval_')
