/** What each metric is, how to read it, and what its extremes mean. */

import { type Explainer, explainer as from } from './sources'

/** Under TRL's names; `<…>` stands for what differs, such as the name of a reward. */
export const METRIC_EXPLAINERS = {
  reward: from(
    'trlMetrics',
    'Mean reward of the step’s scorable episodes; the band runs from the lowest to the highest. It is the one curve that says whether the model learns. It jumps, since each step plays other scenarios: smooth it, or look at ten steps together. Flat at the bottom means nobody ever succeeds, flat at the top that the task is solved.',
  ),
  'rewards/<name>/mean': from('trlMetrics', 'Mean of one reward of the environment, by its name. Where there is only one it equals reward. If the sum rises while one part falls, the model trades one for the other.'),
  'rewards/<name>/std': from('trlMetrics', 'Standard deviation (ddof 1) of one reward of the environment over the step. 0 means that all episodes got the same.'),
  reward_std: from('trlMetrics', 'Standard deviation (ddof 1) of the rewards over the whole step. At 0 all episodes scored alike and nothing can be learned. It falls as a task is solved.'),
  success: from('openEnv', 'Share of scorable episodes that solved the task by the environment’s own mark. Unlike the reward it cannot be raised by half-measures: if the reward rises and this does not, look for a loophole.'),
  frac_reward_zero_std: from(
    'trlMetrics',
    'Share of the step’s scorable episodes whose group has no spread of rewards: all succeeded or all failed, so their advantages are 0. Near 1 hardly anything is learned: the task is too hard, too easy, or the sampling too cold. Raise num_generations or temperature.',
  ),
  'groups/useful': from('dapo', 'Share of the step’s groups with a signal: different rewards within the group. The others have advantage 0 throughout. With dynamic_sampling, DAPO’s idea, others are sampled in their place; the share is of all that were sampled.'),
  'groups/best_reward': from('dapo', 'The best reward of each group, mean over the step’s groups: what the model can already do when it tries several times. Far above the mean, there is something to learn from.'),
  'groups/worst_reward': from('dapo', 'The worst reward of each group, mean over the step’s groups: what the model still does. It meets the best one when every attempt ends alike, and the group then has no signal.'),
  'groups/resampled': from('dapo', 'Groups that dynamic sampling added to the step, each in place of one whose rewards were all equal. At max_resampled_groups the cap was reached, and some groups of the update may have no signal. A rise says that the task is nearly solved, or hopeless.'),
  'completions/effective': from('dapo', 'Number of episodes with an advantage other than 0: those that the update learns from.'),
  'completions/mean_length': from('trlMetrics', 'Tokens that the model itself wrote, mean over the step’s episodes; tool results are not counted. A slow rise may be thought or chatter: compare it with the reward. A fall to a few tokens often means that the model gave up calling tools.'),
  'completions/min_length': from('trlMetrics', 'Fewest tokens that the model itself wrote in an episode of the step.'),
  'completions/max_length': from('trlMetrics', 'Most tokens that the model itself wrote in an episode of the step. At the budget, episodes are being cut.'),
  'completions/mean_terminated_length': from('trlMetrics', 'Mean length of the episodes that ended with an end-of-turn token; 0 where none did, as in TRL.'),
  'completions/min_terminated_length': from('trlMetrics', 'Length of the shortest episode that ended with an end-of-turn token; 0 where none did, as in TRL.'),
  'completions/max_terminated_length': from('trlMetrics', 'Length of the longest episode that ended with an end-of-turn token; 0 where none did, as in TRL.'),
  'completions/clipped_ratio': from('trlMetrics', 'Share of episodes that did not end with an end-of-turn token: they were cut by a limit or by an error. Near 1, raise max_completion_length or look at what the model repeats.'),
  'tokens/model': from('trlOpenEnv', 'Tokens after the prompt that the model wrote in this step: only these are trained.'),
  'tokens/environment': from('trlOpenEnv', 'Tokens after the prompt that the environment wrote in this step: the model reads them, the loss does not see them.'),
  'tokens/template': from('chatTemplates', 'Tokens after the prompt that the chat template put between the turns: the same whatever the model does, never trained.'),
  'turns/mean': from('openEnv', 'Turns of an episode on average: each is one message of the model and the environment’s answer. It falls when the model learns to act at once and rises when it learns to look first.'),
  loss: from(
    'trlLoss',
    'The value that the optimizer minimised, mean over the step’s updates. With num_iterations 1 it is near 0 by construction, since advantages cancel: its gradient matters, not its value. Do not judge a run by it; watch the reward.',
  ),
  grad_norm: from('clipNorm', 'Length of the gradient before max_grad_norm shortens it. Exactly 0 when no group has a signal and beta is 0. Sudden peaks come from rare tokens with large advantages; if every step is clipped, lower the learning rate or raise max_grad_norm.'),
  learning_rate: from('schedules', 'The rate of the step’s last optimizer step, after warm-up and schedule.'),
  entropy: from(
    'trlMetrics',
    'How undecided the model is, mean over its own tokens, in nats: 0 is certain, 0.69 is a coin toss. It falls as the model makes up its mind. If it reaches 0 before the reward is good, the model has stopped trying: raise temperature or epsilon_high. If it rises without end, lower the learning rate.',
  ),
  kl: from(
    'klApprox',
    'Distance from the reference policy, mean over trained tokens, by the k3 estimator exp(d) − d − 1 with d the difference of log-probs. Computed only with beta above 0. It starts at 0; slow growth is learning, a jump means that the model went elsewhere.',
  ),
  'clip_ratio/region_mean': from('trlMetrics', 'Share of trained tokens outside the clip range on the side where clipping stops them. 0 with num_iterations 1 and max_staleness 0. A few percent is usual with more; far above, epsilon is too narrow or the learning rate too high.'),
  'clip_ratio/low_mean': from('trlMetrics', 'Share of trained tokens with a negative advantage that have already fallen below 1 − epsilon: they push no further down.'),
  'clip_ratio/low_min': from('trlMetrics', 'The smallest share clipped from below in a sequence of the step.'),
  'clip_ratio/high_mean': from('trlMetrics', 'Share of trained tokens with a positive advantage that have already risen above 1 + epsilon_high: they push no further up.'),
  'clip_ratio/high_max': from('trlMetrics', 'The largest share clipped from above in a sequence of the step.'),
  'sampling/sampling_logp_difference/mean': from(
    'trlGrpo',
    'Mean absolute difference between the log-probs when a token was sampled and when it was trained, before the update. Both passes are the same model, so it should be rounding noise, below 0.001 nats. More means that the two disagree, and the gradient is for another policy than the one that played.',
  ),
  'sampling/sampling_logp_difference/max': from('trlGrpo', 'The largest absolute difference between a token’s log-prob when it was sampled and when it was trained. It should be rounding noise.'),
  'sampling/importance_sampling_ratio/mean': from('trlGrpo', 'π in the training pass ÷ π when sampled, before the update, as the loss is corrected by it: of a token or of a sequence, and bounded, as vllm_importance_sampling_mode says. The mean. It should be 1: both passes are the same model. With max_staleness 1 it is each token’s ratio to the policy that sampled, one update before, and leaves 1.'),
  'sampling/importance_sampling_ratio/min': from('trlGrpo', 'The smallest ratio between the training pass and sampling, before the update, as the loss is corrected by it. It should be 1; 0 is what a mask mode left out.'),
  'sampling/importance_sampling_ratio/max': from('trlGrpo', 'The largest ratio between the training pass and sampling, before the update, as the loss is corrected by it. It should be 1.'),
  'sampling/staleness': from('trlAsync', 'Updates between the policy that sampled the step’s episodes and the one that is trained on them; with max_staleness 1 only. It is 1, and 0 where a batch was not sampled ahead: the first step, the next one of a kept run or after the end was moved, and one whose sampling ahead failed.'),
  num_tokens: from('trlMetrics', 'Prompt and model tokens of the whole run so far; tool results are not counted, as in TRL.'),
  step_time: from('trlMetrics', 'Seconds that the step took, sampling and training together, without pauses. With max_staleness 1 what was sampled beside training counts once.'),
  'seconds/sampling': from('trlMetrics', 'Time in which the step’s episodes were played: the model’s tokens and the waiting for the environment. It usually is most of a step. With max_staleness 1 without what went on beside training. A recording tells no times.'),
  'seconds/training': from('trlMetrics', 'Time of forward, backward and optimizer, for all num_iterations updates of the step. A recording tells no times.'),
  'tokens_per_second/sampling': from('ortWebGpu', 'Tokens that the model wrote per second of sampling, over all episodes that are played at once. Waiting for the environment lowers it; more episodes at once raise it up to what the machine can do.'),
  'tokens_per_second/training': from('ortWebGpu', 'Tokens that went through forward and backward per second of training. It falls with the length of the episodes and with the size of the model.'),
  'exit/<reason>': from('openEnv', 'Share of episodes that ended for this reason: the environment said done, the model answered without a tool call, a limit was reached, or the environment failed. Failures of the environment are no fault of the model and are left out of the loss.'),
  'verdict/<name>': from('openEnv', 'Share of episodes by what stands behind their reward. That the environment said 0, that its answer could not be read and that it failed are three things and are never merged: only the first may teach.'),
  'tools/call_frequency': from('trlMetrics', 'Tool calls that could be read, per episode. At 0 the model only talks.'),
  'tools/failure_frequency': from('trlMetrics', 'Share of the tool calls that reported an error, as in TRL. High at first is normal; the model learns which arguments are taken.'),
  'tools/parse_failure_frequency': from('trlOpenEnv', 'Share of the attempted tool calls that could not be read as JSON. It rises when the learning rate is too large: the model forgets its format.'),
  'environment/latency_ms': from('openEnv', 'Mean time that the environment took to answer a call. While one episode waits, others are sampled.'),
  '<name>/success': from('openEnv', 'Of one of several environments: share of its scorable episodes that solved the task, by its own mark. Compare the environments here: their rewards may have different scales, and the run’s mean reward mixes them.'),
  '<name>/episodes': from('trlOpenEnv', 'Episodes of the step that this one of several environments played: its part of the prompts, by weight or by the dataset’s column, times num_generations.'),
  '<name>/turns': from('trlOpenEnv', 'Turns of an episode on average in this one of several environments.'),
  '<name>/unscorable': from('openEnv', 'Episodes of this one of several environments without a reward, because it failed or gave none.'),
  'environment/unscorable': from('openEnv', 'Number of episodes without a reward, because the environment failed or gave none. They are left out of mean, standard deviation and loss.'),
} as const satisfies Record<string, Explainer>

export type MetricKey = keyof typeof METRIC_EXPLAINERS

/** The entry of a metric, also of one whose name has a part that differs between environments; undefined for an unknown one. */
export function explainMetric(name: string): Explainer | undefined {
  if (Object.hasOwn(METRIC_EXPLAINERS, name)) return METRIC_EXPLAINERS[name as MetricKey]
  const key = name
    .replace(/^rewards?\/.+\/(mean|std)$/, 'rewards/<name>/$1')
    .replace(/^exit(\/.+)?$/, 'exit/<reason>')
    .replace(/^verdict(\/.+)?$/, 'verdict/<name>')
    .replace(/^(sampling|training)$/, 'seconds/$1')
    .replace(/^.+\/(success|episodes|turns|unscorable)$/, '<name>/$1')
  return Object.hasOwn(METRIC_EXPLAINERS, key) ? METRIC_EXPLAINERS[key as MetricKey] : undefined
}
