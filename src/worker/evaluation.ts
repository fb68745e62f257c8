/** Measures a loaded run on fixed episodes of both splits: rates for the page, and the figures that are kept with the run. */

import type { RunConfig } from '../core/config'
import { describeError, PlaygroundError } from '../core/errors'
import type { TrainEvent } from '../core/events'
import type { EvaluationHow, EvaluationRecord } from '../core/run-record'
import { evaluate, STOPPED } from '../train/evaluate'
import { assertNotStopped } from '../train/guard'
import { withBase } from './compare-policies'
import { assertHasBase } from './examine'
import type { EvaluationResult, Message } from './protocol'
import type { RunSetup } from './setup'

export interface Measured extends RunSetup {
  config: RunConfig
  trainer: { readonly stepNumber: number }
}

/** Which of them, with its answer's number. */
type Asked = { requestId: number; episodes: number } & EvaluationHow

type Rated = EvaluationResult & { records: EvaluationRecord[] }

/**
 * Rates are of the policy as it is; the base model's figures, where asked for, come after it in the records.
 * Throws PlaygroundError as train/evaluate does, and 'config' where no base is left. Only some environments have a held-out split.
 */
async function evaluateRun(run: Measured, episodes: number, { base, greedy }: EvaluationHow, onEvent: (event: TrainEvent) => void, signal?: AbortSignal): Promise<Rated> {
  if (base) assertHasBase(run.engine)
  const measure = async (split: 'train' | 'heldout', policy?: 'base'): Promise<{ rate: number; record: EvaluationRecord }> => {
    const { success, reward, episodes: played, unscorable } = await evaluate({ ...run, split, episodes, greedy: greedy ?? false, step: run.trainer.stepNumber, onEvent, ...(signal && { signal }) })
    const scorable = played - unscorable
    const how = { ...(policy && { policy }), ...(greedy && { greedy }) }
    return { rate: success, record: { step: run.trainer.stepNumber, split, solved: Math.round(success * scorable), scorable, reward, precision: run.config.precision, ...how } }
  }
  const splits = run.environment.heldOut ? (['train', 'heldout'] as const) : (['train'] as const)
  const measured = []
  for (const split of splits) measured.push(await measure(split))
  const records = measured.map(({ record }) => record)
  if (base) {
    await withBase(run.engine, async () => {
      for (const split of splits) records.push((await measure(split, 'base')).record)
    })
  }
  return { train: measured[0]?.rate ?? 0, heldOut: measured[1]?.rate ?? null, episodes, records }
}

/** Answers the page's request by one message; returns the result, null when it failed or the signal ended it. */
export async function answerEvaluation(
  run: Measured | null,
  training: boolean,
  { requestId, episodes, ...how }: Asked,
  post: (message: Message) => void,
  signal?: AbortSignal,
): Promise<Rated | null> {
  try {
    assertNotStopped(signal, STOPPED)
    if (!run) throw new PlaygroundError('config', 'There is no model to evaluate yet.', 'Wait until it is loaded.')
    if (training) throw new PlaygroundError('config', 'A step is being trained.', 'Evaluate when the step is finished: press Step instead of Train.')
    const result = await evaluateRun(run, episodes, how, (event) => post({ type: 'event', event }), signal)
    post({ type: 'evaluation', requestId, result })
    return result
  } catch (error) {
    post({ type: 'evaluation-failed', requestId, error: describeError(error) })
    return null
  }
}
