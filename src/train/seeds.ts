/** Which scenarios a step draws: environment seeds as a pure function of the run's seed, the step and the group. */

import { hash } from '../core/random'

/** OpenEnv servers and Python's random.seed take small non-negative integers. */
const SEED_BITS = 31

/** [groups] environment seeds of one step's groups from `first` on, 31 bits, non-negative. */
export function groupSeeds(seed: number, step: number, groups: number, first = 0): number[] {
  return Array.from({ length: groups }, (_, i) => hash(seed, step, first + i) >>> (32 - SEED_BITS))
}
