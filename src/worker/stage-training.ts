/** Trains one stage on an engine's adapter: the rows in a drawn order, epoch by epoch, with TRL's metrics of every step. */

import type { Engine } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import { RandomStream } from '../core/random'
import { type StageKind, type StageSettings, stageSteps } from '../core/stage'
import { settingsRefusal } from '../core/stage-limits'
import { trainDpo } from '../train/dpo'
import { DpoReference } from '../train/dpo-reference'
import { assertNotStopped } from '../train/guard'
import { trainSft } from '../train/sft'
import type { StageData } from './stage-data'

/** AdamW as TRL has it. */
const ADAM = { adam_beta1: 0.9, adam_beta2: 0.999, adam_epsilon: 1e-8 }

/** Part of the random key of a stage's order. */
const ORDER_KEY = 0x53746167

export interface StageRun {
  engine: Engine
  data: StageData
  settings: StageSettings
  /** Awaited before each optimizer step; a pause is a promise that does not resolve yet. */
  gate: () => Promise<void>
  onStep: (step: number, steps: number, metrics: Record<string, number | null>) => void
  /** Where no copy of the weights is kept, DPO's pairs are scored before its first step: so many of so many batches. */
  onScored?: (batches: number, of: number) => void
  signal: AbortSignal
}

/**
 * The optimizer begins anew. DPO's reference is the policy as it is now.
 * @throws PlaygroundError 'config' for settings out of range, 'stopped', 'non-finite' (that step is not applied) and what the engine throws
 */
export async function trainStage({ engine, data, settings, gate, onStep, onScored, signal }: StageRun): Promise<void> {
  checkStage(data.kind, settings)
  const rows = data.prepared.examples.length
  if (rows === 0) throw new PlaygroundError('config', 'No row is left to train on.', 'Look at what is said of the rows, and mend them.')
  await engine.importParameters(await engine.exportParameters())
  const max_steps = stageSteps(settings, rows)
  let tokens = 0
  const options = { ...settings, ...ADAM, engine, max_steps, signal }
  const tell = (step: number, metrics: Record<string, number | null>): void =>
    onStep(step, max_steps, { ...metrics, num_tokens: tokens, epoch: step / Math.ceil(rows / settings.per_device_train_batch_size) })
  const batch = async <E>(examples: readonly E[], step: number, length: (example: E) => number): Promise<E[]> => {
    await gate()
    const taken = batchOf(examples, step, settings)
    tokens += taken.reduce((sum, example) => sum + length(example), 0)
    return taken
  }
  if (data.kind === 'sft') {
    const { examples } = data.prepared
    await trainSft({
      ...options,
      batch: (step) => batch(examples, step, ({ ids }) => ids.length),
      onStep: ({ step, loss, mean_token_accuracy, entropy, grad_norm, learning_rate }) => tell(step, { loss, mean_token_accuracy, entropy, grad_norm, learning_rate }),
    })
  } else {
    const { examples } = data.prepared
    const reference = engine.lora ? null : new DpoReference(engine, 'current')
    const batches = Math.min(max_steps, Math.ceil(rows / settings.per_device_train_batch_size))
    for (let step = 0; reference && step < batches; step++) {
      assertNotStopped(signal)
      onScored?.(step, batches)
      await reference.of(batchOf(examples, step, settings))
    }
    await trainDpo({
      ...options,
      ...(reference ? { reference } : {}),
      batch: (step) => batch(examples, step, ({ chosen, rejected }) => chosen.ids.length + rejected.ids.length),
      onStep: ({ step, metrics }) => tell(step, metrics),
    })
  }
}

/** The rows of optimizer step `step` (0 = first): every epoch in its own order, its last batch perhaps smaller. */
export function batchOf<E>(examples: readonly E[], step: number, { seed, per_device_train_batch_size: size }: Pick<StageSettings, 'seed' | 'per_device_train_batch_size'>): E[] {
  const perEpoch = Math.ceil(examples.length / size)
  const order = new RandomStream(seed, ORDER_KEY, Math.floor(step / perEpoch)).shuffle(examples)
  const at = (step % perEpoch) * size
  return order.slice(at, at + size)
}

/** Throws PlaygroundError('config') with the first setting that is out of range. */
export function checkStage(kind: StageKind, settings: StageSettings): void {
  const refused = settingsRefusal(kind, settings)
  if (refused !== null) throw new PlaygroundError('config', `${refused}.`)
}
