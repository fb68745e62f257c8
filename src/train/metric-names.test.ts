/** Every metric of TRL's GRPOTrainer is in the records of a run under TRL's name, and with it what TRL cannot tell. */

import { describe, expect, it } from 'vitest'
import type { GrpoConfig, LossType } from '../core/config'
import type { StepRecord } from '../core/events'
import { isOwnMetric, TERM_OF } from '../rl'
import { GrpoTrainer } from './grpo'
import { bandit, banditConfig, banditEngine, chat } from './testing/bandit'

async function record(grpo: Partial<GrpoConfig>): Promise<StepRecord> {
  let seconds = 0
  const trainer = new GrpoTrainer({
    config: banditConfig({ prompts_per_step: 2, num_generations: 4, ...grpo }),
    engine: banditEngine(),
    environment: bandit(),
    chat,
    onEvent: () => {},
    now: () => (seconds += 0.5),
    wait: async () => {},
  })
  await trainer.step()
  return trainer.step()
}

/** TRL's, whatever the settings. */
const ALWAYS = [
  'loss',
  'grad_norm',
  'learning_rate',
  'num_tokens',
  'step_time',
  'completions/mean_length',
  'completions/min_length',
  'completions/max_length',
  'completions/mean_terminated_length',
  'completions/min_terminated_length',
  'completions/max_terminated_length',
  'completions/clipped_ratio',
  'reward',
  'reward_std',
  'rewards/Bandit/mean',
  'rewards/Bandit/std',
  'frac_reward_zero_std',
  'tools/call_frequency',
  'tools/failure_frequency',
  'entropy',
  // TRL has these of vLLM alone.
  'sampling/sampling_logp_difference/mean',
  'sampling/sampling_logp_difference/max',
  'sampling/importance_sampling_ratio/min',
  'sampling/importance_sampling_ratio/mean',
  'sampling/importance_sampling_ratio/max',
]

const CLIP = ['clip_ratio/low_mean', 'clip_ratio/high_mean', 'clip_ratio/region_mean', 'clip_ratio/low_min', 'clip_ratio/high_max']

/** TRL's, of some loss types or options. */
const SOMETIMES: [string, Partial<GrpoConfig>, string[]][] = [
  ...(Object.keys(TERM_OF) as LossType[]).map((loss_type): [string, Partial<GrpoConfig>, string[]] => [
    loss_type,
    { loss_type },
    { clip: CLIP, cispo: ['cispo_clip_ratio'], vespo: ['vespo/phi_seq_mean'], sapo: [] }[TERM_OF[loss_type]],
  ]),
  ['beta', { beta: 0.1 }, ['kl', ...CLIP]],
  ['an entropy bonus', { entropy_coef: 0.01 }, ['entropy_coef', 'policy_loss', ...CLIP]],
  ['dynamic sampling', { dynamic_sampling: true }, ['groups/resampled', ...CLIP]],
  ['an off-policy mask', { off_policy_mask_threshold: 0.5 }, ['off_policy/masked', ...CLIP]],
  ['sampling ahead', { max_staleness: 1 }, ['sampling/staleness', ...CLIP]],
  ['an adaptive entropy bonus', { use_adaptive_entropy: true }, ['entropy_coef', 'policy_loss', ...CLIP]],
]

/** What TRL cannot tell. */
const OURS = [
  'turns/mean',
  ...['env_done', 'answered', 'turn_limit', 'token_limit', 'env_error', 'env_unreadable', 'stopped'].map((exit) => `exit/${exit}`),
  'tools/parse_failure_frequency',
  'tokens/model',
  'tokens/environment',
  'tokens/template',
  'environment/latency_ms',
  'environment/unscorable',
  'groups/useful',
  'groups/best_reward',
  'groups/worst_reward',
  'completions/effective',
  'success',
  'tokens_per_second/sampling',
  'tokens_per_second/training',
]

/**
 * TRL's that are not here: epoch (a run has no end of a dataset to count by), clip_ratio (of the Liger kernel), aux_loss (of mixtures of
 * experts), profiling/… (the timeline shows more).
 */
const ABSENT = ['epoch', 'clip_ratio', 'aux_loss']

describe('a record has the metric', () => {
  it.each(SOMETIMES)('of %s', async (_, grpo, names) => {
    const { metrics } = await record(grpo)
    expect(Object.keys(metrics).filter((name) => !isOwnMetric(name) && !name.startsWith('rewards/Bandit/'))).toEqual([])
    for (const name of [...ALWAYS, ...names, ...OURS]) expect(metrics[name], name).toEqual(expect.any(Number))
    const others = [...CLIP, 'cispo_clip_ratio', 'vespo/phi_seq_mean', 'kl', 'entropy_coef', 'policy_loss'].filter((name) => !names.includes(name))
    for (const name of [...others, ...ABSENT]) expect(metrics, name).not.toHaveProperty([name])
  })
})

it('and nothing else that is told nowhere', async () => {
  const { metrics } = await record({})
  const told = [...ALWAYS, ...CLIP, ...OURS]
  expect(Object.keys(metrics).filter((name) => !told.includes(name) && !name.startsWith('verdict/'))).toEqual([])
})
