/** How the built-in environments pick scenarios: explicit lists, a fixed split, and one scenario per seed. */

import type { ResetOptions } from '../../core/environment'
import { hash } from '../../core/random'

export type Split = ResetOptions['split']

export interface SplitList<T> {
  readonly train: readonly T[]
  readonly heldout: readonly T[]
}

/** Share of every list that is held out. */
const HELD_OUT_SHARE = 0.2

/**
 * Splits a list for good: items are ranked by a hash of (salt, position) and the lowest `count` are held out, so both
 * parts are disjoint, their sizes are exact, and neither depends on any seed of a run. Order within a part is kept.
 */
export function splitByHash<T>(items: readonly T[], salt: number, count = Math.round(items.length * HELD_OUT_SHARE)): SplitList<T> {
  const ranked = items.map((_, i) => i).sort((a, b) => hash(salt, a) - hash(salt, b) || a - b)
  const held = new Set(ranked.slice(0, count))
  return { train: items.filter((_, i) => !held.has(i)), heldout: items.filter((_, i) => held.has(i)) }
}

/** Joins the parts of two split lists. */
export function joinSplits<T>(parts: readonly SplitList<T>[]): SplitList<T> {
  return { train: parts.flatMap((p) => p.train), heldout: parts.flatMap((p) => p.heldout) }
}

/** The scenario of a seed: the same one for every episode of a group, in any run. */
export function pickBySeed<T>(items: readonly T[], ...seed: number[]): T {
  const item = items[hash(...seed) % items.length]
  if (item === undefined) throw new RangeError('pickBySeed: the list of scenarios is empty')
  return item
}
