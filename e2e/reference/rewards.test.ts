/** Our reward functions against TRL's own, on formats, lengths and hundreds of maths answers. */

import { describe, expect, it } from 'vitest'
import { accuracyReward, reasoningAccuracyReward } from '../../src/rl/rewards/accuracy'
import type { RewardArguments } from '../../src/rl/rewards/contract'
import { equalAnswers } from '../../src/rl/rewards/equal'
import { thinkFormatReward } from '../../src/rl/rewards/format'
import { type CosineOptions, cosineScaledReward, repetitionPenaltyReward, softOverlongPunishment } from '../../src/rl/rewards/length'
import { referenceJson } from './reference'

interface RewardCases {
  formats: { content: string; reward: number }[]
  ids: number[][]
  overlong: { options: { max_completion_len: number; soft_punish_cache: number }; rewards: number[] }[]
  repetition: { options: { ngram_size: number; max_penalty: number }; rewards: number[] }[]
  maths: { solutions: string[]; contents: string[]; lengths: number[] }
  accuracy: (number | null)[]
  reasoning: (number | null)[]
  cosine: { options: Partial<CosineOptions> & { max_len: number }; rewards: (number | null)[] }[]
}

const trl = referenceJson<RewardCases>('rewards.json')
const COSINE = { min_value_wrong: -1, max_value_wrong: -0.5, min_value_correct: 0.5, max_value_correct: 1 }

/** Solution and boxed answer where computer algebra here and SymPy there do not agree, and what ours says. */
const DIFFERENT: readonly (readonly [string, string, 0 | 1])[] = [
  // x^12 is x¹2 in LaTeX.
  ['$x^{12}$', 'x^12', 0],
  // A relation is not made a set of numbers.
  ['$x>1$', '(1,\\infty)', 0],
  ['$(-\\infty,1)\\cup(2,\\infty)$', '(2,\\infty)\\cup(-\\infty,1)', 0],
  ['$-1$', 'i^2', 1],
  // Rounded to six decimals it is 0, as it is in SymPy for every other number.
  ['$0$', '0.0000001', 1],
]

function maths(): RewardArguments {
  const { solutions, contents, lengths } = trl.maths
  return { prompts: [], completions: contents.map((content) => [{ role: 'assistant', content }]), completion_ids: lengths.map((n) => Array<number>(n).fill(1)), solution: solutions }
}

const different = (i: number) => DIFFERENT.find(([solution, box]) => trl.maths.solutions[i] === solution && trl.maths.contents[i] === `\\boxed{${box}}`)

describe('rewards as TRL gives them', () => {
  it('think_format_reward', () => {
    const completions = trl.formats.map(({ content }) => [{ role: 'assistant', content }])
    expect(thinkFormatReward({ prompts: [], completions, completion_ids: [] })).toEqual(trl.formats.map(({ reward }) => reward))
  })

  it('soft overlong punishment and repetition penalty', () => {
    const args = { prompts: [], completions: [], completion_ids: trl.ids }
    for (const { options, rewards } of trl.overlong) expect(softOverlongPunishment(options)(args)).toEqual(rewards)
    for (const { options, rewards } of trl.repetition) expect(repetitionPenaltyReward(options)(args)).toEqual(rewards)
  })

  it('accuracy_reward and reasoning_accuracy_reward, except where listed', () => {
    const [ours, reasoning] = [accuracyReward(equalAnswers)(maths()), reasoningAccuracyReward(equalAnswers)(maths())]
    const wrong = trl.accuracy.flatMap((want, i) => (ours[i] === (different(i)?.[2] ?? want) ? [] : [`${trl.maths.solutions[i]} ← ${trl.maths.contents[i]}: ${want}, ours ${ours[i]}`]))
    expect(wrong).toEqual([])
    expect(reasoning).toEqual(trl.reasoning)
    // Each listed difference is one.
    expect(trl.accuracy.filter((want, i) => ours[i] !== want)).toHaveLength(DIFFERENT.length)
  })

  it('cosine_scaled_reward', () => {
    for (const { options, rewards } of trl.cosine) {
      const ours = cosineScaledReward({ ...COSINE, ...options }, accuracyReward(equalAnswers))(maths())
      rewards.forEach((want, i) => {
        if (different(i)) return
        if (want === null) expect(ours[i]).toBeNull()
        else expect(ours[i]).toBeCloseTo(want, 12)
      })
    }
  })
})
