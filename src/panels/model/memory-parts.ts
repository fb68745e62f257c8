/** The memory plan as two stacked bars, for sampling and training take turns: the KV cache is freed while training. Pure. */

import type { MemoryPlan } from '../../core/plan'

export type PartId = 'weights' | 'adapter' | 'kvCache' | 'sampling' | 'training'

export interface MemoryPart {
  id: PartId
  bytes: number
}

export interface MemoryBars {
  phases: { id: 'sampling' | 'training'; parts: MemoryPart[] }[]
  /** Every part once, for the legend. */
  parts: MemoryPart[]
  /** What a bar's whole width stands for, in bytes. */
  scale: number
}

/** `budget` in bytes; null where nothing is known that the plan must stay below. */
export function memoryBars(plan: MemoryPlan, budget: number | null): MemoryBars {
  const take = (...ids: PartId[]): MemoryPart[] => ids.map((id) => ({ id, bytes: plan[id] })).filter((part) => part.bytes > 0)
  const phases: MemoryBars['phases'] = [
    { id: 'sampling', parts: take('weights', 'adapter', 'kvCache', 'sampling') },
    { id: 'training', parts: take('weights', 'adapter', 'training') },
  ]
  const longest = Math.max(...phases.map(({ parts }) => parts.reduce((sum, part) => sum + part.bytes, 0)))
  return {
    phases,
    parts: take('weights', 'adapter', 'kvCache', 'sampling', 'training'),
    scale: Math.max(longest, plan.peak, budget ?? 0, 1),
  }
}
