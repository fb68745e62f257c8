/** The memory plan as the segments of one bar. Pure. */

import type { MemoryPlan } from '../../core/plan'

export interface MemoryBarParts {
  parts: { id: 'weights' | 'adapter' | 'kvCache' | 'sampling' | 'training'; bytes: number }[]
  /** All parts stacked; more than `peak` where some take each other's place. */
  sum: number
  peak: number
  /** What the bar's whole width stands for, in bytes. */
  scale: number
  /** Some parts take each other's place. */
  shared: boolean
}

/** `budget` in bytes; null where nothing is known that the plan must stay below. */
export function memoryParts(plan: MemoryPlan, budget: number | null): MemoryBarParts {
  const all = [
    { id: 'weights' as const, bytes: plan.weights },
    { id: 'adapter' as const, bytes: plan.adapter },
    { id: 'kvCache' as const, bytes: plan.kvCache },
    { id: 'sampling' as const, bytes: plan.sampling },
    { id: 'training' as const, bytes: plan.training },
  ]
  const parts = all.filter((part) => part.bytes > 0)
  const sum = parts.reduce((total, part) => total + part.bytes, 0)
  return { parts, sum, peak: plan.peak, scale: Math.max(sum, plan.peak, budget ?? 0, 1), shared: sum > plan.peak * 1.005 }
}
