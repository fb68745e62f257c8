/** A training stage before GRPO: its settings under TRL's names (SFTConfig, DPOConfig), and what is kept of it when it is done. */

import type { LrSchedulerType } from './config'

export const STAGE_KINDS = ['sft', 'dpo'] as const
export type StageKind = (typeof STAGE_KINDS)[number]

/** TRL's loss types that rl/dpo.ts has. */
export const STAGE_LOSSES = ['sigmoid', 'ipo', 'hinge', 'robust', 'nca_pair', 'apo_zero', 'apo_down', 'sppo_hard'] as const
export type StageLoss = (typeof STAGE_LOSSES)[number]

export interface StageSettings {
  learning_rate: number
  lr_scheduler_type: LrSchedulerType
  warmup_steps: number
  weight_decay: number
  max_grad_norm: number
  /** Rows of one optimizer step. */
  per_device_train_batch_size: number
  num_train_epochs: number
  /** Optimizer steps; −1: as many as the epochs make. */
  max_steps: number
  /** Tokens of prompt and answer; the end of what is longer is cut off (keep_start). */
  max_length: number
  /** Only what the model itself would have written is a target: no user's text, no tool's result. */
  assistant_only_loss: boolean
  /** Order of the rows. */
  seed: number
  /** DPO alone, as the two after it. */
  loss_type: StageLoss
  beta: number
  label_smoothing: number
}

/** TRL's defaults but three: assistant_only_loss is on, and both learning rates are ten times TRL's, because a LoRA is trained. */
const COMMON: StageSettings = {
  learning_rate: 2e-4,
  lr_scheduler_type: 'linear',
  warmup_steps: 0,
  weight_decay: 0,
  max_grad_norm: 1,
  per_device_train_batch_size: 8,
  num_train_epochs: 3,
  max_steps: -1,
  max_length: 1024,
  assistant_only_loss: true,
  seed: 42,
  loss_type: 'sigmoid',
  beta: 0.1,
  label_smoothing: 0,
}

/** What a stage begins with. */
export const DEFAULT_STAGE: Readonly<Record<StageKind, StageSettings>> = { sft: COMMON, dpo: { ...COMMON, learning_rate: 1e-5 } }

/** Where a planned stage's rows come from: nobody has to give any. */
export type StageRows =
  /** Games whose every call is drawn from those that fit the tools: they show the form, not the choice. */
  | { from: 'random'; games: number }
  /** SFT: the policy's own episodes with a reward of at least `least`. */
  | { from: 'episodes'; groups: number; least: number }
  /** DPO: of each group of the policy's own episodes the better beside the worse. */
  | { from: 'pairs'; groups: number }

/** A stage that the run makes by itself before its first GRPO step. */
export interface PlannedStage {
  kind: StageKind
  rows: StageRows
  settings: StageSettings
}

/** What rows a kind of stage can have. */
export const rowsFit = ({ kind, rows }: Pick<PlannedStage, 'kind' | 'rows'>): boolean => (kind === 'dpo') === (rows.from === 'pairs')

/** A policy on held-out scenarios (of training where there are no others), each played once. */
export interface StageMeasure {
  episodes: number
  /** Share of them that were solved, and that ended by calls that fit the tools; mean reward. */
  success: number
  valid: number
  reward: number
}

/** Where rows from the Hub came from, to be found again. */
export interface StageSource {
  /** 'owner/name' of a dataset. */
  repo: string
  /** As it was asked for. */
  revision: string
  /** The commit that the revision was at. */
  sha: string
  config: string
  split: string
}

/** A stage that was trained, in the order of the run. */
export interface StageRecord {
  kind: StageKind
  /** What its rows were called. */
  dataset: string
  /** Absent where the rows came from elsewhere than the Hub. */
  source?: StageSource
  /** Rows that were trained on. */
  rows: number
  /** Optimizer steps that were applied: fewer than planned where a person stopped it. */
  steps: number
  settings: StageSettings
  /** Finished GRPO steps before it. */
  afterStep: number
  /** TRL's metrics of its first and its last step. */
  first: Record<string, number | null>
  last: Record<string, number | null>
  /** Of a stage of the run's plan: its place there, from 0. */
  planned?: number
  /** Why a planned stage could not be trained; it then has no steps. */
  skipped?: string
  /** Of a planned stage: the policy before it and after it. */
  before?: StageMeasure
  after?: StageMeasure
  /** Its leading metric at every optimizer step (LEADING_METRIC), for the timeline. */
  lead?: (number | null)[]
}

/** From 0 to 1, and better above: what the timeline draws of a stage. */
export const LEADING_METRIC: Readonly<Record<StageKind, string>> = { sft: 'mean_token_accuracy', dpo: 'rewards/accuracies' }

/** The first planned stage that the records do not hold; null when all are there. */
export function nextPlanned(plan: readonly PlannedStage[], records: readonly StageRecord[]): number | null {
  const next = plan.findIndex((_, i) => records.every(({ planned }) => planned !== i))
  return next < 0 ? null : next
}

/** Optimizer steps of a stage over so many rows: TRL's count, the last batch of an epoch may be smaller. */
export function stageSteps({ max_steps, num_train_epochs, per_device_train_batch_size: size }: StageSettings, rows: number): number {
  return max_steps > 0 ? max_steps : Math.max(1, Math.ceil(num_train_epochs * Math.ceil(rows / size)))
}

/** The run as one line: "SFT 20 steps → DPO 10 steps → GRPO 5 steps". */
export function stageLine(stages: readonly Pick<StageRecord, 'kind' | 'steps' | 'afterStep' | 'skipped'>[], grpoSteps: number): string {
  const part = (name: string, steps: number): string => `${name} ${steps} ${steps === 1 ? 'step' : 'steps'}`
  const parts: string[] = []
  let at = 0
  for (const { kind, steps, afterStep, skipped } of stages) {
    if (skipped !== undefined) continue
    if (afterStep > at) parts.push(part('GRPO', afterStep - at))
    at = Math.max(at, afterStep)
    parts.push(part(kind.toUpperCase(), steps))
  }
  if (grpoSteps > at) parts.push(part('GRPO', grpoSteps - at))
  return parts.join(' → ')
}
