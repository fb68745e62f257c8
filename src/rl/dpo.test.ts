/** The DPO losses: their values at the start, finite differences, and the metrics of a step. */
import { describe, expect, it } from 'vitest'
import { RandomStream } from '../core/random'
import { DPO_LOSS_TYPES, dpoMetrics, dpoPairLoss, type DpoAnswer, type DpoOptions } from './dpo'

const random = new RandomStream(3, 7)
const draw = (length: number) => Array.from({ length }, () => -2 * random.next())
const answer = (length: number): DpoAnswer => ({ mask: Array.from({ length }, (_, t) => (t < 2 ? 0 : 1)), refLogprobs: draw(length) })
const options = (change: Partial<DpoOptions>): DpoOptions => ({ loss_type: 'sigmoid', beta: 0.1, label_smoothing: 0, ...change })

describe('a pair', () => {
  const [chosen, rejected] = [answer(7), answer(5)]

  it.each([
    ['sigmoid', Math.LN2],
    ['robust', Math.LN2],
    ['hinge', 1],
    ['ipo', 25],
    ['nca_pair', 2 * Math.LN2],
    ['apo_zero', 1],
    ['apo_down', 1],
    ['sppo_hard', 50],
  ] as const)('%s begins at its value for a policy that is the reference', (loss_type, value) => {
    const same = { chosen: chosen.refLogprobs, rejected: rejected.refLogprobs }
    const { loss, rewards } = dpoPairLoss(chosen, rejected, same, 1, options({ loss_type }))
    expect(loss).toBeCloseTo(value, 12)
    expect(rewards).toEqual({ chosen: 0, rejected: 0 })
  })

  it.each(DPO_LOSS_TYPES.flatMap((loss_type) => [0, 0.2].map((label_smoothing) => options({ loss_type, label_smoothing, beta: 0.3 }))))('has the derivatives of finite differences: %j', (settings) => {
    for (const scale of [0.1, 3]) {
      const now = { chosen: Array.from(chosen.refLogprobs, (x) => x + scale * random.normal()), rejected: Array.from(rejected.refLogprobs, (x) => x + scale * random.normal()) }
      const at = (side: 'chosen' | 'rejected', h: number) =>
        dpoPairLoss(chosen, rejected, { ...now, [side]: now[side].map((x, t) => (t === 3 ? x + h : x)) }, 2, settings).loss
      const found = dpoPairLoss(chosen, rejected, now, 2, settings)
      expect(found.dChosen).toBeCloseTo((at('chosen', 1e-5) - at('chosen', -1e-5)) / 2e-5, 5)
      expect(found.dRejected).toBeCloseTo((at('rejected', 1e-5) - at('rejected', -1e-5)) / 2e-5, 5)
    }
  })

  it('stays finite where the answers are very far apart', () => {
    const far = { chosen: Array.from(chosen.refLogprobs, (x) => x - 5000), rejected: Array.from(rejected.refLogprobs, (x) => x + 5000) }
    for (const loss_type of DPO_LOSS_TYPES) {
      const { loss, dChosen, dRejected } = dpoPairLoss(chosen, rejected, far, 1, options({ loss_type }))
      expect([loss_type, loss, dChosen, dRejected].every((value) => typeof value === 'string' || Number.isFinite(value))).toBe(true)
    }
  })
})

it('a step has TRL’s metrics: margins, accuracies, and sums of log-probs', () => {
  const pair = (up: number, down: number) => ({ loss: 0.25, dChosen: 0, dRejected: 0, rewards: { chosen: up, rejected: down }, logps: { chosen: -3, rejected: -5 } })
  expect(dpoMetrics([pair(1, 0), pair(0, 0.5)])).toEqual({
    loss: 0.5,
    'rewards/chosen': 0.5,
    'rewards/rejected': 0.25,
    'rewards/margins': 0.25,
    'rewards/accuracies': 0.5,
    'logps/chosen': -3,
    'logps/rejected': -5,
  })
})
