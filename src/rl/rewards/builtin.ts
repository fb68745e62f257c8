/** TRL's built-in reward functions by name; the algebra is fetched only when an answer is to be compared. */

import type { RewardFunc } from '../../core/reward-funcs'
import { accuracyReward, reasoningAccuracyReward } from './accuracy'
import type { RewardFunction } from './contract'
import { thinkFormatReward } from './format'
import { cosineScaledReward, repetitionPenaltyReward, softOverlongPunishment } from './length'

export type BuiltinReward = Exclude<RewardFunc, { name: 'environment' | 'custom' }>

const equality = async () => (await import('./equal')).equalAnswers

/** The function that a run's settings name. */
export async function builtinReward(func: BuiltinReward): Promise<RewardFunction> {
  switch (func.name) {
    case 'think_format_reward':
      return thinkFormatReward
    case 'soft_overlong_punishment_reward':
      return softOverlongPunishment(func)
    case 'repetition_penalty_reward':
      return repetitionPenaltyReward(func)
    case 'accuracy_reward':
      return accuracyReward(await equality())
    case 'reasoning_accuracy_reward':
      return reasoningAccuracyReward(await equality())
    case 'cosine_scaled_reward':
      return cosineScaledReward(func, accuracyReward(await equality()))
  }
}
