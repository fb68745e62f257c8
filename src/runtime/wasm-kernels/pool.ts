/** The threads of the kernels: as many as were asked for where the browser lets workers share memory, else this one alone. */

import { type Heap, LANE_BYTES } from './heap'
import { limits } from './limits'
import type { Runner } from './layer'
import type { Plan } from './plan'
import type { PoolStart } from './pool-worker'
import { runTask, type Task } from './task'
import { ALONE, BARRIER_WORDS, failTeam, teamOf } from './team'

/** A thread that has not answered after so long is done without, milliseconds. */
const START_MS = 10_000

interface Hand {
  worker: Worker
  /** Rejects when its program cannot be had. */
  lost: Promise<never>
}

/** Threads that come while nothing is there yet for them to do. */
export type Hands = readonly Hand[]

/** Starts `threads` − 1 workers; none where the browser has none. */
export function hire(threads: number): Hands {
  if (threads < 2 || typeof Worker === 'undefined') return []
  const hands: Hand[] = []
  try {
    for (let index = 1; index < threads; index++) {
      const worker = new Worker(new URL('./pool-worker.ts', import.meta.url), { type: 'module', name: `kernels ${index}` })
      const lost = new Promise<never>((_, reject) => {
        worker.onerror = (event) => reject(new Error(event.message))
      })
      lost.catch(() => undefined)
      hands.push({ worker, lost })
    }
    return hands
  } catch {
    dismiss(hands)
    return []
  }
}

/** Ends threads that nothing was found to do for. */
export function dismiss(hands: Hands): void {
  for (const { worker } of hands) worker.terminate()
}

export class Pool {
  private readonly alone: Runner

  private constructor(
    heap: Heap,
    plan: Plan,
    private workers: readonly Worker[],
    private readonly together: Runner,
    private readonly words: Int32Array | null,
  ) {
    this.alone = { heap, plan, team: ALONE }
  }

  /** Of the longest team that a task may meet: room is made for so many. */
  get threads(): number {
    return this.together.team.threads
  }

  /** All of them over the heap's memory; where one fails, there is this thread alone. */
  static async start(heap: Heap, plan: Plan, hands: Hands): Promise<Pool> {
    const alone = new Pool(heap, plan, [], { heap, plan, team: ALONE }, null)
    if (hands.length === 0) return alone
    const barrier = heap.put(new Float32Array(BARRIER_WORDS))
    const threads = hands.length + 1
    try {
      const { memory, module } = heap
      await Promise.all(hands.map((hand, i) => ready(hand, { memory, module, plan, threads, index: i + 1, barrier, lanes: heap.allocate(LANE_BYTES / 4) })))
    } catch {
      dismiss(hands)
      return alone
    }
    const words = new Int32Array(heap.memory.buffer, barrier, BARRIER_WORDS)
    return new Pool(heap, plan, hands.map(({ worker }) => worker), { heap, plan, team: teamOf(threads, 0, words) }, words)
  }

  /** Does a task of so many multiplications, in all threads unless it is small; returns when it is done. */
  run(task: Task, multiplications: number): void {
    if (multiplications < limits.sharedWork || this.workers.length === 0 || !this.words) {
      runTask(this.alone, task)
      return
    }
    for (const worker of this.workers) worker.postMessage(task)
    try {
      runTask(this.together, task)
    } catch (error) {
      // From here on this thread works alone.
      failTeam(this.words)
      this.dispose()
      throw error
    }
  }

  dispose(): void {
    for (const worker of this.workers) worker.terminate()
    this.workers = []
  }
}

async function ready({ worker, lost }: Hand, start: PoolStart): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The thread did not start.')), START_MS)
  })
  const come = new Promise<void>((resolve) => {
    worker.onmessage = () => resolve()
  })
  worker.postMessage(start)
  await Promise.race([come, lost, late]).finally(() => clearTimeout(timer))
}
