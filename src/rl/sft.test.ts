/** The supervised loss: values, derivatives, tasks with their own means. */
import { describe, expect, it } from 'vitest'
import { sftLoss, sftNormalizer, type SftSequence } from './sft'

const sequences: SftSequence[] = [
  { mask: [0, 1, 1], task: 'a' },
  { mask: [0, 0, 1], task: 'a' },
  { mask: [0, 1], task: 'b' },
]
const logprobs = [[0, -1, -2], [0, 0, -3], [0, -0.5]]

describe('sftLoss', () => {
  it('adds up the token mean of each task', () => {
    const { loss } = sftLoss(sequences, logprobs, sftNormalizer(sequences))
    expect(loss).toBeCloseTo((1 + 2 + 3) / 3 + 0.5, 12)
    const weighted = sftLoss(sequences, logprobs, sftNormalizer(sequences, { b: 4 }))
    expect(weighted.loss).toBeCloseTo(2 + 4 * 0.5, 12)
  })

  it('has the derivative −weight / tokens where the mask is 1', () => {
    const { dLogprobs } = sftLoss(sequences, logprobs, sftNormalizer(sequences, { b: 4 }))
    expect(dLogprobs.map((row) => [...row])).toEqual([[0, -1 / 3, -1 / 3], [0, 0, -1 / 3], [0, -4]])
  })

  it('adds up over micro-batches', () => {
    const normalizer = sftNormalizer(sequences)
    const parts = sequences.map((s, i) => sftLoss([s], [logprobs[i] as number[]], normalizer).loss)
    expect(parts.reduce((a, b) => a + b)).toBeCloseTo(sftLoss(sequences, logprobs, normalizer).loss, 12)
  })

  it('refuses a task that is not part of the step', () => {
    expect(() => sftLoss([{ mask: [1], task: 'c' }], [[0]], sftNormalizer(sequences))).toThrow("task 'c'")
  })
})
