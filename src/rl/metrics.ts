/**
 * The curves of a run. Names and definitions are TRL's where TRL has them, so that a run here and a run there can be laid
 * side by side; the others (turns, exits, parse failures, latency, unscorable, success, useful groups) say what TRL
 * cannot. null means undefined (nothing to average), which is not 0.
 */

import type { GrpoConfig, ScaleRewards } from '../core/config'
import { unparsed, verdictOf, VERDICTS, type Episode, type ExitReason } from '../core/episode'
import type { Metrics } from '../core/events'
import type { GroupStatistics } from './advantages'
import { countTrained, type PolicySequenceStatistics } from './loss'
import { type MismatchOptions, mismatchWeights } from './ratio'
import { maximum, mean, minimum, standardDeviation, sum } from './statistics'
import { TERM_OF } from './terms'

/** Ways in which an episode ends, each a metric. */
export const EXIT_REASONS: readonly ExitReason[] = ['env_done', 'answered', 'turn_limit', 'token_limit', 'env_error', 'env_unreadable', 'stopped']

/**
 * reward, reward_std (ddof 1 over the whole step, not the mean of group deviations), rewards/{name}/mean and /std,
 * frac_reward_zero_std (share of scorable episodes whose group, or with 'batch' whose step, has no spread), success (share
 * of scorable episodes that solved the task, as the environment says), groups/useful (share of groups with a signal), groups/best_reward and
 * /worst_reward, and completions/effective (number of episodes with a non-zero advantage).
 *
 * @param name what the reward is called, as TRL's environment class name
 * @param advantages [episodes], same order
 */
export function rewardMetrics(
  episodes: readonly Episode[],
  groups: readonly GroupStatistics[],
  advantages: ArrayLike<number>,
  options: { name: string; scale_rewards: ScaleRewards; isSuccess: (reward: number) => boolean },
): Metrics {
  const rewards = episodes.map((episode) => episode.reward)
  const std = standardDeviation(rewards)
  const signal = new Map(groups.map((group) => [group.group, group.signal]))
  const anySpread = std !== null && std > 1e-8
  const noSpread = episodes.map((episode) => {
    if (episode.reward === null) return null
    return (options.scale_rewards === 'batch' ? anySpread : signal.get(episode.group)) ? 0 : 1
  })
  return {
    reward: mean(rewards),
    reward_std: std,
    ...rewardParts(episodes, options.name),
    frac_reward_zero_std: mean(noSpread),
    success: mean(episodes.flatMap(({ reward, rewards: parts, success, environment }) => (reward === null ? [] : [(parts || environment !== undefined ? success === true : options.isSuccess(reward)) ? 1 : 0]))),
    'groups/useful': mean(groups.map((group) => (group.signal ? 1 : 0))),
    ...(groups.length > 0 && groupExtremes(episodes, groups)),
    'completions/effective': Array.from(advantages).filter((advantage) => advantage !== 0).length,
  }
}

/** Best and worst reward of a group, means over the groups that have one: what the policy can do, and what it still does. */
function groupExtremes(episodes: readonly Episode[], groups: readonly GroupStatistics[]): Metrics {
  const rewards = groups.map(({ group }) => episodes.flatMap((episode) => (episode.group === group && episode.reward !== null ? [episode.reward] : [])))
  return { 'groups/best_reward': mean(rewards.map(maximum)), 'groups/worst_reward': mean(rewards.map(minimum)) }
}

/** rewards/{name}/mean and /std of each reward function, of the environment's alone where there is no other. */
function rewardParts(episodes: readonly Episode[], environment: string): Metrics {
  const names = Object.keys(episodes.find(({ rewards }) => rewards)?.rewards ?? {})
  const columns = names.length > 0 ? names.map((name) => [name, episodes.map(({ rewards }) => rewards?.[name] ?? null)] as const) : [[environment, episodes.map(({ reward }) => reward)] as const]
  return Object.fromEntries(columns.flatMap(([name, rewards]) => [[`rewards/${name}/mean`, mean(rewards)], [`rewards/${name}/std`, standardDeviation(rewards)]]))
}

/**
 * Where a run has several environments, for each: rewards/{name}/mean and /std of its own episodes, {name}/success, {name}/episodes,
 * {name}/turns and {name}/unscorable. Nothing where there is one.
 */
export function byEnvironment(episodes: readonly Episode[]): Metrics {
  const metrics: Metrics = {}
  for (const name of new Set(episodes.flatMap(({ environment }) => environment ?? []))) {
    const own = episodes.filter(({ environment }) => environment === name)
    const rewards = own.map(({ reward }) => reward)
    metrics[`rewards/${name}/mean`] = mean(rewards)
    metrics[`rewards/${name}/std`] = standardDeviation(rewards)
    metrics[`${name}/success`] = mean(own.flatMap(({ reward, success }) => (reward === null ? [] : [success === true ? 1 : 0])))
    metrics[`${name}/episodes`] = own.length
    metrics[`${name}/turns`] = mean(own.map(({ turns }) => turns.length))
    metrics[`${name}/unscorable`] = rewards.filter((reward) => reward === null).length
  }
  return metrics
}

/**
 * Lengths in model-written tokens over the whole step, before `mask_truncated_completions`; the `terminated` ones over
 * episodes that ended in an end-of-turn token (0 if none, as in TRL); clipped_ratio = share that did not; tokens/{author} =
 * tokens after the prompt by who wrote them; turns/mean and the share of every exit reason.
 */
export function completionMetrics(episodes: readonly Episode[]): Metrics {
  const lengths = episodes.map((episode) => countTrained(episode.mask))
  const terminated = lengths.filter((_, i) => episodes[i]?.terminated)
  const authors = (author: string) =>
    sum(episodes.map((episode) => episode.authors.slice(episode.promptLength).filter((who) => who === author).length))
  const metrics: Metrics = {
    'completions/mean_length': mean(lengths),
    'completions/min_length': minimum(lengths),
    'completions/max_length': maximum(lengths),
    'completions/mean_terminated_length': mean(terminated) ?? 0,
    'completions/min_terminated_length': minimum(terminated) ?? 0,
    'completions/max_terminated_length': maximum(terminated) ?? 0,
    'completions/clipped_ratio': mean(episodes.map((episode) => (episode.terminated ? 0 : 1))),
    'tokens/model': authors('model'),
    'tokens/environment': authors('environment'),
    'tokens/template': authors('template'),
    'turns/mean': mean(episodes.map((episode) => episode.turns.length)),
  }
  for (const reason of EXIT_REASONS) {
    metrics[`exit/${reason}`] = mean(episodes.map((episode) => (episode.exit === reason ? 1 : 0)))
  }
  return metrics
}

/** What one step adds to TRL's cumulative `num_tokens`: prompt tokens and model-written tokens, no tool results. */
export function countTokens(episodes: readonly Episode[]): number {
  return sum(episodes.map((episode) => episode.promptLength + countTrained(episode.mask)))
}

/**
 * verdict/{name} = share of episodes by what stands behind their reward (see Verdict), verdict/said_zero = share in which the
 * environment itself said 0: that is neither a failure, nor a frame that we could not read, nor a spent budget.
 * tools/call_frequency = parsed calls per episode; tools/failure_frequency = failed ÷ parsed calls (0 without calls; an
 * unparseable call is neither, as in TRL); tools/parse_failure_frequency = unparseable ÷ attempted calls (0 without
 * attempts); environment/latency_ms = mean answer time of a call that reached the environment; environment/unscorable = number of episodes without a reward.
 */
export function environmentMetrics(episodes: readonly Episode[]): Metrics {
  const turns = episodes.flatMap((episode) => episode.turns)
  const calls = turns.flatMap((turn) => turn.calls)
  const unparseable = sum(turns.map(unparsed))
  const attempts = calls.length + unparseable
  const verdicts = episodes.map(verdictOf)
  const share = (count: number) => (episodes.length === 0 ? null : count / episodes.length)
  const shares = VERDICTS.map((name) => [`verdict/${name}`, share(verdicts.filter((verdict) => verdict === name).length)])
  return {
    ...(Object.fromEntries(shares) as Metrics),
    'verdict/said_zero': share(episodes.filter(({ reward }, i) => verdicts[i] === 'said' && reward === 0).length),
    'tools/call_frequency': episodes.length === 0 ? null : calls.length / episodes.length,
    'tools/failure_frequency': calls.length === 0 ? 0 : calls.filter((call) => call.error).length / calls.length,
    'tools/parse_failure_frequency': attempts === 0 ? 0 : unparseable / attempts,
    'environment/latency_ms': mean(calls.filter((call) => !call.refused).map((call) => call.ms)),
    'environment/unscorable': episodes.filter((episode) => episode.reward === null).length,
  }
}

/** One sequence's log-probs as the sampler and as the training graph computed them; arrays are [tokens]. */
export interface MismatchSequence {
  mask: ArrayLike<number>
  sampler: ArrayLike<number>
  /** Before the update. */
  train: ArrayLike<number>
}

/**
 * How far the sampler and the training graph disagree: the absolute difference of log-probs over trained tokens, and the ratio
 * exp(train − sampler) by which the loss is corrected, bounded as the settings say: a value a token, or with the sequence modes a value a
 * sequence. Without the correction it is every token's ratio as it is.
 */
export function mismatchMetrics(sequences: readonly MismatchSequence[], options: MismatchOptions): Metrics {
  const differences: number[] = []
  const ratios: number[] = []
  const bySequence = options.vllm_importance_sampling_mode.startsWith('sequence')
  for (const { mask, sampler, train } of sequences) {
    const weights = mismatchWeights(train, sampler, mask, options)
    const before = differences.length
    for (let t = 0; t < mask.length; t++) {
      if (mask[t] !== 1) continue
      const difference = (train[t] as number) - (sampler[t] as number)
      differences.push(difference)
      if (!weights || !bySequence) ratios.push(weights ? (weights[t] as number) : Math.exp(difference))
    }
    if (weights && bySequence && differences.length > before) ratios.push(weights[0] as number)
  }
  return {
    'sampling/sampling_logp_difference/mean': mean(differences.map(Math.abs)),
    'sampling/sampling_logp_difference/max': maximum(differences.map(Math.abs)),
    'sampling/importance_sampling_ratio/min': minimum(ratios),
    'sampling/importance_sampling_ratio/mean': mean(ratios),
    'sampling/importance_sampling_ratio/max': maximum(ratios),
  }
}

/** How a batch's mismatch is measured: what other weights sampled is weighed by ρ itself, so its ratios are those, not the correction's. */
export function mismatchOptions<O extends MismatchOptions>(options: O, stale: boolean): O {
  return stale ? { ...options, vllm_importance_sampling_correction: false } : options
}

/** One optimizer step. */
export interface UpdateRecord {
  /** With the entropy bonus. */
  loss: number
  /** Without it. */
  policy_loss: number
  /** The bonus' coefficient after the step; absent where there is no bonus. */
  entropy_coef?: number
  /** Before clipping. */
  grad_norm: number
  /** The rate that was applied. */
  learning_rate: number
  /** One per trained sequence, in episode order; entropy = sum over its trained tokens, nats. */
  sequences: readonly (PolicySequenceStatistics & { entropy: number })[]
}

/**
 * loss, entropy, kl (only with beta), clip_ratio/*: token means over the optimizer step (with one ρ a sequence: means over sequences),
 * averaged over the step's optimizer steps; clip_ratio/low_min and /high_max are over sequences of the sequence's clipped share.
 * grad_norm, learning_rate and entropy_coef are the last optimizer step's, as the Hugging Face Trainer logs them. cispo has its own clip
 * metric, vespo the mean φ over sequences. off_policy/masked (not TRL's): share of sequences that the off-policy mask left out.
 */
export function updateMetrics(updates: readonly UpdateRecord[], options: Pick<GrpoConfig, 'loss_type' | 'off_policy_mask_threshold'>): Metrics {
  const last = updates.at(-1)
  const average = (of: (update: UpdateRecord) => number | null) => mean(updates.map(of))
  type Sequence = UpdateRecord['sequences'][number]
  const over = (size: (sequence: Sequence) => number, of: (sequence: Sequence) => number) =>
    average(({ sequences }) => {
      const all = sum(sequences.map(size))
      return all === 0 ? null : sum(sequences.map(of)) / all
    })
  const perToken = (of: (sequence: Sequence) => number) => over(({ tokens }) => tokens, of)
  const perRatio = (of: (sequence: Sequence) => number) => over(({ counted }) => counted, of)
  const perSequence = (of: (sequence: Sequence) => number) => over(() => 1, of)
  const shares = (update: UpdateRecord, of: (sequence: Sequence) => number) =>
    update.sequences.filter((sequence) => sequence.counted > 0).map((sequence) => of(sequence) / sequence.counted)
  const metrics: Metrics = {
    loss: average((update) => update.loss),
    grad_norm: last?.grad_norm ?? null,
    learning_rate: last?.learning_rate ?? null,
    entropy: perToken((sequence) => sequence.entropy),
  }
  const family = TERM_OF[options.loss_type]
  if (family === 'clip') {
    Object.assign(metrics, {
      'clip_ratio/low_mean': perRatio((sequence) => sequence.clippedLow),
      'clip_ratio/low_min': average((update) => minimum(shares(update, (sequence) => sequence.clippedLow))),
      'clip_ratio/high_mean': perRatio((sequence) => sequence.clippedHigh),
      'clip_ratio/high_max': average((update) => maximum(shares(update, (sequence) => sequence.clippedHigh))),
      'clip_ratio/region_mean': perRatio((sequence) => sequence.clippedLow + sequence.clippedHigh),
    })
  }
  if (family === 'cispo') metrics['cispo_clip_ratio'] = perRatio((sequence) => sequence.clippedHigh)
  if (family === 'vespo') metrics['vespo/phi_seq_mean'] = perSequence((sequence) => sequence.phi ?? 0)
  if (options.off_policy_mask_threshold !== null) metrics['off_policy/masked'] = perSequence((sequence) => (sequence.offPolicy ? 1 : 0))
  if (last?.entropy_coef !== undefined) {
    metrics['entropy_coef'] = last.entropy_coef
    metrics['policy_loss'] = average((update) => update.policy_loss)
  }
  if (updates.some((update) => update.sequences.some((sequence) => sequence.kl !== null))) {
    metrics['kl'] = perToken((sequence) => sequence.kl ?? 0)
  }
  return metrics
}
