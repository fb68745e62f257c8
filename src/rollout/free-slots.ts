/** Why a slot is free although the step is not over: its next episode has no session yet, or the environment has not said how it begins. */

import type { Lanes } from './lanes'

interface Coming {
  readonly index: number
  readonly phase: string
  readonly slot: number | null
}

/** Before its prompt is known; 'settling' has been played but its environment keeps the step open. */
const AWAITED = ['new', 'resetting', 'settling']

/** Free slots wait for the environment where there is an episode for each of them that does; the others have nothing to do. */
export function markFreeSlots(lanes: Lanes, slots: number, runs: readonly Coming[]): void {
  const taken = new Set(runs.flatMap(({ slot }) => slot ?? []))
  if (taken.size === slots) return
  const free = Array.from({ length: slots }, (_, slot) => slot).filter((slot) => !taken.has(slot))
  const awaited = new Set(runs.filter(({ phase }) => AWAITED.includes(phase)).map(({ index }) => index))
  // A slot stays with the episode that it waited for before, so that its wait is one span.
  const resting = free.filter((slot) => !awaited.delete(lanes.doing(slot)?.episode ?? NaN))
  const others = [...awaited]
  for (const slot of resting) {
    const episode = others.shift()
    if (episode === undefined) lanes.end(slot)
    else lanes.begin(slot, 'waiting', episode, -1)
  }
}
