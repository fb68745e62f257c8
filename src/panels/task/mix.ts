/** Several environments as a person puts them together: shares, and the next spec after each change. Pure. */

import type { GrpoConfig } from '../../core/config'
import { MOST_MEMBERS } from '../../core/environment-spec-schema'
import { type EnvironmentSpec, type MixMember, type PromptSource, type SingleSpec, specName } from '../../core/environment-spec'
import { isOwnRewardAlone, OWN_REWARD } from '../../core/reward-funcs'
import { readNumber } from '../../core/typed-number'
import { nameServer } from '../../store/server-name'

export type MixSpec = Extract<EnvironmentSpec, { kind: 'mix' }>

const LANE: SingleSpec = { kind: 'builtin', name: 'lane' }
const CATCH: SingleSpec = { kind: 'builtin', name: 'catch' }

/** Empty prompts are the environment's own. */
export const memberOf = (environment: SingleSpec): MixMember => ({ environment, weight: 1, system_prompt: '', user_prompt: '' })

/** What several environments begin as: the present one and a game of the page beside it, half of the prompts each. */
export function startMix(present: EnvironmentSpec): MixSpec {
  if (present.kind === 'mix') return present
  const isLane = present.kind === 'builtin' && present.name === 'lane'
  return { kind: 'mix', members: [memberOf(present), memberOf(isLane ? CATCH : LANE)], dataset: null }
}

/** Each member's part of the prompts in percent, rounded so that they sum to 100. */
export function shares(members: readonly Pick<MixMember, 'weight'>[]): number[] {
  const total = members.reduce((sum, { weight }) => sum + weight, 0)
  const exact = members.map(({ weight }) => (100 * weight) / total)
  const whole = exact.map(Math.floor)
  const left = 100 - whole.reduce((sum, each) => sum + each, 0)
  const byRest = exact.map((each, i) => ({ i, rest: each - Math.floor(each) })).sort((a, b) => b.rest - a.rest || a.i - b.i)
  for (const { i } of byRest.slice(0, left)) whole[i] = (whole[i] ?? 0) + 1
  return whole
}

/** What was typed as a weight, or null where it is none. */
export function readWeight(text: string): number | null {
  const value = readNumber(text)
  return value > 0 && value <= 1e6 ? value : null
}

export const withMember = (spec: MixSpec, environment: SingleSpec): MixSpec => ({ ...spec, members: [...spec.members, memberOf(environment)] })
export const withoutMember = (spec: MixSpec, at: number): MixSpec => ({ ...spec, members: spec.members.filter((_, i) => i !== at) })
export const changeMember = (spec: MixSpec, at: number, change: Partial<MixMember>): MixSpec => ({
  ...spec,
  members: spec.members.map((member, i) => (i === at ? { ...member, ...change } : member)),
})
export const withDataset = (spec: MixSpec, dataset: PromptSource | null): MixSpec => ({ ...spec, dataset })

export const isFull = ({ members }: MixSpec): boolean => members.length >= MOST_MEMBERS

/** The reward functions for members that no environment judges: accuracy_reward beside the environments' own, where nobody chose others. */
export function withJudge(grpo: Pick<GrpoConfig, 'reward_funcs' | 'reward_weights'>): Pick<GrpoConfig, 'reward_funcs' | 'reward_weights'> {
  const { reward_funcs, reward_weights } = grpo
  return isOwnRewardAlone(reward_funcs, reward_weights) ? { reward_funcs: [OWN_REWARD, { name: 'accuracy_reward' }], reward_weights: null } : { reward_funcs, reward_weights }
}

/** Whether some prompts are judged by nobody. */
export function lacksJudge({ members }: MixSpec, { reward_funcs, reward_weights }: Pick<GrpoConfig, 'reward_funcs' | 'reward_weights'>): boolean {
  return members.some(({ environment }) => environment.kind === 'prompts') && isOwnRewardAlone(reward_funcs, reward_weights)
}

/** What the members are called in the field, in metrics and in a dataset's column: the second of a name is NAME_2. Servers by their short name. */
export function memberNames(members: readonly MixMember[]): string[] {
  const names: string[] = []
  for (const { environment } of members) {
    const base = environment.kind === 'openenv' ? nameServer(environment.url) : specName(environment)
    let [name, n] = [base, 1]
    while (names.includes(name)) name = `${base}_${++n}`
    names.push(name)
  }
  return names
}
