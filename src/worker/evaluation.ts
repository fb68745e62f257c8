/** Measures a loaded run on fixed episodes of both splits: rates for the page, and the figures that are kept with the run. */

import type { RunConfig } from '../core/config'
import { describeError, PlaygroundError } from '../core/errors'
import type { TrainEvent } from '../core/events'
import type { EvaluationRecord } from '../core/run-record'
import { evaluate } from '../train/evaluate'
import type { EvaluationResult, Message } from './protocol'
import type { RunSetup } from './setup'

interface Measured extends RunSetup {
  config: RunConfig
  trainer: { readonly stepNumber: number }
}

/** Throws PlaygroundError as train/evaluate does. Servers have no held-out split. */
async function evaluateRun(run: Measured, episodes: number, onEvent: (event: TrainEvent) => void): Promise<EvaluationResult & { records: EvaluationRecord[] }> {
  const measure = async (split: 'train' | 'heldout'): Promise<{ rate: number; record: EvaluationRecord }> => {
    const { success, reward, episodes: played, unscorable } = await evaluate({ ...run, split, episodes, onEvent })
    const scorable = played - unscorable
    const solved = Math.round(success * scorable)
    return { rate: success, record: { step: run.trainer.stepNumber, split, solved, scorable, reward, precision: run.config.precision } }
  }
  const train = await measure('train')
  const heldOut = run.config.environment.kind === 'builtin' ? await measure('heldout') : null
  return { train: train.rate, heldOut: heldOut?.rate ?? null, episodes, records: [train.record, ...(heldOut ? [heldOut.record] : [])] }
}

/** Answers the page's request by one message; returns the result, null when it failed. */
export async function answerEvaluation(
  run: Measured | null,
  training: boolean,
  { requestId, episodes }: { requestId: number; episodes: number },
  post: (message: Message) => void,
): Promise<(EvaluationResult & { records: EvaluationRecord[] }) | null> {
  try {
    if (!run) throw new PlaygroundError('config', 'There is no model to evaluate yet.', 'Wait until it is loaded.')
    if (training) throw new PlaygroundError('config', 'A step is being trained.', 'Evaluate when the step is finished: press Step instead of Train.')
    const result = await evaluateRun(run, episodes, (event) => post({ type: 'event', event }))
    post({ type: 'evaluation', requestId, result })
    return result
  } catch (error) {
    post({ type: 'evaluation-failed', requestId, error: describeError(error) })
    return null
  }
}
