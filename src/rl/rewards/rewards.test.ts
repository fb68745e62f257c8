/** The built-in rewards, with values that TRL 1.16 gave. */

import { describe, expect, it } from 'vitest'
import { accuracyReward, reasoningAccuracyReward } from './accuracy'
import { findAnswer, findSolution } from './answer'
import { equalAnswers } from './equal'
import { thinkFormatReward } from './format'
import { cosineScaledReward, repetitionPenaltyReward, softOverlongPunishment } from './length'

const say = (...contents: string[]) => ({ prompts: [], completions: contents.map((content) => [{ role: 'assistant', content }]), completion_ids: contents.map(() => Array<number>(50).fill(1)) })

describe('format and length', () => {
  it('wants one thought at the very beginning', () => {
    expect(thinkFormatReward(say('<think>\nI\n</think>\nA', '<think>\nI\nA', ' <think>a</think> b', '<think>a<think>b</think>c', '<think>a</think>b<think>c</think>', ''))).toEqual([1, 0, 0, 0, 0, 0])
  })

  it('punishes length only near the end of the budget', () => {
    const completion_ids = [80, 90, 100, 101].map((n) => Array<number>(n).fill(1))
    expect(softOverlongPunishment({ max_completion_len: 100, soft_punish_cache: 20 })({ prompts: [], completions: [], completion_ids })).toEqual([0, -0.5, -1, -1])
  })

  it('counts repeated n-grams', () => {
    const completion_ids = [[1, 2, 3, 4], [5, 5, 5, 5, 5], [1], []]
    expect(repetitionPenaltyReward({ ngram_size: 2, max_penalty: -1 })({ prompts: [], completions: [], completion_ids })).toEqual([0, -0.75, 0, 0])
  })

  it('scales by a cosine of the length', () => {
    const cosine = cosineScaledReward({ max_len: 100, min_value_wrong: -1, max_value_wrong: -0.5, min_value_correct: 0.5, max_value_correct: 1 }, accuracyReward(equalAnswers))
    const rewards = cosine({ ...say('\\boxed{\\frac{1}{3}}', '\\boxed{\\frac{1}{2}}', '\\boxed{1}'), solution: ['\\frac{1}{3}', '\\frac{1}{3}', 'Paris'] })
    expect(rewards[0]).toBeCloseTo(0.75, 12)
    expect(rewards[1]).toBeCloseTo(-0.75, 12)
    expect(rewards[2]).toBeNull()
  })
})

describe('accuracy', () => {
  const judge = (solution: string, content: string) => accuracyReward(equalAnswers)({ ...say(content), solution: [solution] })[0]

  it.each([
    ['5', '\\boxed{5}', 1],
    ['5', 'The answer is $5$', 1],
    ['5', 'The answer is 5', 0],
    ['1,000', '\\boxed{1000}', 1],
    ['$\\frac13$', '\\boxed{0.333333}', 1],
    ['$\\frac13$', '\\boxed{0.333}', 0],
    ['$x^2+2x+1$', '\\boxed{(x+1)^2}', 1],
    ['$x^2+2x+1$', '\\boxed{(x-1)^2}', 0],
    ['$\\{1,2\\}$', '\\boxed{\\{2,1\\}}', 1],
    ['$(1,2)$', '\\boxed{(2,1)}', 0],
    ['$x=5$', '\\boxed{5}', 1],
    ['$x=5$', '\\boxed{y=5}', 0],
    ['50%', '\\boxed{50}', 1],
    ['0.5', '\\boxed{50\\%}', 1],
    ['3', '\\boxed{3\\text{ cm}}', 1],
    ['1/2', '\\boxed{\\frac12}', 0],
    ['12', '\\boxed{}', 0],
    ['Paris', '\\boxed{Paris}', null],
    ['100000000000000000001', '\\boxed{100000000000000000002}', 0],
  ] as const)('solution %s, completion %s: %s', (solution, content, reward) => {
    expect(judge(solution, content)).toBe(reward)
  })

  it('has no opinion without a solution', () => {
    expect(accuracyReward(equalAnswers)(say('\\boxed{5}'))).toEqual([null])
  })

  it('reads only what stands behind the thought', () => {
    const rewards = reasoningAccuracyReward(equalAnswers)({ ...say('<think>\\boxed{4}</think> \\boxed{5}', '<think>\\boxed{5}</think> no', '\\boxed{5}'), solution: ['5', '5', '5'] })
    expect(rewards).toEqual([1, 0, 0])
  })

  it('takes the last box, and the boxes right before it', () => {
    expect(findAnswer('\\boxed{4} and \\boxed{5}')?.parts).toEqual(['4', '5'])
    expect(findAnswer('\\boxed{4} is what I thought for a long time before I saw it as it is. So it must be \\boxed{\\boxed{5}}')?.parts).toEqual(['5'])
    expect(findSolution('so it costs 12 apples')?.parts).toEqual(['12'])
  })
})
