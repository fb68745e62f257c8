/** A run's reward functions as train.py has them: TRL's own by name, the environment's, and a STUB for what has no Python. */

import type { RewardFunc } from '../../core/reward-funcs'
import { comment, py } from './python'

/** How TRL makes each built-in; with parameters it is made by a function. */
const MAKERS = {
  soft_overlong_punishment_reward: 'get_soft_overlong_punishment',
  repetition_penalty_reward: 'get_repetition_penalty_reward',
  cosine_scaled_reward: 'get_cosine_scaled_reward',
} as const

type Builtin = Exclude<RewardFunc, { name: 'environment' | 'custom' }>
const isBuiltin = (func: RewardFunc): func is Builtin => func.name !== 'environment' && func.name !== 'custom'
const isMade = (func: Builtin): func is Extract<Builtin, { name: keyof typeof MAKERS }> => func.name in MAKERS

/** The import of what TRL has itself. */
export function rewardImports(funcs: readonly RewardFunc[]): string[] {
  const names = [...new Set(funcs.filter(isBuiltin).map((func) => (isMade(func) ? MAKERS[func.name] : func.name)))].sort()
  return names.length === 0 ? [] : [`from trl.rewards import ${names.join(', ')}`]
}

/** The argument `reward_funcs` of GRPOTrainer. */
export function rewardLines(funcs: readonly RewardFunc[]): string {
  const [only] = funcs
  if (funcs.length === 1 && only?.name === 'environment' && only.take === 'own') return '        reward_funcs=environment_reward,'
  return ['        reward_funcs=[', ...funcs.map(line), '        ],'].join('\n')
}

/** Weights of the functions that train.py has. */
export function mappedWeights(funcs: readonly RewardFunc[], weights: readonly number[]): number[] {
  return weights.filter((_, i) => funcs[i]?.name !== 'custom')
}

function line(func: RewardFunc): string {
  if (func.name === 'environment') {
    const rule = func.take === 'own' ? [] : [comment(`STUB: on the page the reward is the ${func.take === 'rubric_reward' ? 'last rubric_reward that was sent' : `${func.take} of what the turns gave`}; here it is by the environment's own rule.`, 12)]
    return [...rule, '            environment_reward,'].join('\n')
  }
  if (func.name === 'custom') {
    // Its code must not end the comment.
    const code = func.code.split(/\r\n|[\r\n\u2028\u2029]/).map((each) => `    ${each}`)
    return comment([`STUB: ${func.called} is JavaScript on the page and is left out here, with its weight. Write it in Python:`, ...code].join('\n'), 12)
  }
  if (!isMade(func)) return `            ${func.name},`
  const { name, ...parameters } = func
  return `            ${MAKERS[name]}(${Object.entries(parameters).map(([key, value]) => `${key}=${py(value)}`).join(', ')}),`
}
