/** What a rollout takes; the trainer fills it in. */

import type { GrpoConfig } from '../core/config'
import type { Sampler } from '../core/engine'
import type { Environment } from '../core/environment'
import type { TrainEvent } from '../core/events'
import type { ChatFormat } from './chat'
import type { Lanes } from './lanes'

export interface RolloutRequest {
  /** Number of the GRPO step (part of every random key). */
  step: number
  /** One environment seed per group; num_generations episodes each. */
  groupSeeds: readonly number[]
  num_generations: number
  /** Number of the first group, where these are added to others of the step; absent: 0. Episodes are numbered accordingly. */
  firstGroup?: number
  split: 'train' | 'heldout'
  /** Number of the first group's prompt in the run's own order; absent: prompts are drawn by the groups' seeds. */
  firstPrompt?: number
  /** Sampling settings, budgets and seed. */
  config: Pick<
    GrpoConfig,
    'seed' | 'temperature' | 'top_p' | 'top_k' | 'min_p' | 'max_completion_length' | 'max_tool_calling_iterations'
  >
  system_prompt: string
  user_prompt: string
  environment: Environment
  sampler: Sampler
  chat: ChatFormat
  onEvent: (event: TrainEvent) => void
  /** Awaited between decode ticks; a pause is a promise that does not resolve yet. */
  gate?: () => Promise<void>
  /** Aborting ends every unfinished episode with exit 'stopped'. */
  signal?: AbortSignal
  /** Told what every slot does. */
  lanes?: Lanes
  /** Waits for what does not need the engine, which another may use until then. */
  rest?: Rest
}

export type Rest = <T>(wait: Promise<T>) => Promise<T>

/** How a rollout waits; where nobody else wants the engine, it just does. */
export const restOf = ({ rest }: Pick<RolloutRequest, 'rest'>): Rest => rest ?? ((wait) => wait)
