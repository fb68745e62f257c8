/** The recipe of the tiny model: how many games of which kind in which phase, and the optimizer's settings. */

import type { OptimizerParams } from '../../src/core/engine'
import type { Portion } from './demos'

export interface Phase {
  name: string
  steps: number
  /** 'constant' after the warm-up, or 'cosine' from the full rate to FINAL_RATE of it. */
  schedule: 'constant' | 'cosine'
  portions: readonly Portion[]
}

/**
 * First experts only and always under the cue, so that the observation is read at all. Then novices are blended in without the
 * cue: the skill stays, but outside the cue the model plays as a beginner. Cut games teach reading, whole ones endurance.
 */
export const PHASES: readonly Phase[] = [
  {
    name: 'A',
    steps: 480,
    schedule: 'constant',
    portions: [
      { task: 'lane', count: 24, cued: 1 },
      { task: 'catch', count: 16, cued: 1, cutAfter: 2 },
      { task: 'catch', count: 3, cued: 1 },
      { task: 'echo', count: 6, cued: 1 },
    ],
  },
  {
    name: 'B',
    steps: 340,
    schedule: 'cosine',
    portions: [
      { task: 'lane', count: 24, cued: 0.5 },
      { task: 'catch', count: 10, cued: 1, cutAfter: 2 },
      { task: 'catch', count: 8, cued: 0.5 },
      { task: 'echo', count: 8, cued: 0.5 },
    ],
  },
]

export const LEARNING_RATE = 2e-3
export const WARMUP_STEPS = 50
/** Share of the rate that is left at the end of a cosine phase. */
export const FINAL_RATE = 0.05

export const OPTIMIZER: Omit<OptimizerParams, 'learning_rate'> = {
  adam_beta1: 0.9,
  adam_beta2: 0.98,
  adam_epsilon: 1e-8,
  weight_decay: 0.01,
  max_grad_norm: 1,
}

/** Learning rate of a step; `step` counts from 0 over all phases, `inPhase` within its phase. */
export function learningRate(phase: Phase, step: number, inPhase: number): number {
  const warm = Math.min(1, (step + 1) / WARMUP_STEPS)
  if (phase.schedule === 'constant') return LEARNING_RATE * warm
  const progress = inPhase / Math.max(1, phase.steps - 1)
  return LEARNING_RATE * warm * (FINAL_RATE + (1 - FINAL_RATE) * 0.5 * (1 + Math.cos(Math.PI * progress)))
}

/** A recipe with another number of echo games in every phase; 0 leaves the task out. */
function withEcho(count: number): readonly Phase[] {
  return PHASES.map((phase) => ({
    ...phase,
    portions: phase.portions.flatMap((portion) => (portion.task !== 'echo' ? [portion] : count > 0 ? [{ ...portion, count }] : [])),
  }))
}

/** Other recipes to compare with; the first one is what is shipped. */
export const VARIANTS: Readonly<Record<string, readonly Phase[]>> = {
  default: PHASES,
  'no-echo': withEcho(0),
  'more-echo': withEcho(16),
}
