/** Comparisons → the recorded run's form: those of one seed together, the base model's episode once. */

import type { ComparedEpisode, PolicyComparison } from '../../src/core/examination'
import type { RecordedRunFile } from '../../src/store/recorded-run'
import { letters, optionParts, parts } from './pack-fields'

type Packed = RecordedRunFile['comparisons'][number]

/** @throws Error where the base model did not play alike after every step: it is not trained */
export function packComparisons(comparisons: readonly PolicyComparison[]): Packed[] {
  const packed = new Map<string, Packed>()
  for (const { seed, split, temperature, step, base, lora } of comparisons) {
    const { promptLength } = base
    const fresh: Packed = {
      seed,
      split,
      temperature,
      prompt: { ids: base.ids.slice(0, promptLength), authors: letters(base.authors.slice(0, promptLength)) },
      scene: base.scene,
      base: packSide(base),
      after: [],
    }
    const key = JSON.stringify([seed, split, temperature])
    const one = packed.get(key) ?? fresh
    packed.set(key, one)
    if (JSON.stringify(one.base) !== JSON.stringify(fresh.base)) throw new Error(`The base model played seed ${seed} in another way after step ${step}`)
    one.after.push({ step, baseUnderLora: underOther(base), lora: packSide(lora), loraUnderBase: underOther(lora) })
  }
  return [...packed.values()]
}

function underOther({ mask, otherLogprobs }: ComparedEpisode): number[] {
  return otherLogprobs.filter((_, i) => mask[i] === 1).map(parts)
}

/** @throws Error on an episode that has no reward */
function packSide({ ids, authors, mask, logprobs, alternatives, turns, reward, success, exit, promptLength }: ComparedEpisode): Packed['base'] {
  if (exit === 'env_error' || exit === 'env_unreadable' || exit === 'stopped') throw new Error(`A compared episode ended with ${exit}`)
  const sampled = <T>(values: readonly T[]): T[] => values.filter((_, i) => mask[i] === 1)
  return {
    ids: ids.slice(promptLength),
    authors: letters(authors.slice(promptLength)),
    logprobs: sampled(logprobs).map(parts),
    alternatives: sampled(alternatives).map(optionParts),
    turns,
    reward,
    success,
    exit,
  }
}
