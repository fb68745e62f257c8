/** Our DPO losses and their gradients against TRL's own statements, pair by pair and as a step. */

import { describe, expect, it } from 'vitest'
import { DPO_LOSS_TYPES, type DpoLossType, dpoMetrics, dpoPairLoss } from '../../src/rl/dpo'
import { largestDifference, referenceJson } from './reference'

/** [2 × pairs, tokens]: all chosen answers, then all rejected ones. */
type Matrix = number[][]

interface DpoCase {
  name: string
  masks: Matrix
  logps: Matrix
  refs: Matrix
  results: { loss_type: DpoLossType; beta: number; label_smoothing: number; loss: number; gradient: Matrix }[]
}

const cases = referenceJson<DpoCase[]>('dpo.json')

it('every loss type of ours is compared', () => {
  expect(new Set(cases.flatMap(({ results }) => results.map(({ loss_type }) => loss_type)))).toEqual(new Set(DPO_LOSS_TYPES))
})

describe.each(cases)('DPO on the input $name', ({ masks, logps, refs, results }) => {
  it.each(results)('$loss_type, β $beta, label_smoothing $label_smoothing', ({ loss, gradient, ...options }) => {
    const pairs = masks.length / 2
    const row = (matrix: Matrix, i: number) => matrix[i] as number[]
    const answer = (i: number) => ({ mask: row(masks, i), refLogprobs: row(refs, i) })
    const found = Array.from({ length: pairs }, (_, i) =>
      dpoPairLoss(answer(i), answer(pairs + i), { chosen: row(logps, i), rejected: row(logps, pairs + i) }, pairs, options),
    )
    expect(dpoMetrics(found)['loss']).toBeCloseTo(loss, 10)
    found.forEach(({ dChosen, dRejected }, i) => {
      const own = (at: number, each: number) => row(masks, at).map((m) => m * each)
      expect(largestDifference(own(i, dChosen), row(gradient, i))).toBeLessThan(1e-10)
      expect(largestDifference(own(pairs + i, dRejected), row(gradient, pairs + i))).toBeLessThan(1e-10)
    })
  })
})
