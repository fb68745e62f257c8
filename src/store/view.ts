/** What the panels read of a run: small immutable snapshots. Tokens and other long arrays stay in the token log. */

import type { RunConfig } from '../core/config'
import type { EnvironmentSpec } from '../core/environment-spec'
import type { DatasetFacts } from '../core/dataset'
import type { DiscoveredEnvironment } from '../core/discovered'
import type { MemberFacts } from '../core/environment'
import type { ExitReason, Verdict } from '../core/episode'
import type { EngineReport, StepRecord } from '../core/events'
import type { RunEvaluation } from '../core/evaluation'
import type { StepSummary } from '../core/run-record'
import type { StageKind, StageMeasure, StageRecord } from '../core/stage'
import type { TimelineSpan } from '../core/timeline'
import type { Tool } from '../core/tools'
import type { PlanDoing, RunState } from '../worker/protocol'

/** Steps whose metrics stay on the curves. */
export const KEPT_STEPS = 2000
/** Steps whose episodes stay readable token by token. */
export const KEPT_EPISODE_STEPS = 3
/** Notices that stay listed. */
export const KEPT_NOTICES = 20

/** What the environment said after one of the model's turns. */
export interface AnswerView {
  turn: number
  reward: number | null
  rubric?: number
  done: boolean
  ms: number
  scene?: unknown
}

export interface EpisodeView {
  step: number
  index: number
  group: number
  seed: number
  /** Which of several environments plays it; absent where there is one. */
  environment?: string
  promptLength: number
  /** Tokens so far, prompt included. */
  length: number
  /** The model's turn that is being written, from 0. */
  turn: number
  /** Clock reading in ms when the environment was asked, while it has not answered. */
  waitingSince: number | null
  answers: readonly AnswerView[]
  /** Scene right after reset. */
  scene?: unknown
  finished: boolean
  reward: number | null
  /** What each reward function gave, by its name, before its weight; absent where the environment's reward is all there is. */
  parts?: Readonly<Record<string, number | null>>
  /** No environment judges it: reward functions alone do. */
  rewardless?: true
  /** Columns of its dataset row; absent for none. */
  columns?: Readonly<Record<string, unknown>>
  success: boolean | null
  exit: ExitReason | null
  error: string | null
  /** Whether the last sampled token ends a turn; null until the episode has ended. */
  terminated: boolean | null
  /** What stands behind the reward, or behind there being none; null until the episode has ended, and until it is judged where nobody judges it before. */
  verdict: Verdict | null
  /** Tool calls that could not be parsed, and calls that the environment or the tool's schema answered with an error; 0 until the episode has ended. */
  parseErrors: number
  toolErrors: number
  advantage: number | null
}

export type GroupStats = StepRecord['groups'][number]

/** One step with its episodes; the last few are kept. */
export interface StepView {
  step: number
  groupCount: number
  episodeCount: number
  episodes: readonly EpisodeView[]
  /** null before the rewards are in. */
  groups: readonly GroupStats[] | null
  /** Numbers of the groups that were sampled again, while the step is not scored; absent for none. */
  discarded?: readonly number[]
  training: { done: number; total: number } | null
  /** What every slot did so far; absent where nobody measured it. */
  timeline?: readonly TimelineSpan[]
  /** Sampled while the step before is trained on; absent where it is not. */
  ahead?: true
  /** The update is done and its metrics are in `history`. */
  finished: boolean
}

/** The environment keeps the run waiting; `until` on the store's clock in ms, null where nobody can tell. */
export interface WaitView {
  /** Episodes that queue for a session of the server. */
  queue: { waiting: number; until: number | null } | null
  /** Half a sentence: it failed, it is woken, it is full. */
  away: { text: string; until: number | null } | null
}

export interface NoticeView {
  id: number
  level: 'info' | 'warning'
  text: string
  /** Equal notices are counted, not repeated; so are those that differ in the step alone. */
  count: number
  /** The steps that they name, rising; empty for those that name none. */
  steps: readonly number[]
}

export interface EnvironmentView {
  spec: EnvironmentSpec
  tools: readonly Tool[]
  /** Before a person's edits. */
  ownTools: readonly Tool[]
  prompts: { system: string; user: string }
  maxSessions: number | null
  /** It has scenarios that training never draws; absent where nobody said. */
  heldOut?: boolean
  /** What was found out at the server; null for what is built in. */
  discovered: DiscoveredEnvironment | null
  /** The dataset that it reads; absent for none. */
  dataset?: DatasetFacts
  /** Of several environments, each; tools and prompts above are the first one's. */
  members?: readonly MemberFacts[]
}

/** The stage of the run's own plan that is being made, and its leading metric at each optimizer step so far. */
export interface PlanView {
  kind: StageKind
  at: number
  stages: number
  doing: PlanDoing
  done: number
  of: number
  /** Absent until it is measured. */
  before?: StageMeasure
  lead: readonly (number | null)[]
}

export interface RunView {
  run: RunState
  engine: EngineReport | null
  environment: EnvironmentView | null
  /** Oldest first. */
  steps: readonly StepView[]
  history: readonly StepSummary[]
  notices: readonly NoticeView[]
  waits: WaitView
  /** Under way; `step`: finished steps of a run that evaluates itself. */
  evaluation: { split: 'train' | 'heldout'; done: number; total: number; step?: number } | null
  /** Those that the run made itself, oldest first. */
  evaluations: readonly RunEvaluation[]
  plan: PlanView | null
  /** That the run has been through. */
  stages: readonly StageRecord[]
  /** Name of the recording that is shown instead of a run; null while a run is. */
  recording: string | null
  /** A run that was begun waits behind the recording. */
  behind: boolean
  /** The settings that a recording was made with, as far as it tells them; null for the run in the worker. */
  recorded: RunConfig | null
}

export const EMPTY_RUN: RunView = {
  run: { state: 'loading', what: '', done: 0, total: null },
  engine: null,
  environment: null,
  steps: [],
  history: [],
  notices: [],
  waits: { queue: null, away: null },
  evaluation: null,
  evaluations: [],
  plan: null,
  stages: [],
  recording: null,
  behind: false,
  recorded: null,
}

/** The step that is running or was the last to run. */
export function latestStep(view: RunView): StepView | null {
  return view.steps.at(-1) ?? null
}

/** The earlier step that is trained on while the latest is sampled; null for none. */
export function trainedBeside({ steps }: Pick<RunView, 'steps'>): StepView | null {
  return steps.slice(0, -1).find((step) => !step.finished && step.training !== null) ?? null
}

/**
 * Whether a step has begun and not ended. One that was sampled ahead and waits for its update is data: nothing is under way. Nor is anything
 * of a step that failed: it is begun again.
 */
export function isMidStep({ run, steps }: Pick<RunView, 'run' | 'steps'>): boolean {
  if (run.state === 'failed') return false
  const open = steps.filter(({ finished }) => !finished)
  // A step is sampled ahead only while the one before it is trained on.
  return (run.state === 'paused' && run.at !== undefined) || open.length > 1 || open.some(({ ahead, training }) => !ahead || training !== null)
}

/** The kept step with this number, or the latest for null; null when its episodes are no longer kept. */
export function findStep(view: RunView, step: number | null): StepView | null {
  return step === null ? latestStep(view) : (view.steps.find((s) => s.step === step) ?? null)
}

/** Whether a group was replaced by dynamic sampling and is in no update. */
export function isDiscarded({ groups, discarded }: Pick<StepView, 'groups' | 'discarded'>, group: number): boolean {
  return groups?.find((each) => each.group === group)?.discarded ?? discarded?.includes(group) ?? false
}

/** A group without reward differences teaches nothing; one with unscorable members only does not either. */
export function hasNoSignal(group: GroupStats): boolean {
  return !group.signal
}

/** Whether the worker has nothing left to go on with: only a new configuration helps. */
export function isBroken(run: RunState): run is Extract<RunState, { state: 'failed' }> & { recoverable: false } {
  return run.state === 'failed' && !run.recoverable
}

/** Whether a person has the loaded run measured; a run that evaluates itself is training. */
export function isMeasuring({ run, evaluation }: Pick<RunView, 'run' | 'evaluation'>): boolean {
  return evaluation !== null && evaluation.step === undefined && !isActive(run)
}

/** Whether the worker is busy with a run that Pause can stop. */
export function isActive(run: RunState): boolean {
  return run.state === 'running' || run.state === 'pausing'
}
