/** Threads that walk through the same work: each takes its share of a step, and all wait for each other behind it. */

export interface Team {
  readonly threads: number
  /** Which of them this is. */
  readonly index: number
  /** Returns when all have come here. */
  barrier(): void
}

export const ALONE: Team = { threads: 1, index: 0, barrier: () => undefined }

/** This thread's share of `count`, in whole multiples of `step`: from … to below … */
export function share({ threads, index }: Team, count: number, step = 1): [from: number, to: number] {
  const steps = Math.ceil(count / step)
  const at = (i: number): number => Math.min(count, Math.floor((steps * i) / threads) * step)
  return [at(index), at(index + 1)]
}

/** Words that a barrier needs of shared memory. */
export const BARRIER_WORDS = 2
/** Looks before a thread sleeps: about a tenth of a millisecond. */
const SPINS = 20_000

/** `words`: [threads that came, rounds], zero at first. */
export function teamOf(threads: number, index: number, words: Int32Array): Team {
  return {
    threads,
    index,
    barrier: () => {
      const round = Atomics.load(words, 1)
      if (Atomics.add(words, 0, 1) === threads - 1) {
        Atomics.store(words, 0, 0)
        Atomics.add(words, 1, 1)
        Atomics.notify(words, 1)
        return
      }
      for (let i = 0; i < SPINS; i++) if (Atomics.load(words, 1) !== round) return
      while (Atomics.load(words, 1) === round) Atomics.wait(words, 1, round)
    },
  }
}
