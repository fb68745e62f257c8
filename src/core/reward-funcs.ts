/** The reward functions that a run may have: plain data, so that they are in the link, in kept runs and in exports. */

import { z } from 'zod/mini'
import { MOST_MEMBERS } from './environment-spec-schema'

/**
 * 'own': as the environment's own rule says (carla's is its rubric_reward); 'rubric_reward': the last that it sent beside its rewards;
 * else over what its turns gave.
 */
export const ENVIRONMENT_TAKES = ['own', 'sum', 'last', 'max', 'rubric_reward'] as const
export type EnvironmentTake = (typeof ENVIRONMENT_TAKES)[number]

/** Longest code of a function of one's own, characters. */
export const LONGEST_CODE = 20_000
/** Most functions of a run. */
export const MOST_REWARD_FUNCS = 12

const finite = z.number().check(z.gte(-1e6), z.lte(1e6))
const count = z.int().check(z.gte(1), z.lte(1_000_000))

/** Names of environments (specName) that the function judges alone, in a run of several: it has no opinion of the others. Absent: all. */
const limited = { only: z.optional(z.array(z.string().check(z.minLength(1), z.maxLength(2000))).check(z.minLength(1), z.maxLength(MOST_MEMBERS))) }

/** By `name`; parameters under TRL's names. */
const rewardFuncSchema = z.discriminatedUnion('name', [
  z.strictObject({ name: z.literal('environment'), take: z.enum(ENVIRONMENT_TAKES), ...limited }),
  z.strictObject({ name: z.literal('think_format_reward'), ...limited }),
  z.strictObject({ name: z.literal('accuracy_reward'), ...limited }),
  z.strictObject({ name: z.literal('reasoning_accuracy_reward'), ...limited }),
  z.strictObject({ name: z.literal('soft_overlong_punishment_reward'), max_completion_len: count, soft_punish_cache: z.int().check(z.gte(0), z.lte(1_000_000)), ...limited }),
  z.strictObject({ name: z.literal('repetition_penalty_reward'), ngram_size: count, max_penalty: z.number().check(z.gte(-1e6), z.lte(0)), ...limited }),
  z.strictObject({
    name: z.literal('cosine_scaled_reward'),
    max_len: count,
    min_value_wrong: finite,
    max_value_wrong: finite,
    min_value_correct: finite,
    max_value_correct: finite,
    ...limited,
  }),
  /** A function of the person's own: JavaScript, run in the sandbox. */
  z.strictObject({
    name: z.literal('custom'),
    called: z.string().check(z.regex(/^[A-Za-z_]\w{0,39}$/)),
    code: z.string().check(z.maxLength(LONGEST_CODE)),
    ...limited,
  }),
])

export type RewardFunc = z.infer<typeof rewardFuncSchema>
export type RewardFuncName = RewardFunc['name']
export type CustomReward = Extract<RewardFunc, { name: 'custom' }>

/** What a run has where nobody chose: the environment's own reward alone. */
export const OWN_REWARD: RewardFunc = { name: 'environment', take: 'own' }

/** Functions that compare with the column `solution`. */
export const NEEDS_SOLUTION: readonly RewardFuncName[] = ['accuracy_reward', 'reasoning_accuracy_reward', 'cosine_scaled_reward']

/** What a function is called in metrics: the environment's by the environment's name, as in TRL. */
export function rewardName(func: RewardFunc, environment: string): string {
  return func.name === 'environment' ? environment : func.name === 'custom' ? func.called : func.name
}

/** Names of all functions, in order; the second of two alike is NAME_2. `members`: of several environments, whose own rewards are measured under their names. */
export function rewardNames(funcs: readonly RewardFunc[], environment: string, members: readonly string[] = []): string[] {
  const names: string[] = []
  for (const func of funcs) {
    const name = rewardName(func, environment)
    let [own, n] = [name, 1]
    while (names.includes(own) || members.includes(own)) own = `${name}_${++n}`
    names.push(own)
  }
  return names
}

/** Of several environments: as each was chosen (specName), by the name under which it is measured. */
export type ChosenNames = Readonly<Record<string, string>>

/** Whether a function judges an episode of this environment. Limits are read in runs of several environments alone, where an episode names its own. */
export function isFor({ only }: Pick<RewardFunc, 'only'>, played: string | undefined, chosen: ChosenNames | undefined): boolean {
  return only === undefined || chosen === undefined || played === undefined || only.includes(chosen[played] ?? played)
}

/** One reward for each of `all`: what `own` were given, in their order, and null for the others. */
export function amongAll<T>(all: readonly T[], own: readonly T[], rewards: readonly (number | null)[]): (number | null)[] {
  const given = new Map(own.map((one, i) => [one, rewards[i] ?? null]))
  return all.map((one) => given.get(one) ?? null)
}

/** Whether the environment's own reward is all there is, as it has always been. */
export function isOwnRewardAlone(funcs: readonly RewardFunc[], weights: readonly number[] | null): boolean {
  const [only, second] = funcs
  return only?.name === 'environment' && only.take === 'own' && only.only === undefined && second === undefined && (weights?.[0] ?? 1) === 1
}

const listSchema = z.array(rewardFuncSchema).check(z.minLength(1), z.maxLength(MOST_REWARD_FUNCS))
const weightsSchema = z.nullable(z.array(finite))

/** Functions and weights from a stranger's JSON; null where they are not such, or their numbers differ. */
export function readRewards(funcs: unknown, weights: unknown): { reward_funcs: RewardFunc[]; reward_weights: number[] | null } | null {
  const [list, numbers] = [listSchema.safeParse(funcs), weightsSchema.safeParse(weights)]
  if (!list.success || !numbers.success) return null
  if (numbers.data !== null && numbers.data.length !== list.data.length) return null
  return { reward_funcs: list.data, reward_weights: numbers.data }
}
