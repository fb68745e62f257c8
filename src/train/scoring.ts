/** From finished episodes to rewards: each reward function gives a column, the weighted sum is what an episode earned. */

import type { GrpoConfig, RunConfig } from '../core/config'
import type { Environment } from '../core/environment'
import { chosenNames } from '../core/environment-spec'
import type { Episode } from '../core/episode'
import { UNSCORABLE_EXITS } from '../core/episode'
import { PlaygroundError } from '../core/errors'
import type { Metrics } from '../core/events'
import { amongAll, type ChosenNames, type CustomReward, type EnvironmentTake, isFor, isOwnRewardAlone, NEEDS_SOLUTION, type RewardFunc, rewardName, rewardNames } from '../core/reward-funcs'
import { advantages, advantagesByFunction, groupStatistics, type GroupStatistics, mean, weightedRewards } from '../rl'
import type { RewardArguments } from '../rl/rewards/contract'
import { Logged } from './logged'

/** What a function of the person's own is called with, besides TRL's arguments. */
export interface CustomArguments extends RewardArguments {
  environments: readonly EnvironmentAccount[]
  trainer_state: { global_step: number; max_steps: number }
}

/** What is known of an episode's environment, plain data: a sandbox has no access to the environment itself. */
export interface EnvironmentAccount {
  name: string
  seed: number
  reward: number | null
  success: boolean | null
  exit: Episode['exit']
  turns: { reward: number | null; calls: { name: string; arguments: Record<string, unknown>; result: string; reward: number | null; done: boolean; error: boolean }[] }[]
}

/** Runs a function of the person's own; rejects with PlaygroundError('environment'). `metrics`: means of what it logged; `counts`: of how many values each is, 1 where absent. */
export type CallCustom = (func: CustomReward, args: CustomArguments, signal?: AbortSignal) => Promise<Given>

interface Given {
  rewards: (number | null)[]
  metrics?: Metrics
  counts?: Readonly<Record<string, number>>
  /** Completions that it gave NaN. */
  nan?: number
}

export interface ScoringOptions {
  grpo: Pick<GrpoConfig, 'reward_funcs' | 'reward_weights' | 'max_steps'>
  /** The environment's name. */
  environment: string
  /** chosenBy's, of several environments; undefined in a run of one, in which no function is limited. Every place that scores must say it. */
  chosen: ChosenNames | undefined
  step: number
  /** Absent: this place has no sandbox. */
  callCustom?: CallCustom
  /** Hears what a person should know of the functions, in a sentence that is the same at every step. */
  onRemark?: (text: string) => void
  signal?: AbortSignal
}

/** Throws PlaygroundError('config') where neither the environment nor a reward function judges: before anything is sampled in vain. */
export function assertJudged({ name, rewardless, unrewarded }: { name: string; rewardless?: boolean; unrewarded?: string }, { reward_funcs, reward_weights }: Pick<GrpoConfig, 'reward_funcs' | 'reward_weights'>): void {
  if (!rewardless || !isOwnRewardAlone(reward_funcs, reward_weights)) return
  // A class of the person's own can be given one.
  if (unrewarded !== undefined) throw new PlaygroundError('config', `Nobody judges the episodes: ${unrewarded}, and no reward function is chosen.`, 'Let get_reward() of the class return what the episode earned, or add a reward function under reward_funcs in the settings.')
  throw new PlaygroundError('config', `Nobody judges the episodes: ${name} gave no reward of its own, and no reward function is chosen.`, 'Add one under reward_funcs in the settings; a rollout_func is judged by the environment where it plays it (trainer.environment.open).')
}

/** Of a run of several environments, for ScoringOptions; undefined for one. */
export function chosenBy({ config, environment: { members = [] } }: { config: Pick<RunConfig, 'environment'>; environment: Pick<Environment, 'members'> }): ChosenNames | undefined {
  return chosenNames(config.environment, members.map(({ name }) => name))
}

/** Throws PlaygroundError('config') for a function whose limits leave it no environment of the run. */
export function assertLimits({ reward_funcs }: Pick<GrpoConfig, 'reward_funcs'>, chosen: ChosenNames | undefined): void {
  const names = Object.keys(chosen ?? {})
  const idle = chosen && reward_funcs.find((func) => !names.some((name) => isFor(func, name, chosen)))
  if (!idle) return
  const all = [...new Set(Object.values(chosen))].join(', ')
  throw new PlaygroundError('config', `${rewardName(idle, 'The environment’s reward')} is limited to ${(idle.only ?? []).join(', ')}, and this run has ${all}.`, 'Choose which environments it judges under reward_funcs in the settings.')
}

/**
 * Sets `reward` (the weighted sum) and `rewards` of each episode; episodes that the environment's own reward alone decides stay as they
 * are. An episode that failed has no reward, whatever a function would say of it: TRL would train on it.
 *
 * @returns what the functions logged with log_metric
 * @throws PlaygroundError 'config' for functions that cannot be called here
 */
export async function scoreEpisodes(episodes: readonly Episode[], options: ScoringOptions): Promise<Logged> {
  const { reward_funcs, reward_weights } = options.grpo
  if (reward_weights !== null && reward_weights.length !== reward_funcs.length) {
    throw new PlaygroundError('config', `${reward_weights.length} reward_weights do not fit ${reward_funcs.length} reward functions.`, 'Give each function one weight.')
  }
  if (isOwnRewardAlone(reward_funcs, reward_weights)) {
    assertJudged({ name: options.environment, rewardless: episodes.some(({ rewardless }) => rewardless) }, options.grpo)
    return new Logged()
  }
  assertLimits(options.grpo, options.chosen)
  const names = rewardNames(reward_funcs, options.environment, Object.keys(options.chosen ?? {}))
  const scorable = episodes.filter(({ exit }) => !UNSCORABLE_EXITS.includes(exit))
  const args = argumentsOf(scorable, options)
  const logged = new Logged()
  const columns: (number | null)[][] = []
  for (const func of reward_funcs) {
    const own = scorable.filter(({ environment }) => isFor(func, environment, options.chosen))
    // Called with its own episodes alone, as if there were no others.
    const isIdle = own.length === 0 && scorable.length > 0
    const given: Given = isIdle ? { rewards: [] } : await column(func, own, own.length === scorable.length ? args : argumentsOf(own, options), options)
    columns.push(amongAll(scorable, own, given.rewards))
    logged.add(given.metrics ?? {}, given.counts)
    if ((given.nan ?? 0) > 0) options.onRemark?.(`${rewardName(func, options.environment)} gave NaN, which counts as no opinion. Return null where it has none, and mend the sum where it has one.`)
  }
  const sums = weightedRewards(columns, reward_weights ?? reward_funcs.map(() => 1))
  const places = new Map(scorable.map((episode, i) => [episode, i]))
  for (const episode of episodes) {
    const i = places.get(episode)
    episode.rewards = Object.fromEntries(names.map((name, k) => [name, i === undefined ? null : (columns[k]?.[i] ?? null)]))
    episode.reward = i === undefined ? null : (sums[i] ?? null)
    // Where nobody else says what success is, the first function with an opinion does.
    if (i !== undefined && episode.rewardless) episode.success = (columns.map((rewards) => rewards[i]).find((reward) => reward !== null && reward !== undefined) ?? 0) >= 1
  }
  return logged
}

type Compared = Pick<GrpoConfig, 'multi_objective_aggregation' | 'reward_weights'>

/** Each reward function's column, where functions are compared for themselves; else the sums alone. */
function comparedColumns(episodes: readonly Episode[], { multi_objective_aggregation }: Pick<Compared, 'multi_objective_aggregation'>): (number | null)[][] {
  const names = Object.keys(episodes[0]?.rewards ?? {})
  if (multi_objective_aggregation === 'sum_then_normalize' || names.length === 0) return [episodes.map(({ reward }) => reward)]
  return names.map((name) => episodes.map((episode) => episode.rewards?.[name] ?? null))
}

/** Statistics of scored episodes' groups: which have a signal is a matter of how they are compared. A function of weight 0 only watches. */
export function groupsOf(episodes: readonly Episode[], grpo: Compared & Pick<GrpoConfig, 'num_generations'>): GroupStatistics[] {
  const columns = comparedColumns(episodes, grpo)
  const weighed = grpo.multi_objective_aggregation === 'sum_then_normalize' ? columns : columns.filter((_, k) => grpo.reward_weights?.[k] !== 0)
  return groupStatistics(episodes.map(({ reward }) => reward), grpo.num_generations, weighed)
}

/** Advantages of scored episodes, by one sum or function by function as `multi_objective_aggregation` says. */
export function advantagesOf(episodes: readonly Episode[], grpo: Compared & Pick<GrpoConfig, 'num_generations' | 'scale_rewards'>): Float64Array {
  if (grpo.multi_objective_aggregation === 'sum_then_normalize') return advantages(episodes.map(({ reward }) => reward), grpo.num_generations, grpo.scale_rewards)
  const columns = comparedColumns(episodes, grpo)
  return advantagesByFunction(columns, grpo.reward_weights ?? columns.map(() => 1), grpo.num_generations)
}

/** TRL's keyword arguments for these episodes; columns of dataset rows are lists like the others. */
export function argumentsOf(episodes: readonly Episode[], { environment, step, grpo }: Pick<ScoringOptions, 'environment' | 'step' | 'grpo'>): CustomArguments {
  const split = episodes.map(({ messages }) => {
    const first = messages.findIndex(({ role }) => role === 'assistant')
    return first < 0 ? messages.length : first
  })
  const keys = [...new Set(episodes.flatMap(({ columns }) => Object.keys(columns ?? {})))]
  return {
    ...Object.fromEntries(keys.map((key) => [key, episodes.map(({ columns }) => columns?.[key] ?? null)])),
    prompts: episodes.map(({ messages }, i) => messages.slice(0, split[i])),
    completions: episodes.map(({ messages }, i) => messages.slice(split[i])),
    completion_ids: episodes.map(({ ids, promptLength }) => ids.slice(promptLength)),
    environments: episodes.map(({ seed, reward, success, exit, turns, environment: played }) => ({
      name: played ?? environment,
      seed,
      reward,
      success: success ?? null,
      exit,
      turns: turns.map(({ calls }) => ({
        reward: sumOrNull(calls.map((call) => call.reward)),
        calls: calls.map(({ call, result, reward: each, done, error }) => ({ name: call.name, arguments: call.arguments, result, reward: each, done, error })),
      })),
    })),
    trainer_state: { global_step: step - 1, max_steps: grpo.max_steps },
  }
}

async function column(func: RewardFunc, episodes: readonly Episode[], args: CustomArguments, { callCustom, signal }: ScoringOptions): Promise<Given> {
  if (func.name === 'environment') return { rewards: episodes.map((episode) => environmentReward(episode, func.take)) }
  if (func.name === 'custom') {
    if (!callCustom) throw new PlaygroundError('config', `The reward function ${func.called} was not allowed to run.`, 'Read its code under reward_funcs in the settings and allow it.')
    return callCustom(func, args, signal)
  }
  // Of several environments, those without the column are not this function's.
  const foreign = episodes.length > 0 && episodes.every(({ environment, rewardless }) => environment !== undefined && !rewardless)
  if (NEEDS_SOLUTION.includes(func.name) && args['solution'] === undefined) {
    if (foreign) return { rewards: episodes.map(() => null) }
    throw new PlaygroundError('config', `${func.name} needs the column solution, and these episodes have none.`, 'Train on a dataset with a column named solution, or remove the function.')
  }
  const builtin = await import('../rl/rewards/builtin')
  return { rewards: (await builtin.builtinReward(func))(args) }
}

/** The environment's reward of an episode; what the turns gave is summed, or the last or the largest of it counts, or the last rubric_reward. */
function environmentReward(episode: Episode, take: EnvironmentTake): number | null {
  if (take === 'rubric_reward') return rubricReward(episode)
  const given = episode.turns.flatMap(({ calls }) => calls.flatMap(({ reward }) => (reward === null ? [] : [reward])))
  if (take === 'own' || given.length === 0) return episode.reward
  if (take === 'last') return given.at(-1) ?? null
  return take === 'max' ? Math.max(...given) : given.reduce((total, each) => total + each, 0)
}

/** null where the environment was called and sent none; without a call into it the episode has earned what it has by its own rule. */
function rubricReward({ turns, reward }: Episode): number | null {
  const calls = turns.flatMap((turn) => turn.calls)
  const last = calls.findLast(({ rubric }) => rubric !== undefined)?.rubric
  return last ?? (calls.some(({ error, refused }) => !error && !refused) ? null : reward)
}

function sumOrNull(rewards: readonly (number | null)[]): number | null {
  const given = rewards.filter((reward) => reward !== null)
  return given.length === 0 ? null : (mean(given) ?? 0) * given.length
}
