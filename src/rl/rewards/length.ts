/** Rewards for length and against repetition, by tokens: what keeps a model from rambling, or from saying the same again and again. */

import type { RewardFunction } from './contract'

/**
 * TRL's `get_soft_overlong_punishment` (DAPO, arXiv 2503.14476, eq. 13): 0 while there is room, then down in a straight line to −1 over
 * the last `soft_punish_cache` tokens, and −1 beyond `max_completion_len`.
 */
export function softOverlongPunishment({ max_completion_len, soft_punish_cache }: { max_completion_len: number; soft_punish_cache: number }): RewardFunction {
  const free = max_completion_len - soft_punish_cache
  return ({ completion_ids }) =>
    completion_ids.map(({ length }) => {
      if (length <= free) return 0
      return length <= max_completion_len ? (free - length) / soft_punish_cache : -1
    })
}

/**
 * TRL's `get_repetition_penalty_reward` (arXiv 2502.03373, C.2): `max_penalty` times the share of n-grams that had been there before.
 * A completion shorter than an n-gram gets 0.
 */
export function repetitionPenaltyReward({ ngram_size, max_penalty }: { ngram_size: number; max_penalty: number }): RewardFunction {
  return ({ completion_ids }) =>
    completion_ids.map((ids) => {
      const total = ids.length - ngram_size + 1
      if (total <= 0) return 0
      const different = new Set(Array.from({ length: total }, (_, i) => ids.slice(i, i + ngram_size).join()))
      const repeated = 1 - different.size / total
      return repeated === 0 ? 0 : repeated * max_penalty
    })
}

/** Ends of the cosine: what the shortest and the longest completion get. */
export interface CosineOptions {
  max_len: number
  min_value_wrong: number
  max_value_wrong: number
  min_value_correct: number
  max_value_correct: number
}

/**
 * TRL's `get_cosine_scaled_reward` (arXiv 2502.03373, C.1): a right answer earns the more the shorter it is, a wrong one loses the more the
 * shorter it is; in between half a cosine over `max_len` tokens.
 *
 * @param isCorrect 1, 0, or null where the solution cannot be read: `accuracyReward`
 */
export function cosineScaledReward(options: CosineOptions, isCorrect: RewardFunction): RewardFunction {
  return (args) => {
    const correct = isCorrect(args)
    return args.completion_ids.map(({ length }, i) => {
      const right = correct[i] ?? null
      if (right === null) return null
      const [long, short] = right ? [options.min_value_correct, options.max_value_correct] : [options.max_value_wrong, options.min_value_wrong]
      return long + 0.5 * (short - long) * (1 + Math.cos(Math.min(length / options.max_len, 1) * Math.PI))
    })
  }
}
