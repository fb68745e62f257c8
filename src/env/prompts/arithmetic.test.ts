import { describe, expect, it } from 'vitest'
import { builtinReward } from '../../rl/rewards/builtin'
import { arithmeticRows, boxed } from './arithmetic'

describe('arithmetic', () => {
  it('has 186 rows for training and 39 others held out', () => {
    const questions = (['train', 'heldout'] as const).map((split) => new Set(arithmeticRows(split).map(({ prompt }) => prompt[0]?.content)))
    expect(questions.map(({ size }) => size)).toEqual([186, 39])
    expect([...(questions[0] ?? [])].some((question) => questions[1]?.has(question))).toBe(false)
  })

  it('asks what its solution answers, and accuracy_reward knows right from wrong', async () => {
    const rows = arithmeticRows('heldout')
    for (const { prompt, solution } of rows) {
      const [, a, b] = /^(\d\d) \+ (\d) =$/.exec(prompt[0]?.content ?? '')?.map(Number) ?? []
      expect(Number(solution)).toBe((a ?? NaN) + (b ?? NaN))
    }
    const judge = await builtinReward({ name: 'accuracy_reward' })
    const say = (content: (solution: string) => string) =>
      judge({
        prompts: rows.map(({ prompt }) => prompt),
        completions: rows.map(({ solution }) => [{ role: 'assistant', content: content(solution) }]),
        completion_ids: rows.map(() => []),
        solution: rows.map(({ solution }) => solution),
      })
    expect(say((solution) => boxed(Number(solution)))).toEqual(rows.map(() => 1))
    expect(say((solution) => boxed(Number(solution) + 1))).toEqual(rows.map(() => 0))
    // A number without its box is no answer.
    expect(say((solution) => solution)).toEqual(rows.map(() => 0))
  })
})
