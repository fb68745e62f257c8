/** The whole contract between page and worker. The page never sees a tensor; the worker never sees the DOM. */

import type { EnvironmentSpec, RunConfig } from '../core/config'
import type { EngineReport } from '../core/events'
import type { RunState, StepRecord, TrainEvent } from '../core/events'
import type { Tool } from '../core/tools'

/** Page → worker. */
export type Command =
  /** Loads (or keeps) model and engine for this config, connects the environment, resets the adapter to step 0. */
  | { type: 'configure'; config: RunConfig }
  | { type: 'train' }
  /** One GRPO step. */
  | { type: 'step' }
  /** Pause after the current token; the step resumes where it stood. */
  | { type: 'pause' }
  /** Back to step 0 with a fresh adapter. */
  | { type: 'reset' }
  /** Success rate over fixed-seed episodes, sampled at temperature 1, on both splits. */
  | { type: 'evaluate'; requestId: number; episodes: number }

/** Success rates of an evaluation, 0..1; heldOut is null where the environment has no splits. */
export interface EvaluationResult {
  train: number
  heldOut: number | null
  episodes: number
}

/** Worker → page. */
export type Message =
  | { type: 'state'; state: RunState }
  | { type: 'engine'; report: EngineReport }
  | { type: 'environment'; spec: EnvironmentSpec; tools: Tool[]; prompts: { system: string; user: string }; maxSessions: number | null }
  | { type: 'event'; event: TrainEvent }
  /** A person pressed Reset: forget the curve. */
  | { type: 'cleared' }
  | { type: 'evaluation'; requestId: number; result: EvaluationResult }
  | { type: 'evaluation-failed'; requestId: number; error: string }

export type { RunState, StepRecord, TrainEvent }

// Plain data that both sides share.
export { PRESETS, presetById, presetConfig, TINY_GRPO, TINY_MODEL, type Preset } from '../env/presets'
