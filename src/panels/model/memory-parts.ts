/** The memory plan as two stacked bars, for sampling and training take turns: the KV cache is freed while training. Pure. */

import type { MemoryPlan } from '../../core/plan'

export type PartId = 'weights' | 'adapter' | 'kvCache' | 'sampling' | 'training' | 'rest'
export type PhaseId = 'sampling' | 'training'

export interface MemoryPart {
  id: PartId
  bytes: number
}

export interface MemoryBars {
  phases: { id: PhaseId; parts: MemoryPart[]; total: number }[]
  /** Every part once, with the phases that it exists in, for the table. */
  parts: (MemoryPart & { in: readonly PhaseId[] })[]
  /** What a bar's whole width stands for, in bytes. */
  scale: number
}

const IN: Record<PartId, readonly PhaseId[]> = {
  weights: ['sampling', 'training'],
  adapter: ['sampling', 'training'],
  kvCache: ['sampling'],
  // onnxruntime's pool keeps it for the next sampling.
  sampling: ['sampling', 'training'],
  training: ['training'],
  rest: ['sampling', 'training'],
}
const PARTS = Object.keys(IN) as PartId[]
const PHASES = ['sampling', 'training'] as const

/** `budget` in bytes; null where nothing is known that the plan must stay below. */
export function memoryBars(plan: MemoryPlan, budget: number | null): MemoryBars {
  const totalOf = (phase: PhaseId, sizes: Record<PartId, number>) => PARTS.reduce((sum, id) => sum + (IN[id].includes(phase) ? sizes[id] : 0), 0)
  const named = { ...plan, rest: 0 }
  // What the plan's peak holds beyond its named parts: tables of positions, rounding.
  const rest = Math.max(0, plan.peak - Math.max(...PHASES.map((phase) => totalOf(phase, named))))
  const sizes = { ...named, rest }
  const parts = PARTS.map((id) => ({ id, bytes: sizes[id], in: IN[id] })).filter((part) => part.bytes > 0)
  const phases = PHASES.map((id) => ({
    id,
    parts: parts.filter((part) => part.in.includes(id)).map(({ id: part, bytes }) => ({ id: part, bytes })),
    total: totalOf(id, sizes),
  }))
  return { phases, parts, scale: Math.max(...phases.map(({ total }) => total), budget ?? 0, 1) }
}
