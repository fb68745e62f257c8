/** Rows of the benchmarks over real shapes: memory planned and counted, seconds. No browser in here. */

import type { MemoryPlan } from '../../src/core/plan'
import type { BenchRow } from '../tools/bench-rows'

/** Bytes that a plan expects at the worst moment of sampling, and of a training step after it with the KV cache lent or kept. */
export function plannedPeaks({ weights, adapter, kvCache, sampling, training }: MemoryPlan): { sampling: number; training: number; trainingWithCache: number } {
  const base = weights + adapter + sampling
  return { sampling: base + kvCache, training: base + training, trainingWithCache: base + kvCache + training }
}

/** `value` bytes as a row in GB; against `planned` bytes the ratio is counted over planned. */
export function memoryRow(bench: string, row: string, value: number, planned?: number): BenchRow {
  const gb = { bench, row, value: round(value / 1e9, 3), unit: 'GB' }
  return planned === undefined ? gb : { ...gb, peer: 'planMemory', peerValue: round(planned / 1e9, 3), ratio: round(value / planned, 3) }
}

export function secondsRow(bench: string, row: string, seconds: number): BenchRow {
  return { bench, row, value: round(seconds, 1), unit: 's' }
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
