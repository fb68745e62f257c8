/** Engine results against listed references: scores over the trained tokens, and sets of named tensors. */

import { expect } from 'vitest'
import type { NamedTensor, SequenceScores } from '../../src/core/engine'
import { largestDifference } from './reference'

/** Scores as make.py lists them; arrays are [tokens]. */
export interface ListedScores {
  logprobs: number[]
  entropies: number[]
  argmax: number[]
}

/** Largest differences over the trained tokens; 0 is demanded elsewhere. */
export function compareScores(ours: SequenceScores[], theirs: ListedScores[], masks: readonly (readonly number[])[]) {
  let logprob = 0
  let entropy = 0
  const argmax: string[] = []
  expect(ours.length).toBe(theirs.length)
  masks.forEach((mask, s) => {
    const [own, other] = [ours[s] as SequenceScores, theirs[s] as ListedScores]
    const masked = (values: ArrayLike<number>) => mask.map((m, t) => (m ? (values[t] as number) : 0))
    expect(own.logprobs.length).toBe(mask.length)
    logprob = Math.max(logprob, largestDifference(own.logprobs, masked(other.logprobs)))
    entropy = Math.max(entropy, largestDifference(own.entropies, masked(other.entropies)))
    mask.forEach((m, t) => {
      const expected = m ? other.argmax[t] : -1
      if (own.argmax[t] !== expected) argmax.push(`sequence ${s} token ${t}: ${own.argmax[t]}, not ${expected}`)
    })
  })
  return { logprob, entropy, argmax }
}

/** Log-probs and entropies within `tolerance` (nats), the same greedy tokens. */
export function expectScores(ours: SequenceScores[], theirs: ListedScores[], masks: readonly (readonly number[])[], tolerance = 1e-4): void {
  const { logprob, entropy, argmax } = compareScores(ours, theirs, masks)
  expect(logprob).toBeLessThan(tolerance)
  expect(entropy).toBeLessThan(tolerance)
  expect(argmax).toEqual([])
}

/** Name and shape, for comparing lists of tensors. */
export const signature = ({ name, dims }: NamedTensor) => `${name} [${dims.join(', ')}]`

/** Names of tensors that differ by `tolerance` or more under `measure`, with the measure; empty when all agree. */
export function differing(
  ours: readonly NamedTensor[],
  theirs: readonly NamedTensor[],
  measure: (a: ArrayLike<number>, b: ArrayLike<number>) => number,
  tolerance: number,
): string[] {
  expect(ours.map(signature).sort()).toEqual(theirs.map(signature).sort())
  const byName = new Map(theirs.map((tensor) => [tensor.name, tensor.data]))
  return ours.flatMap(({ name, data }) => {
    const value = measure(data, byName.get(name) ?? [])
    return value < tolerance ? [] : [`${name}: ${value}`]
  })
}
