/** What a stage's settings and a plan may be: one rule for the field where they are typed, for Train, and for the worker that refuses them. */

import { type PlannedStage, rowsFit, STAGE_LOSSES, type StageKind, type StageRows, type StageSettings } from './stage'

/** Most stages of a plan, and games or groups of one. */
export const MOST_STAGES = 8
export const MOST_PLAYED = 4096

interface Limit {
  /** What it must be, in words. */
  must: string
  allows: (value: StageSettings[keyof StageSettings]) => boolean
  /** Read by DPO alone. */
  dpo?: true
}

const number = (must: string, allows: (value: number) => boolean): Limit => ({ must, allows: (value) => typeof value === 'number' && allows(value) })
const whole = (least: number): Limit => number(`a whole number from ${least}`, (value) => Number.isInteger(value) && value >= least)

/** In the order in which they are told. */
const LIMITS: Readonly<Partial<Record<keyof StageSettings, Limit>>> = {
  learning_rate: number('above 0 and below 1', (value) => value > 0 && value < 1),
  weight_decay: number('from 0 to below 1', (value) => value >= 0 && value < 1),
  max_grad_norm: number('above 0', (value) => value > 0),
  warmup_steps: whole(0),
  seed: whole(0),
  num_train_epochs: number('above 0', (value) => value > 0 && value < Infinity),
  max_steps: number('a whole number from 1, or −1 for as many as the epochs make', (value) => Number.isInteger(value) && (value >= 1 || value === -1)),
  per_device_train_batch_size: whole(1),
  max_length: whole(2),
  loss_type: { must: `one of ${STAGE_LOSSES.join(', ')}`, allows: (value) => (STAGE_LOSSES as readonly unknown[]).includes(value), dpo: true },
  beta: { ...number('above 0', (value) => value > 0 && value < Infinity), dpo: true },
  label_smoothing: { ...number('from 0 to below 0.5', (value) => value >= 0 && value < 0.5), dpo: true },
}

/** What a setting of this kind of stage must be, where this value is refused; null where it is taken. */
export function settingMust<K extends keyof StageSettings>(kind: StageKind, name: K, value: StageSettings[K]): string | null {
  const limit = LIMITS[name]
  return !limit || (limit.dpo && kind !== 'dpo') || limit.allows(value) ? null : limit.must
}

/** What the number of games or groups must be, where this one is refused; null where it is taken. */
export const playedMust = (value: number): string | null => (Number.isInteger(value) && value >= 1 && value <= MOST_PLAYED ? null : `a whole number from 1 to ${MOST_PLAYED}`)

/** The first setting that is refused, as half a sentence: "beta must be above 0; it is −1"; null where all are taken. */
export function settingsRefusal(kind: StageKind, settings: StageSettings): string | null {
  for (const name of Object.keys(LIMITS) as (keyof StageSettings)[]) {
    const must = settingMust(kind, name, settings[name])
    if (must !== null) return `${name} must be ${must}; it is ${String(settings[name])}`
  }
  return null
}

function rowsRefusal(stage: Pick<PlannedStage, 'kind' | 'rows'>): string | null {
  const { kind, rows } = stage
  if (!rowsFit(stage)) return `${kind.toUpperCase()} cannot be trained on such rows (${rows.from})`
  const must = playedMust(countOf(rows))
  if (must !== null) return `${rows.from === 'random' ? 'games' : 'groups'} must be ${must}; it is ${countOf(rows)}`
  return rows.from === 'episodes' && !Number.isFinite(rows.least) ? 'the least reward must be a number' : null
}

/** Games or groups that are played for the rows. */
export const countOf = (rows: StageRows): number => (rows.from === 'random' ? rows.games : rows.groups)

/** Why a planned stage would be refused, as half a sentence; null where it would not be. */
export const stageRefusal = (stage: PlannedStage): string | null => rowsRefusal(stage) ?? settingsRefusal(stage.kind, stage.settings)
