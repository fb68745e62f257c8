/** The preference loop: pairs of answers, their gradient, one optimizer step, again. */

import type { LrSchedulerType } from '../core/config'
import type { OptimizerParams, SequenceScores, Trainer, TrainSequence } from '../core/engine'
import { type DpoOptions, type DpoPairLoss, dpoMetrics, dpoPairLoss, learningRateFactor } from '../rl'
import { DpoReference, type PairReference } from './dpo-reference'
import { assertFinite, assertNotStopped, nonFinite } from './guard'
import { optimizerStep } from './update'

/** Two answers to one prompt; each is the prompt with its answer, mask 1 on the answer's tokens. */
export interface DpoPair {
  chosen: TrainSequence
  rejected: TrainSequence
}

export interface DpoTrainOptions extends OptimizerParams, DpoOptions {
  engine: Trainer
  /** Optimizer steps. */
  max_steps: number
  lr_scheduler_type: LrSchedulerType
  warmup_steps: number
  /** Everything that goes into optimizer step `step` (0 = first). */
  batch: (step: number) => readonly DpoPair[] | Promise<readonly DpoPair[]>
  /** Already scored, where there is no frozen copy of the weights; else the adapter is frozen here. */
  reference?: DpoReference
  onStep?: (record: DpoRecord) => void
  /** Aborting throws 'stopped' before the next optimizer step. */
  signal?: AbortSignal
}

export interface DpoRecord {
  /** Counts from 1. */
  step: number
  /** TRL's: loss, rewards/*, logps/*, logits/*, grad_norm, learning_rate, entropy, mean_token_accuracy (of the chosen answers). */
  metrics: Record<string, number | null>
}

/**
 * Trains for `max_steps` optimizer steps and returns the last one's record. The reference is the adapter as it is at the start, frozen;
 * for a fresh LoRA that is the base model, so the first loss is ln 2.
 *
 * @throws PlaygroundError 'non-finite' (that step is not applied) or 'stopped'; RangeError when a batch has no pair
 */
export async function trainDpo(options: DpoTrainOptions): Promise<DpoRecord> {
  if (!options.reference) options.engine.freezeReference()
  const reference = options.reference ?? new DpoReference(options.engine, 'reference')
  let last: DpoRecord | null = null
  for (let step = 0; step < options.max_steps; step++) {
    last = await dpoStep(options, reference, await options.batch(step), step)
    options.onStep?.(last)
  }
  if (!last) throw new RangeError('max_steps must be at least 1')
  return last
}

/**
 * Both answers of a pair are needed for either's derivative, and a micro-batch may hold only one: so all are scored first, and the
 * derivatives, which are one number an answer, are known before the backward pass.
 */
async function dpoStep(options: DpoTrainOptions, reference: DpoReference, pairs: readonly DpoPair[], step: number): Promise<DpoRecord> {
  const { engine } = options
  if (pairs.length === 0) throw new RangeError(`the batch of step ${step + 1} has no pair`)
  const learning_rate = options.learning_rate * learningRateFactor(options.lr_scheduler_type, step, options.warmup_steps, options.max_steps)
  const answers = [...pairs.map(({ chosen }) => chosen), ...pairs.map(({ rejected }) => rejected)]
  try {
    const before = await reference.of(pairs)
    const now = await engine.score(answers, { temperature: 1 })
    const at = (i: number) => (now[i] as SequenceScores).logprobs
    const found = pairs.map(({ chosen, rejected }, i): DpoPairLoss => {
      const [c, r] = [i, pairs.length + i]
      const ref = before[i] as PairReference
      for (const [place, { mask }, frozen] of [[c, chosen, ref.chosen], [r, rejected, ref.rejected]] as const) {
        assertFinite(at(place), mask, `The log-probability of answer ${place + 1} in step ${step + 1}`, learning_rate)
        assertFinite(frozen, mask, `The reference's log-probability of answer ${place + 1} in step ${step + 1}`, learning_rate)
      }
      return dpoPairLoss(
        { mask: chosen.mask, refLogprobs: ref.chosen },
        { mask: rejected.mask, refLogprobs: ref.rejected },
        { chosen: at(c), rejected: at(r) },
        pairs.length,
        options,
      )
    })
    const metrics = dpoMetrics(found)
    if (!Number.isFinite(metrics['loss'])) throw nonFinite(`The loss of step ${step + 1} (${metrics['loss']})`, learning_rate)
    await engine.accumulate(answers, { temperature: 1 }, (indices) =>
      indices.map((index) => {
        const pair = found[index % pairs.length] as DpoPairLoss
        const each = index < pairs.length ? pair.dChosen : pair.dRejected
        return { dLogprobs: Float64Array.from((answers[index] as TrainSequence).mask, (m) => (m === 1 ? each : 0)) }
      }),
    )
    assertNotStopped(options.signal)
    const grad_norm = await optimizerStep(engine, { ...options, learning_rate })
    return { step: step + 1, metrics: { ...metrics, ...tokenMetrics(answers, now, pairs.length), grad_norm, learning_rate } }
  } catch (error) {
    engine.zeroGradients()
    throw error
  }
}

/** Token means: the entropy of all answers, how often the chosen ones are the greedy choice, and of each side the logits over the whole vocabulary. */
function tokenMetrics(answers: readonly TrainSequence[], scores: readonly SequenceScores[], pairs: number): Record<string, number | null> {
  let [entropy, right] = [0, 0]
  const tokens = { chosen: 0, rejected: 0 }
  const logits = { chosen: 0, rejected: 0 }
  answers.forEach(({ ids, mask }, i) => {
    const { entropies, argmax, meanLogits } = scores[i] as SequenceScores
    const side = i < pairs ? 'chosen' : 'rejected'
    ids.forEach((id, t) => {
      if (mask[t] !== 1) return
      entropy += entropies[t] as number
      logits[side] += meanLogits?.[t] ?? NaN
      tokens[side]++
      if (side === 'chosen' && argmax[t] === id) right++
    })
  })
  const over = (sum: number, n: number): number | null => (n === 0 || Number.isNaN(sum) ? null : sum / n)
  return {
    entropy: over(entropy, tokens.chosen + tokens.rejected),
    mean_token_accuracy: over(right, tokens.chosen),
    'logits/chosen': over(logits.chosen, tokens.chosen),
    'logits/rejected': over(logits.rejected, tokens.rejected),
  }
}
