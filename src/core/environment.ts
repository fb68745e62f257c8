/** An environment in OpenEnv's shape, reduced to what a rollout needs. Built-in and remote ones look alike. */

import type { DatasetFacts } from './dataset'
import type { DiscoveredEnvironment } from './discovered'
import type { ChatMessage, Tool, ToolCall } from './tools'

export interface ResetOptions {
  /** One seed per group: every member starts from the same scenario (if the environment honours seeds). */
  seed: number
  episode_id: string
  /** Which part of the scenario space to draw from; remote environments ignore it. */
  split: 'train' | 'heldout'
  /** Columns of the dataset's row that the episode belongs to; absent where there is no dataset. */
  columns?: Readonly<Record<string, unknown>>
}

/** What is known of a group before it is played. */
export interface Draw {
  seed: number
  split: ResetOptions['split']
  /** Number of the prompt in the run's own order, from 0 through all steps; absent for prompts out of that order, which are drawn by their seed. */
  prompt?: number
}

/** Who plays a group, and what its prompt is. */
export interface Assignment {
  environment: Environment
  /** The conversation that it begins with, without what reset says; absent: the run's prompts. */
  messages?: readonly ChatMessage[]
  columns?: Readonly<Record<string, unknown>>
}

/** A picture that an environment sent. */
export interface EnvironmentImage {
  /** The observation's field that held it. */
  name: string
  /** As the environment sent it, pixels; `bytes` may hold a smaller copy. */
  width: number
  height: number
  mime: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  bytes: Uint8Array<ArrayBuffer>
}

export interface Observation {
  /** What the model reads. */
  text: string
  /** null = "none given", which is not 0. */
  reward: number | null
  /** What it sends as rubric_reward beside its reward; absent where it sends none. */
  rubric?: number
  done: boolean
  metadata: Record<string, unknown>
  /** The call was refused or failed as a tool (text holds the error); it counts a turn and the episode goes on. */
  toolError: boolean
  /** The call was refused on our side: the environment never saw it. */
  refused?: true
  /** Anything a panel may draw (board, scene); plain JSON. Never shown to the policy. */
  scene?: unknown
  /** Pictures, which a text-only model reads as placeholders. The scene holds them too, as base64. */
  images?: readonly EnvironmentImage[]
}

/** One episode's session. Every method may reject with PlaygroundError('environment'): the episode is then unscorable. */
export interface EnvironmentSession {
  reset(options: ResetOptions): Promise<Observation>
  step(call: ToolCall): Promise<Observation>
  /** What the environment says of itself, for people only: it may hold the answer. Absent where it says nothing. */
  readState?(): Promise<Record<string, unknown>>
  /**
   * Asked before an episode is scored, after its last call: rejects when what was answered cannot be trusted, as after a frame that nobody had
   * asked for. May take a moment where such a frame could still come. Absent where answers cannot be mixed up.
   */
  settle?(): Promise<void>
  /** Its judgement of the whole episode, asked once after the last call; null: unscorable. Absent where only its answers hold rewards. */
  finalReward?(): Promise<number | null>
  /** Releases what the session holds; never rejects. */
  close(): Promise<void>
}

/** One of several environments as a page, a record and exports know it: plain data. */
export interface MemberFacts {
  name: string
  /** As the model sees them. */
  tools: Tool[]
  /** Before a person's edits; absent where there are none. */
  ownTools?: Tool[]
  /** That its episodes begin with. */
  prompts: { system: string; user: string }
  /** null: no limit. */
  maxSessions: number | null
  discovered?: DiscoveredEnvironment
}

export interface Environment {
  readonly name: string
  /** Tools in prompt order. Known after `connect`. */
  readonly tools: readonly Tool[]
  /** The environment's own tools where a person's edits changed `tools`; absent where nothing was changed. */
  readonly ownTools?: readonly Tool[]
  /** Called when a session is wanted and none is free: whoever plays beside a run gives way. */
  onCrowded?: (() => void) | undefined
  /** Most sessions at once; Infinity for built-in ones. May shrink as the server says so. */
  readonly maxSessions: number
  /** It honours the split: 'heldout' draws scenarios that 'train' never does. Known after `connect`; absent where nobody can tell. */
  readonly heldOut?: boolean
  /** System and user prompt that suit this environment; empty strings where unknown. */
  readonly prompts: { system: string; user: string }
  /** What discovery found at a server; null before `connect`, absent for built-in environments. */
  readonly discovered?: DiscoveredEnvironment | null
  /** Discovers tools and capacity. Throws with a clear sentence when it cannot be used. */
  connect(): Promise<void>
  /** One episode, one session. */
  open(): Promise<EnvironmentSession>
  /** Episode's reward from its per-turn rewards; null only if the environment never gave one. */
  episodeReward(rewards: readonly (number | null)[]): number | null
  /** Whether a finished episode counts as solved, for success curves. */
  isSuccess(reward: number): boolean
  /**
   * Of several environments, or of a dataset's rows: what a group is. A pure function of the draw once connected; every member of the group
   * gets it. Absent: this environment plays all groups with the run's prompts.
   */
  assign?(draw: Draw): Assignment
  /** Of several environments: each as it is played, with the prompts that its episodes begin with. */
  readonly members?: readonly Environment[]
  /** It never judges: only reward functions do. */
  readonly rewardless?: true
  /** Why an episode in which nothing failed may have no reward, as words without a full stop. Known after `connect`; absent where there is no more to say than that. */
  readonly unrewarded?: string
  /** The dataset that it reads; null before `connect`, absent where it reads none. */
  readonly dataset?: DatasetFacts | null
  /** What a person should know of what was connected, as sentences; rows that were left out, for instance. Grows with `fit`. */
  readonly remarks?: readonly string[]
  /**
   * Leaves out what begins with more than `most` tokens, and says how many the longest prompt of the rest has. To be called once, after
   * `connect`. Absent: all groups begin with the run's prompts. `tools`: other than the environment's. Throws PlaygroundError('config') where nothing would be left.
   */
  fit?(tokens: (messages: readonly ChatMessage[], tools?: readonly Tool[]) => number, most: number): number
  close(): Promise<void>
}
