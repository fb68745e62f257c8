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

  /** Starts `threads` − 1 workers over the heap's memory; where that fails, there is this thread alone. */
  static async start(heap: Heap, plan: Plan, threads: number): Promise<Pool> {
    const alone = new Pool(heap, plan, [], { heap, plan, team: ALONE }, null)
    if (threads < 2 || typeof Worker === 'undefined') return alone
    const barrier = heap.put(new Float32Array(BARRIER_WORDS))
    const workers: Worker[] = []
    try {
      for (let index = 1; index < threads; index++) {
        const worker = new Worker(new URL('./pool-worker.ts', import.meta.url), { type: 'module', name: `kernels ${index}` })
        workers.push(worker)
        await ready(worker, { memory: heap.memory, module: heap.module, plan, threads, index, barrier, lanes: heap.allocate(LANE_BYTES / 4) })
      }
    } catch {
      for (const worker of workers) worker.terminate()
      return alone
    }
    const words = new Int32Array(heap.memory.buffer, barrier, BARRIER_WORDS)
    return new Pool(heap, plan, workers, { heap, plan, team: teamOf(threads, 0, words) }, words)
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

function ready(worker: Worker, start: PoolStart): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('The thread did not start.')), START_MS)
    worker.onmessage = () => {
      clearTimeout(timer)
      resolve()
    }
    worker.onerror = (event) => {
      clearTimeout(timer)
      reject(new Error(event.message))
    }
    worker.postMessage(start)
  })
}
