/** Changes to a run's reward functions: one more, one less, another weight or parameter. Pure; weights stay beside their functions. */

import type { GrpoConfig } from '../core/config'
import { isOwnRewardAlone, OWN_REWARD, type RewardFunc, type RewardFuncName } from '../core/reward-funcs'

type Rewards = Pick<GrpoConfig, 'reward_funcs' | 'reward_weights'>

/** Where a function of one's own begins: it runs as it is. */
export const STARTER_CODE = `// Called once for all completions of a step; returns one number for each, null for no opinion.
function my_reward({ prompts, completions, completion_ids, environments, trainer_state, log_metric }) {
  return completions.map((messages) => (messages[0].content.length < 200 ? 1 : 0))
}
`

/** A new function with parameters that suit the run. */
export function newFunction(name: RewardFuncName, { max_completion_length }: Pick<GrpoConfig, 'max_completion_length'>): RewardFunc {
  switch (name) {
    case 'environment':
      return { name, take: 'own' }
    case 'soft_overlong_punishment_reward':
      return { name, max_completion_len: max_completion_length, soft_punish_cache: Math.floor(max_completion_length / 5) }
    case 'repetition_penalty_reward':
      return { name, ngram_size: 3, max_penalty: -1 }
    case 'cosine_scaled_reward':
      return { name, max_len: max_completion_length, min_value_wrong: -1, max_value_wrong: -0.5, min_value_correct: 0.5, max_value_correct: 1 }
    case 'custom':
      return { name, called: 'my_reward', code: STARTER_CODE }
    default:
      return { name }
  }
}

/** With one function more, of weight 1. */
export function withFunction({ reward_funcs, reward_weights }: Rewards, func: RewardFunc): Rewards {
  return { reward_funcs: [...reward_funcs, func], reward_weights: reward_weights && [...reward_weights, 1] }
}

/** Without the function at this place; the last one stays. */
export function withoutFunction(rewards: Rewards, at: number): Rewards {
  const { reward_funcs, reward_weights } = rewards
  if (reward_funcs.length === 1) return rewards
  return tidy({ reward_funcs: reward_funcs.filter((_, i) => i !== at), reward_weights: reward_weights && reward_weights.filter((_, i) => i !== at) })
}

/** With another function in this place. */
export function withChanged({ reward_funcs, reward_weights }: Rewards, at: number, func: RewardFunc): Rewards {
  return { reward_funcs: reward_funcs.map((each, i) => (i === at ? func : each)), reward_weights }
}

/** With another weight for the function at this place. */
export function withWeight({ reward_funcs, reward_weights }: Rewards, at: number, weight: number): Rewards {
  return tidy({ reward_funcs, reward_weights: reward_funcs.map((_, i) => (i === at ? weight : (reward_weights?.[i] ?? 1))) })
}

/** For prompts that no environment judges: accuracy_reward where nobody chose and there is a column to compare with; none where there is not. */
export function forPrompts(rewards: Rewards, columns: readonly string[]): Rewards {
  const { reward_funcs, reward_weights } = rewards
  const [only, second] = reward_funcs
  const isChosen = second !== undefined || !(only?.name === 'accuracy_reward' || isOwnRewardAlone(reward_funcs, reward_weights))
  if (isChosen) return { reward_funcs, reward_weights }
  return { reward_funcs: [columns.includes('solution') ? { name: 'accuracy_reward' } : OWN_REWARD], reward_weights: null }
}

/** Weights that are all 1 are TRL's default: none. */
export function tidy({ reward_funcs, reward_weights }: Rewards): Rewards {
  return { reward_funcs, reward_weights: reward_weights?.every((weight) => weight === 1) ? null : reward_weights }
}
