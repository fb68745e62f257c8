/** What of a run's settings goes on where another environment takes the place of the present one. Pure. */

import type { GrpoConfig, RunConfig } from '../core/config'
import { datasetsOf, type EnvironmentSpec, singleSpecs, specName } from '../core/environment-spec'
import { NEEDS_SOLUTION, OWN_REWARD, type RewardFunc } from '../core/reward-funcs'
import { CURATED_MODELS, isHubModel } from '../env/models'
import { defaultWithModel, withModel } from './model-settings'
import { defaultConfig, presetOf } from './presets'
import { tidy } from './reward-settings'

type Rewards = Pick<GrpoConfig, 'reward_funcs' | 'reward_weights'>

/**
 * The settings with another environment. A preset brings its own; else the model stays, and whatever differs from what the present environment
 * started with. `offered`: the prompts that the present environment brought by itself, which go with it.
 */
export function nextConfig(spec: EnvironmentSpec, config: RunConfig, offered: { system: string; user: string } | null): RunConfig {
  if (presetOf(spec)) {
    const { grpo, ...base } = defaultWithModel(spec, config)
    return { ...base, grpo: { ...grpo, seed: config.grpo.seed }, backend: config.backend }
  }
  const base = defaultConfig(spec)
  const { model, precision, adapter } = config
  const isKnown = isHubModel(model) || CURATED_MODELS.some((each) => each.model === model)
  const next = isKnown ? { ...withModel(base, config), precision, adapter } : base
  return keepChanges(config, { ...next, ...ownPrompts(spec, config, offered), ...joined(spec, config) })
}

/** The present environment as one of several keeps its edited tools, and the prompts that a person gave it. */
function joined(spec: EnvironmentSpec, config: RunConfig): Partial<RunConfig> {
  if (spec.kind !== 'mix' || !spec.members.some(({ environment }) => same(environment, config.environment))) return {}
  const start = defaultConfig(config.environment)
  const prompts = {
    ...(config.system_prompt !== start.system_prompt && { system_prompt: config.system_prompt }),
    ...(config.user_prompt !== start.user_prompt && { user_prompt: config.user_prompt }),
  }
  const members = spec.members.map((member) => (same(member.environment, config.environment) ? { ...member, ...prompts } : member))
  return { environment: { ...spec, members }, tool_edits: config.tool_edits }
}

/** A class that is written on keeps the prompts that a person gave it. */
function ownPrompts(spec: EnvironmentSpec, config: RunConfig, offered: { system: string; user: string } | null) {
  const stays = spec.kind === 'custom' && config.environment.kind === 'custom'
  const { system_prompt, user_prompt } = config
  return {
    ...(stays && system_prompt !== offered?.system && { system_prompt }),
    ...(stays && user_prompt !== offered?.user && { user_prompt }),
  }
}

/** `next` with what a person or a link had changed in `before`, as far as it can work there; environment, model and prompts are next's. */
export function keepChanges(before: RunConfig, next: RunConfig): RunConfig {
  const { environment, tool_edits, model, model_revision, precision, adapter, system_prompt, user_prompt } = next
  const former = withModel(defaultConfig(before.environment), before).grpo
  const keys = Object.keys(next.grpo) as (keyof GrpoConfig)[]
  const kept = keys.map((key) => [key, key === 'seed' || !same(before.grpo[key], former[key]) ? before.grpo[key] : next.grpo[key]])
  const grpo = { ...(Object.fromEntries(kept) as unknown as GrpoConfig), ...rewardsFor(before, former, next) }
  return { ...before, environment, tool_edits, model, model_revision, precision, adapter, system_prompt, user_prompt, grpo }
}

/** Names of the settings of `before` that a person or a link had changed and that `next` has otherwise, though they could have stayed. */
export function lostChanges(before: RunConfig, next: RunConfig): string[] {
  const kept = keepChanges(before, next)
  const differing = <T extends object>(a: T, b: T) => [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((key) => !same(a[key as keyof T], b[key as keyof T]))
  return [...differing(kept.grpo, next.grpo), ...differing(kept.lora, next.lora), ...differing({ ...kept, grpo: 0, lora: 0 }, { ...next, grpo: 0, lora: 0 })]
}

/** Chosen reward functions but those that can never judge there: an environment's where there is none, comparing ones where no dataset has a solution. */
function rewardsFor({ grpo: { reward_funcs, reward_weights }, environment }: RunConfig, former: GrpoConfig, next: RunConfig): Rewards {
  const nexts = { reward_funcs: next.grpo.reward_funcs, reward_weights: next.grpo.reward_weights }
  if (same([reward_funcs, reward_weights], [former.reward_funcs, former.reward_weights])) return nexts
  const judges = plays(next.environment)
  const hasRows = datasetsOf(next.environment).length > 0
  const pairs = reward_funcs
    .map((func, i) => ({ func: limitedTo(func, next.environment), weight: reward_weights?.[i] ?? 1 }))
    .filter(({ func: { name } }) => (name === 'environment' ? judges : hasRows || !NEEDS_SOLUTION.includes(name)))
  if (pairs.length === 0) return nexts
  // Where there was no environment nobody could choose its reward.
  if (judges && !plays(environment)) pairs.unshift({ func: OWN_REWARD, weight: 1 })
  return tidy({ reward_funcs: pairs.map(({ func }) => func), reward_weights: pairs.map(({ weight }) => weight) })
}

/** A function that judges some environments alone goes on with those that are there; where none is, it judges all. */
function limitedTo(given: RewardFunc, spec: EnvironmentSpec): RewardFunc {
  const { only, ...func } = given
  const names = spec.kind === 'mix' ? spec.members.map(({ environment }) => specName(environment)) : []
  const left = only?.filter((name) => names.includes(name)) ?? []
  return left.length > 0 ? { ...func, only: left } : func
}

/** Whether episodes are played, not only prompts answered. */
const plays = (spec: EnvironmentSpec): boolean => singleSpecs(spec).some(({ kind }) => kind !== 'prompts')

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
