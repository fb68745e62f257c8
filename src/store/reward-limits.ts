/** Which of a run's environments each reward function judges: what can be chosen, and the functions after each choice. Pure. */

import { type EnvironmentSpec, type SingleSpec, singleSpecs, specName } from '../core/environment-spec'
import type { RewardFunc } from '../core/reward-funcs'
import { nameServer } from './server-name'

/** An environment of a run of several: its name in limits, and what a person reads. */
export interface Judgeable {
  name: string
  label: string
}

/** Each once; none in a run of one, where nothing is limited. */
export function judgeable(spec: EnvironmentSpec): Judgeable[] {
  if (spec.kind !== 'mix') return []
  const labels = new Map(singleSpecs(spec).map((one) => [specName(one), labelOf(one)]))
  return labels.size < 2 ? [] : [...labels].map(([name, label]) => ({ name, label }))
}

const labelOf = (spec: SingleSpec): string => (spec.kind === 'openenv' ? nameServer(spec.url) : specName(spec))

/** The environments that a function judges, in the run's order. */
export function judged({ only }: Pick<RewardFunc, 'only'>, all: readonly Judgeable[]): Judgeable[] {
  return all.filter(({ name }) => only === undefined || only.includes(name))
}

/** With one environment more or less; all of them is no limit, and the last one stays. */
export function withJudged(func: RewardFunc, name: string, judges: boolean, all: readonly Judgeable[]): RewardFunc {
  const now = judged(func, all).map((each) => each.name)
  const names = all.map((each) => each.name).filter((each) => (each === name ? judges : now.includes(each)))
  if (names.length === 0) return func
  const next: RewardFunc = { ...func, only: names }
  if (names.length === all.length) delete next.only
  return next
}

/** Environments of a run of several that no function judges. The environment's own reward is none where there is only a dataset. */
export function unjudged(spec: EnvironmentSpec, funcs: readonly RewardFunc[]): Judgeable[] {
  const answers = new Set(singleSpecs(spec).flatMap((one) => (one.kind === 'prompts' ? [specName(one)] : [])))
  return judgeable(spec).filter((one) => !funcs.some((func) => judged(func, [one]).length > 0 && !(func.name === 'environment' && answers.has(one.name))))
}
