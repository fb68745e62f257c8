/** The whole contract between page and worker. The page never sees a tensor; the worker never sees the DOM. */

import type { EnvironmentSpec, RunConfig } from '../core/config'
import type { Author } from '../core/episode'
import type { EngineReport, LoadProgress } from '../core/events'
import type { DeviceReport, MemoryPlan, Verdict } from '../core/plan'
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
  /** Stops the download that a configure began; what has come is kept. */
  | { type: 'pause-load' }
  /** The Hub token for gated and private repositories; kept in memory alone. null forgets it. */
  | { type: 'token'; token: string | null }
  /** What would loading this config's model take? Answered by 'inspection'; downloads only config.json and file lists. */
  | { type: 'inspect'; requestId: number; config: RunConfig }
  /** Answered by 'stored-models'. */
  | { type: 'list-stored' }
  /** Deletes a stored model; answered by 'stored-models'. */
  | { type: 'delete-stored'; key: string }
  /** The two files of a PEFT adapter, to be named by config.adapter {kind: 'file', name}. */
  | { type: 'give-adapter'; name: string; config: string; weights: ArrayBuffer }
  /** Train although the self-test failed. */
  | { type: 'trust-device' }
  /** One user turn with the loaded model; answered by 'chat-tokens' and one 'chat-ended'. The last call's conversation goes on unless `fresh`. */
  | { type: 'chat'; requestId: number; text: string; options: ChatOptions }
  | { type: 'chat-stop' }
  /** Success rate over fixed-seed episodes, sampled at temperature 1, on both splits. */
  | { type: 'evaluate'; requestId: number; episodes: number }

export interface ChatOptions {
  /** Begin a new conversation with this turn. */
  fresh: boolean
  /** With the LoRA as it is now, or the base model alone. */
  adapter: 'current' | 'off'
  enable_thinking: boolean
  /** Show the environment's tools to the model and answer its calls by a session of the environment. */
  tools: boolean
  temperature: number
  max_new_tokens: number
}

/** A piece of a chat's transcript, append-only. */
export interface ChatToken {
  id: number
  text: string
  author: Author
}

/** What a model would take, from its small files alone. */
export interface Inspection {
  model: string
  /** Commit. */
  revision: string
  architecture: string
  parameters: number
  layers: number
  /** Bytes still to download, and those that are stored here already. */
  downloadBytes: number
  storedBytes: number
  device: DeviceReport
  plan: MemoryPlan
  verdict: Verdict
}

/** A model in this browser's storage. */
export interface StoredModel {
  key: string
  model: string
  revision: string
  bytes: number
  /** All files are here. */
  complete: boolean
}

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
  /** A configure failed and the run before it goes on: these are its settings. */
  | { type: 'configured'; config: RunConfig }
  /** A person pressed Reset: forget the curve. */
  | { type: 'cleared' }
  | { type: 'inspection'; requestId: number; result: { ok: true; inspection: Inspection } | { ok: false; error: string; advice: string } }
  | { type: 'stored-models'; models: StoredModel[]; storage: DeviceReport['storage'] }
  | { type: 'chat-tokens'; requestId: number; tokens: ChatToken[] }
  /** error: a sentence where there is more to say than the reason; never empty when 'failed'. */
  | { type: 'chat-ended'; requestId: number; reason: 'end-of-turn' | 'length' | 'stopped' | 'failed'; error: string }
  | { type: 'evaluation'; requestId: number; result: EvaluationResult }
  | { type: 'evaluation-failed'; requestId: number; error: string }

export type { LoadProgress, RunState, StepRecord, TrainEvent }

// Plain data that both sides share.
export { PRESETS, presetById, presetConfig, TINY_BASE, TINY_GRPO, TINY_MODEL, type Preset } from '../env/presets'
