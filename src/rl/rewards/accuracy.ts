/** Rewards for a right answer: the completion's answer is compared, as mathematics, with the column `solution`. */

import { type Answer, findAnswer, findSolution } from './answer'
import { firstContents, type RewardFunction } from './contract'

/** Whether an answer says what the solution says: `equalAnswers` of equal.ts, which brings the algebra. */
export type Equality = (solution: Answer, answer: Answer) => boolean

/** TRL's `accuracy_reward`: 1 for the right answer, 0 for a wrong one or none, null where the solution itself cannot be read. */
export function accuracyReward(equal: Equality): RewardFunction {
  return ({ completions, solution }) => judge(firstContents(completions), solution, equal)
}

/** TRL's `reasoning_accuracy_reward`: only what stands behind the last </think> counts; without one the reward is 0. */
export function reasoningAccuracyReward(equal: Equality, delimiters: readonly string[] = ['</think>']): RewardFunction {
  return ({ completions, solution }) => {
    const answers = firstContents(completions).map((content) => {
      const delimiter = delimiters.find((each) => content.includes(each))
      return delimiter === undefined ? null : (content.split(delimiter).at(-1) ?? '')
    })
    const judged = judge(answers.map((answer) => answer ?? ''), solution, equal)
    return judged.map((reward, i) => (answers[i] === null ? 0 : reward))
  }
}

function judge(contents: readonly string[], solution: unknown, equal: Equality): (number | null)[] {
  const solutions = Array.isArray(solution) ? (solution as unknown[]) : []
  return contents.map((content, i) => {
    const given = solutions[i]
    if (typeof given !== 'string' && typeof given !== 'number') return null
    const gold = findSolution(String(given))
    if (gold === null) return null
    const answer = findAnswer(content)
    return answer !== null && equal(gold, answer) ? 1 : 0
  })
}
