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

/** Words that threads share: how many came to the barrier, its rounds, and whether a thread failed. Zero at first. */
export const BARRIER_WORDS = 3
const [CAME, ROUNDS, FAILED] = [0, 1, 2] as const
/** Looks before a thread sleeps: about a tenth of a millisecond. */
const SPINS = 20_000
/** A sleeping thread looks whether another failed, milliseconds. */
const LOOK_MS = 500

export function teamOf(threads: number, index: number, words: Int32Array): Team {
  const check = (): void => {
    if (Atomics.load(words, FAILED) !== 0) throw new Error('Another thread of the engine failed.')
  }
  return {
    threads,
    index,
    barrier: () => {
      check()
      const round = Atomics.load(words, ROUNDS)
      if (Atomics.add(words, CAME, 1) === threads - 1) {
        Atomics.store(words, CAME, 0)
        Atomics.add(words, ROUNDS, 1)
        Atomics.notify(words, ROUNDS)
        return
      }
      for (let i = 0; i < SPINS; i++) if (Atomics.load(words, ROUNDS) !== round) return
      while (Atomics.load(words, ROUNDS) === round) {
        Atomics.wait(words, ROUNDS, round, LOOK_MS)
        if (Atomics.load(words, ROUNDS) === round) check()
      }
    },
  }
}

/** Says to all threads that this one failed: they end the task instead of waiting. */
export function failTeam(words: Int32Array): void {
  Atomics.store(words, FAILED, 1)
  Atomics.notify(words, ROUNDS)
}
