/** A further thread of the kernels: takes its share of every task that the first thread sends. */

import { Heap } from './heap'
import type { Runner } from './layer'
import type { Plan } from './plan'
import { runTask, type Task } from './task'
import { BARRIER_WORDS, teamOf } from './team'

/** What a thread is told first; then come tasks. */
export interface PoolStart {
  memory: WebAssembly.Memory
  module: WebAssembly.Module
  plan: Plan
  threads: number
  index: number
  barrier: number
}

let runner: Runner | null = null

self.onmessage = ({ data }: MessageEvent<PoolStart | Task>) => {
  if (!('memory' in data)) {
    if (runner) runTask(runner, data)
    return
  }
  const { memory, module, plan, threads, index, barrier } = data
  const heap = Heap.over(memory, module)
  runner = { heap, plan, team: teamOf(threads, index, new Int32Array(memory.buffer, barrier, BARRIER_WORDS)) }
  self.postMessage('ready')
}
