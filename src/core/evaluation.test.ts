/** When a run evaluates itself, and how sure its figures are. */
import { expect, it } from 'vitest'
import { DEFAULT_GRPO } from './config'
import { evaluationInterval, isEvaluated, type RunEvaluation, runEvaluations } from './evaluation'
import { wilson } from './interval'

const record = (more: Partial<RunEvaluation> = {}): RunEvaluation => ({
  step: 4,
  split: 'heldout',
  solved: 8,
  scorable: 32,
  reward: 0.25,
  precision: 'float32',
  metrics: { eval_reward: 0.25, eval_reward_std: 0.4, eval_success: 0.25 },
  ...more,
})

it('is due at the start, every eval_steps steps and at the end, and never with no', () => {
  const due = (change: Partial<typeof DEFAULT_GRPO>) => [0, 1, 2, 3, 4, 5, 6, 7].filter((step) => isEvaluated({ ...DEFAULT_GRPO, eval_strategy: 'steps', eval_steps: 3, ...change }, step, step === 7))
  expect(due({})).toEqual([0, 3, 6, 7])
  expect(due({ eval_on_start: false })).toEqual([3, 6, 7])
  expect(due({ eval_strategy: 'no' })).toEqual([])
})

it('gives the rate Wilson’s interval, the mean reward the normal one, and other metrics none', () => {
  expect(evaluationInterval(record(), 'eval_success')).toEqual(wilson(8, 32))
  const [low, high] = evaluationInterval(record(), 'eval_reward') ?? []
  expect(low).toBeCloseTo(0.25 - (1.96 * 0.4) / Math.sqrt(32), 4)
  expect(high).toBeCloseTo(0.25 + (1.96 * 0.4) / Math.sqrt(32), 4)
  expect(evaluationInterval(record(), 'eval_turns/mean')).toBeNull()
  expect(evaluationInterval(record({ metrics: { eval_reward: 0.25, eval_reward_std: null } }), 'eval_reward')).toBeNull()
})

it('tells what the run measured itself from what a person asked for', () => {
  const { metrics: _, ...asked } = record({ step: 1 })
  expect(runEvaluations([record({ step: 6 }), asked, record({ step: 2 })]).map(({ step }) => step)).toEqual([2, 6])
  expect(runEvaluations([record({ step: 6 }), record({ step: 2 })], 4).map(({ step }) => step)).toEqual([2])
})
