/** A run's planned stages, as they come in from outside, in a link or a file: settings that are not named are the defaults. */

import { z } from 'zod/mini'
import { DEFAULT_STAGE, type PlannedStage, rowsFit, STAGE_KINDS, STAGE_LOSSES, type StageKind, type StageSettings } from './stage'
import { MOST_PLAYED, MOST_STAGES } from './stage-limits'

const number = z.number()
const count = z.int().check(z.minimum(0))
const played = z.int().check(z.minimum(1), z.maximum(MOST_PLAYED))

/** Whether they are within their bounds is seen where the stage is trained. */
export const stageSettingsSchema = z.object({
  learning_rate: number,
  lr_scheduler_type: z.enum(['linear', 'cosine', 'constant']),
  warmup_steps: count,
  weight_decay: number,
  max_grad_norm: number,
  per_device_train_batch_size: count,
  num_train_epochs: number,
  max_steps: number,
  max_length: count,
  assistant_only_loss: z.boolean(),
  seed: count,
  loss_type: z.enum(STAGE_LOSSES),
  beta: number,
  label_smoothing: number,
})

const planned = z.strictObject({
  kind: z.enum(STAGE_KINDS),
  rows: z.discriminatedUnion('from', [
    z.strictObject({ from: z.literal('random'), games: played }),
    z.strictObject({ from: z.literal('episodes'), groups: played, least: number }),
    z.strictObject({ from: z.literal('pairs'), groups: played }),
  ]),
  settings: z.partial(stageSettingsSchema),
})

const withDefaults = (kind: StageKind, settings: object): StageSettings => ({ ...DEFAULT_STAGE[kind], ...settings })

/** Parses to a plan. */
export const stagesSchema = z.pipe(
  z.array(planned.check(z.refine(rowsFit))).check(z.minLength(1), z.maxLength(MOST_STAGES)),
  z.transform((stages) => stages.map(({ kind, rows, settings }): PlannedStage => ({ kind, rows, settings: withDefaults(kind, settings) }))),
)

/** A plan out of a stranger's JSON; null for anything else. */
export function readStages(json: unknown): PlannedStage[] | null {
  const read = stagesSchema.safeParse(json)
  return read.success ? read.data : null
}

/** As a link holds it: without what is as ever. */
export function writeStages(stages: readonly PlannedStage[]): string {
  return JSON.stringify(
    stages.map(({ kind, rows, settings }) => {
      const usual = DEFAULT_STAGE[kind]
      const keys = (Object.keys(usual) as (keyof StageSettings)[]).filter((key) => settings[key] !== usual[key])
      return { kind, rows, settings: Object.fromEntries(keys.map((key) => [key, settings[key]])) }
    }),
  )
}
