/** Time that a step really took: pauses by a person do not count. */

/** Wraps a pause gate so that the time spent waiting in it can be taken off. */
export class Stopwatch {
  private waiting = 0
  private since = 0
  private paused = 0

  /** @param now seconds, from any origin */
  constructor(private readonly now: () => number) {}

  /** Seconds from any origin, without pauses. */
  read(): number {
    return this.now() - this.paused - (this.waiting > 0 ? this.now() - this.since : 0)
  }

  /** The same gate, watched; several callers may wait in it at once. */
  watch(gate: () => Promise<void>): () => Promise<void> {
    return async () => {
      if (this.waiting++ === 0) this.since = this.now()
      try {
        await gate()
      } finally {
        if (--this.waiting === 0) this.paused += this.now() - this.since
      }
    }
  }
}
