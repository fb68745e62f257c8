/** A further thread of the kernels: takes its share of every task that the first thread sends. */

import { Heap } from './heap'
import type { Runner } from './layer'
import type { Plan } from './plan'
import { runTask, type Task } from './task'
import { BARRIER_WORDS, failTeam, teamOf } from './team'

/** What a thread is told first; then come tasks. */
export interface PoolStart {
  memory: WebAssembly.Memory
  module: WebAssembly.Module
  plan: Plan
  threads: number
  index: number
  barrier: number
  /** Room for its lanes. */
  lanes: number
}

let runner: Runner | null = null
let words: Int32Array | null = null

self.onmessage = ({ data }: MessageEvent<PoolStart | Task>) => {
  if (!('memory' in data)) {
    try {
      if (runner) runTask(runner, data)
    } catch {
      // The first thread waits for this one and then says that the task failed.
      if (words) failTeam(words)
    }
    return
  }
  const { memory, module, plan, threads, index, barrier, lanes } = data
  const heap = Heap.over(memory, module, lanes)
  words = new Int32Array(memory.buffer, barrier, BARRIER_WORDS)
  runner = { heap, plan, team: teamOf(threads, index, words) }
  self.postMessage('ready')
}
