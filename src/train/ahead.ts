/**
 * One step off-policy (max_staleness 1): while a batch is trained on, the next one is sampled with the weights as they are, and the optimizer
 * step waits for both. So a batch is exactly one update behind when its turn comes, no copy of the weights is needed, and nothing that is
 * computed depends on how the two took turns.
 */

import type { GrpoConfig } from '../core/config'
import type { Sampler } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import type { PauseGate } from '../core/sleep'
import { byStart, TRAINER, type TimelineSpan, type TrainingPart } from '../core/timeline'
import { Lanes } from '../rollout/lanes'
import { type Batch, drawBatch } from './batch'
import type { GrpoTrainerOptions } from './grpo'
import type { Wait } from './outage'
import type { Stopwatch } from './stopwatch'
import { EngineTurns, inTurns } from './turns'
import { type PolicyUpdate, updatePolicy, type UpdateRequest } from './update'

/** A batch that is to be trained on, and how its sampling went. */
export interface Sampled {
  batch: Batch
  /** Seconds of it in which nothing was trained. */
  seconds: number
  /** Seconds from the first to the last episode, whatever went on beside. */
  played: number
  /** From the beginning of its sampling until it could be trained on, and how long that was, ms; empty and 0 where it is still being written. */
  timeline: TimelineSpan[]
  length: number
}

export interface Trained {
  update: PolicyUpdate
  /** Seconds of computing. */
  seconds: number
  /** The next step's batch; null where there is none. */
  next: Sampled | null
}

export interface AheadOptions {
  watch: Stopwatch
  /** Watched by it. */
  gate: PauseGate
  signal?: AbortSignal
  wait: Wait
}

/** Throws PlaygroundError('config') where the engine cannot hold a rollout's episodes while it trains. */
export function assertBeside({ scoringEmptiesSlots }: Pick<Sampler, 'scoringEmptiesSlots'>, { max_staleness }: Pick<GrpoConfig, 'max_staleness'>): void {
  if (max_staleness === 0 || !scoringEmptiesSlots) return
  throw new PlaygroundError(
    'config',
    'max_staleness 1 samples while it trains, and on this GPU the memory of the sampled episodes is lent to training, since it is large.',
    'Set max_staleness to 0, or take fewer num_generations × prompts_per_step or a smaller max_completion_length, then load again.',
  )
}

/**
 * Trains on a step's batch and draws the next one meanwhile. An environment that cannot be used ends the drawing alone, which a notice says:
 * the next step tries again, and fails for itself. What was drawn of a batch that will not be trained on is told by 'step-dropped'.
 *
 * @throws PlaygroundError 'stopped' when the signal aborts before the optimizer step, which is then not applied, and what the engine throws
 */
export async function trainAndSample(options: GrpoTrainerOptions, step: number, request: Omit<UpdateRequest, 'engine' | 'onPart'>, { watch, gate, signal, wait }: AheadOptions): Promise<Trained> {
  const began = watch.read()
  const clock = (): number => (watch.read() - began) * 1000
  const tell = (spans: TimelineSpan[]): void => options.onEvent({ type: 'timeline', step: step + 1, spans })
  const ofUpdate = (spans: readonly TimelineSpan[]): TimelineSpan[] => spans.map((span) => ({ ...span, step }))
  const slots = new Lanes(clock, tell)
  const trainer = new Lanes(clock, (spans) => tell(ofUpdate(spans)))
  const pause = (): Promise<void> => {
    slots.report()
    trainer.report()
    return gate()
  }

  let seconds = 0
  let doing: [part: TrainingPart, iteration: number] = ['gradient', 0]
  const compute = async <T>(work: () => Promise<T>): Promise<T> => {
    const from = watch.read()
    trainer.begin(TRAINER, 'training', -1, doing[1], trainer.now(), doing[0])
    try {
      return await work()
    } finally {
      trainer.end(TRAINER)
      seconds += watch.read() - from
    }
  }

  const turns = new EngineTurns()
  const stop = new AbortController()
  const drop = (): void => options.onEvent({ type: 'step-dropped', step: step + 1 })
  const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
  let played = 0
  const drawing = drawBatch(options, step + 1, { lanes: slots, gate: turns.quiet(pause), signal: either, rest: turns.rest, wait })
    .then((batch) => ({ batch, error: null }), (error: unknown) => {
      if (isOfEnvironment(error)) options.onEvent({ type: 'notice', level: 'warning', text: whyNotAhead(error) })
      drop()
      return { batch: null, error }
    })
    .finally(() => {
      played = watch.read() - began
      turns.end()
    })
  const sampled = async (): Promise<void> => {
    const { batch, error } = await drawing
    if (!batch && !isOfEnvironment(error)) throw error
  }
  try {
    const engine = inTurns(options.engine, turns, { gate: pause, ...(signal && { signal }), sampled, compute })
    const update = await updatePolicy({ ...request, engine, onPart: (...now) => (doing = now) })
    const { batch } = await drawing
    const all = watch.read() - began
    const timeline = byStart([...slots.finish(), ...ofUpdate(trainer.finish())])
    return { update, seconds, next: batch && { batch, seconds: all - seconds, played, timeline, length: all * 1000 } }
  } catch (error) {
    stop.abort()
    if ((await drawing).batch) drop()
    throw error
  }
}

/** Names no step but the one that the failure names: notices that differ in one step are counted as equal. */
const whyNotAhead = ({ message }: PlaygroundError): string =>
  `The next batch could not be sampled ahead: ${message.replace(/\.$/, '')}. The update goes on without it, and the next step tries again.`

const isOfEnvironment = (error: unknown): error is PlaygroundError => error instanceof PlaygroundError && (error.kind === 'environment' || error.kind === 'config')
