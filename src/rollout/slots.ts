/**
 * Gives the sampler's slots to episodes and fills each with its prompt at the least cost.
 *
 * Equal prompts (a group) are prefilled once and copied. What different groups' prompts share is prefilled once as well. Free
 * slots keep copies of prompts that a later episode is likely to want. In which pieces a prompt is prefilled depends on the
 * prompt alone, never on timing, because a prompt prefilled in other pieces may differ in the last bits.
 */

import type { Sampler } from '../core/engine'

/** An episode that wants a slot. */
export interface Admission {
  index: number
  /** The prompt, shorter than the context. */
  ids: readonly number[]
  /** How many episodes that have not asked yet will probably have the same prompt. */
  coming: number
}

interface Slot {
  readonly id: number
  free: boolean
  /** Key of the exact tokens that an untouched free slot holds; null = empty. */
  holds: string | null
}

export class SlotPool {
  private readonly slots: Slot[]
  private readonly prefixKey: string

  /** `prefix`: tokens with which the prompts of different groups begin; empty when nothing is to be shared. */
  constructor(
    private readonly sampler: Sampler,
    private readonly prefix: readonly number[],
  ) {
    this.slots = Array.from({ length: sampler.slots }, (_, id) => ({ id, free: true, holds: null }))
    this.prefixKey = keyOf(prefix)
    for (const { id } of this.slots) sampler.reset(id)
  }

  /** Number of slots without an episode. */
  get free(): number {
    return this.slots.filter((slot) => slot.free).length
  }

  /** Gives each episode (at most `free` of them) a slot that holds its prompt. Returns the slots in the same order. */
  async admit(admissions: readonly Admission[]): Promise<number[]> {
    const given = new Map<number, Slot>()
    const waves = new Map<string, Admission[]>()
    for (const admission of admissions) {
      const key = keyOf(admission.ids)
      waves.set(key, [...(waves.get(key) ?? []), admission])
    }
    let needed = admissions.length
    let wavesLeft = waves.size
    for (const [key, wave] of waves) {
      wavesLeft--
      const without: Admission[] = []
      let source: Slot | null = null
      for (const admission of wave) {
        const ready = this.slots.find((slot) => slot.free && slot.holds === key)
        if (ready === undefined) without.push(admission)
        else given.set(admission.index, (source = this.take(ready)))
      }
      needed -= wave.length - without.length
      const [leader, ...followers] = without
      if (leader === undefined) continue
      if (source === null) {
        source = this.takeAny()
        given.set(leader.index, source)
        needed--
        await this.fill(source, leader.ids, wavesLeft > 0 || this.free > needed)
      } else {
        followers.unshift(leader)
      }
      const targets = followers.map((follower) => {
        const slot = this.takeAny()
        slot.holds = null
        given.set(follower.index, slot)
        return slot
      })
      needed -= targets.length
      const spares = this.spare(Math.max(...wave.map((admission) => admission.coming)), needed)
      for (const slot of spares) slot.holds = key
      const copies = [...targets, ...spares].map((slot) => slot.id)
      if (copies.length > 0) await this.sampler.copy(source.id, copies)
    }
    return admissions.map(({ index }) => (given.get(index) as Slot).id)
  }

  /** Takes an episode's slot back and empties it. */
  release(id: number): void {
    const slot = this.slots[id]
    if (slot === undefined) return
    this.sampler.reset(id)
    slot.free = true
    slot.holds = null
  }

  private take(slot: Slot): Slot {
    slot.free = false
    slot.holds = null
    return slot
  }

  /** A free slot, empty ones first and the one that keeps the shared prefix last. */
  private takeAny(): Slot {
    const cost = (slot: Slot): number => (slot.holds === null ? 0 : slot.holds === this.prefixKey ? 2 : 1)
    const [best] = this.slots.filter((slot) => slot.free).sort((a, b) => cost(a) - cost(b) || a.id - b.id)
    if (best === undefined) throw new Error('SlotPool: more episodes than free slots')
    const held = best.holds
    this.take(best)
    if (held !== null && held !== this.prefixKey) this.sampler.reset(best.id)
    if (held === this.prefixKey) best.holds = held
    return best
  }

  /** Up to `wanted` empty slots that nobody of this admission needs. */
  private spare(wanted: number, needed: number): Slot[] {
    const count = Math.min(wanted, this.free - needed)
    return this.slots.filter((slot) => slot.free && slot.holds === null).slice(0, Math.max(0, count))
  }

  /** Prefills a prompt into a slot that is empty or holds the prefix. */
  private async fill(slot: Slot, ids: readonly number[], keepPrefix: boolean): Promise<void> {
    const { prefix, prefixKey, sampler } = this
    const shares = prefix.length > 0 && prefix.every((id, i) => ids[i] === id)
    const inPlace = slot.holds === prefixKey
    slot.holds = null
    if (!shares) {
      if (inPlace) sampler.reset(slot.id)
      await sampler.prefill(slot.id, ids)
      return
    }
    if (!inPlace) {
      const keeper = this.slots.find((other) => other.free && other.holds === prefixKey)
      if (keeper) {
        await sampler.copy(keeper.id, [slot.id])
      } else {
        await sampler.prefill(slot.id, prefix)
        // The keeper may be a slot that this admission needs: it is then taken last, prefix in place.
        const next = keepPrefix ? this.spare(1, 0)[0] : undefined
        if (next) {
          next.holds = prefixKey
          await sampler.copy(slot.id, [next.id])
        }
      }
    }
    if (ids.length > prefix.length) await sampler.prefill(slot.id, ids.slice(prefix.length))
  }
}

function keyOf(ids: readonly number[]): string {
  return ids.join(',')
}
