/** The supervised loop, for pretraining and for imitation: a batch, its gradient, one optimizer step, again. */

import type { LrSchedulerType } from '../core/config'
import type { OptimizerParams, SequenceScores, Trainer, TrainSequence } from '../core/engine'
import { learningRateFactor, sftLoss, sftNormalizer, sum } from '../rl'
import { assertFinite, assertNotStopped, nonFinite } from './guard'
import { optimizerStep } from './update'

/** mask is 1 on target tokens. Sequences of one task share its token mean. */
export interface SftExample extends TrainSequence {
  task?: string
}

export interface SftOptions extends OptimizerParams {
  engine: Trainer
  /** Optimizer steps. */
  max_steps: number
  lr_scheduler_type: LrSchedulerType
  warmup_steps: number
  /** Everything that goes into optimizer step `step` (0 = first). */
  batch: (step: number) => readonly SftExample[] | Promise<readonly SftExample[]>
  /** Weight of each task's token mean; 1 where not named. */
  weights?: Readonly<Record<string, number>>
  onStep?: (record: SftRecord) => void
  /** Aborting throws 'stopped' before the next optimizer step. */
  signal?: AbortSignal
}

export interface SftRecord {
  /** Counts from 1. */
  step: number
  /** Σ_task weight · token-mean NLL, nats. */
  loss: number
  /** Token-mean NLL of each task without its weight, nats. */
  taskLoss: Record<string, number>
  /** Share of target tokens that are the greedy choice (TRL's name). */
  mean_token_accuracy: number
  /** Mean over the target tokens, nats. */
  entropy: number
  grad_norm: number
  learning_rate: number
  tokens: number
}

/**
 * Trains for `max_steps` optimizer steps and returns the last one's record.
 * @throws PlaygroundError 'non-finite' (that step is not applied) or 'stopped'; RangeError when a batch has no target token
 */
export async function trainSft(options: SftOptions): Promise<SftRecord> {
  let last: SftRecord | null = null
  for (let step = 0; step < options.max_steps; step++) {
    last = await sftStep(options, await options.batch(step), step)
    options.onStep?.(last)
  }
  if (!last) throw new RangeError('max_steps must be at least 1')
  return last
}

async function sftStep(options: SftOptions, batch: readonly SftExample[], step: number): Promise<SftRecord> {
  const { engine, weights = {} } = options
  const normalizer = sftNormalizer(batch, weights)
  const learning_rate =
    options.learning_rate * learningRateFactor(options.lr_scheduler_type, step, options.warmup_steps, options.max_steps)
  const seen: { loss: number; nll: number; tokens: number; right: number; entropy: number }[] = []
  try {
    await engine.accumulate(batch, { temperature: 1 }, (indices, scores) =>
      indices.map((index, i) => {
        const example = batch[index] as SftExample
        const { logprobs, argmax, entropies } = scores[i] as SequenceScores
        assertFinite(logprobs, example.mask, `The log-probability of sequence ${index} in step ${step + 1}`, learning_rate)
        const { loss, dLogprobs } = sftLoss([example], [logprobs], normalizer)
        const targets = example.ids.map((_, t) => t).filter((t) => example.mask[t] === 1)
        seen[index] = {
          loss,
          nll: -sum(targets.map((t) => logprobs[t] as number)),
          tokens: targets.length,
          right: targets.filter((t) => argmax[t] === example.ids[t]).length,
          entropy: sum(targets.map((t) => entropies[t] as number)),
        }
        return { dLogprobs: dLogprobs[0] as Float64Array }
      }),
    )
    const tokens = sum(seen.map((one) => one.tokens))
    const loss = sum(seen.map((one) => one.loss))
    if (tokens === 0) throw new RangeError(`the batch of step ${step + 1} has no target token`)
    if (!Number.isFinite(loss)) throw nonFinite(`The loss of step ${step + 1} (${loss})`, learning_rate)
    assertNotStopped(options.signal)
    const grad_norm = await optimizerStep(engine, { ...options, learning_rate })
    const taskLoss: Record<string, number> = {}
    for (const task of normalizer.keys()) {
      const members = seen.filter((_, i) => (batch[i]?.task ?? '') === task)
      taskLoss[task] = sum(members.map((one) => one.nll)) / Math.max(1, sum(members.map((one) => one.tokens)))
    }
    const mean_token_accuracy = sum(seen.map((one) => one.right)) / tokens
    const entropy = sum(seen.map((one) => one.entropy)) / tokens
    return { step: step + 1, loss, taskLoss, mean_token_accuracy, entropy, grad_norm, learning_rate, tokens }
  } catch (error) {
    engine.zeroGradients()
    throw error
  }
}
