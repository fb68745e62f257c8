/** Counter-based random numbers: every draw is a pure function of its keys, so any moment of a run can be replayed. */

/** Mixes one 32-bit key into a 32-bit state (MurmurHash3's block step). */
function mix(state: number, key: number): number {
  let k = Math.imul(key, 0xcc9e2d51)
  k = (k << 15) | (k >>> 17)
  k = Math.imul(k, 0x1b873593)
  let h = state ^ k
  h = (h << 13) | (h >>> 19)
  return (Math.imul(h, 5) + 0xe6546b64) | 0
}

/** MurmurHash3's finaliser: every input bit reaches every output bit. */
function finalise(h: number): number {
  h ^= h >>> 16
  h = Math.imul(h, 0x85ebca6b)
  h ^= h >>> 13
  h = Math.imul(h, 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** A 32-bit unsigned hash of the keys, in order. Keys are taken as 32-bit integers. */
export function hash(...keys: number[]): number {
  let h = 0x9747b28c
  for (const key of keys) h = mix(h, key)
  return finalise(h ^ keys.length)
}

/** A uniform number in [0, 1) with 32 bits, keyed by e.g. (seed, step, episode, position). */
export function uniform(...keys: number[]): number {
  return hash(...keys) / 0x1_0000_0000
}

/** A sequence of draws under one key, for code that wants "the next number". */
export class RandomStream {
  private counter = 0
  private readonly keys: number[]
  constructor(...keys: number[]) {
    this.keys = keys
  }
  /** Uniform in [0, 1). */
  next(): number {
    return uniform(...this.keys, this.counter++)
  }
  /** A uniform integer in [0, n). */
  int(n: number): number {
    return Math.floor(this.next() * n)
  }
  /** One element, uniformly. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.int(items.length)]
    if (item === undefined) throw new RangeError('RandomStream.pick: the list is empty')
    return item
  }
  /** Standard normal (Box–Muller). */
  normal(): number {
    const u = 1 - this.next()
    return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * this.next())
  }
  /** A shuffled copy (Fisher–Yates). */
  shuffle<T>(items: readonly T[]): T[] {
    const out = [...items]
    for (let i = out.length - 1; i > 0; i--) {
      const j = this.int(i + 1)
      const held = out[i] as T
      out[i] = out[j] as T
      out[j] = held
    }
    return out
  }
}
