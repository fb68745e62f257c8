/** Evaluations that a run makes itself while it is trained (TRL's eval_strategy): between its steps, and without a trace in it. */

import type { RunConfig } from '../core/config'
import { type EvaluationRecord, isEvaluated, type RunEvaluation, runEvaluations } from '../core/evaluation'
import { describeError, PlaygroundError } from '../core/errors'
import type { TrainEvent } from '../core/events'
import type { PauseGate } from '../core/sleep'
import { evaluate } from '../train/evaluate'
import type { RunSetup } from './setup'

/** What is measured: a loaded run. */
export interface Evaluated extends RunSetup {
  config: RunConfig
  trainer: { readonly stepNumber: number }
}

export class Evaluating {
  /** Finished steps after which the run was evaluated, or could not be. */
  private readonly settled = new Set<number>()

  constructor(
    private readonly onEvent: (event: TrainEvent) => void,
    /** Keeps the figures with the run. */
    private readonly keep: (records: readonly EvaluationRecord[]) => Promise<void>,
    /** Seconds from any origin; tests replace the clock. */
    private readonly now: () => number = () => performance.now() / 1000,
  ) {}

  /** A run is loaded that stands after `step` and has these; what came after that step is played again with it. */
  know(records: readonly EvaluationRecord[], step: number): void {
    this.settled.clear()
    for (const record of runEvaluations(records, step)) this.settled.add(record.step)
  }

  /** Whether the run, as it stands, is still to be evaluated. `last`: no further step comes. */
  isDue({ config, trainer: { stepNumber } }: Evaluated, last: boolean): boolean {
    return isEvaluated(config.grpo, stepNumber, last) && !this.settled.has(stepNumber)
  }

  /**
   * Evaluates the run if that is due. An environment that fails is told of and ends nothing.
   *
   * @param gate awaited between decode ticks: a pause is a promise that does not resolve yet
   * @throws PlaygroundError 'stopped' when the signal aborts (the evaluation is then still due), and what sampling throws
   */
  async catchUp(run: Evaluated, last: boolean, gate: PauseGate, signal: AbortSignal): Promise<void> {
    if (!this.isDue(run, last)) return
    const step = run.trainer.stepNumber
    let records: RunEvaluation[] = []
    try {
      records = [await this.measure(run, step, gate, signal)]
    } catch (error) {
      if (!(error instanceof PlaygroundError) || error.kind !== 'environment') throw error
      const when = step === 0 ? 'before the first step' : `after step ${step}`
      this.onEvent({ type: 'notice', level: 'warning', text: `The evaluation ${when} has no result, and the run goes on without it. ${describeError(error)}` })
    }
    this.settled.add(step)
    this.onEvent({ type: 'evaluated', records })
    if (records.length > 0) await this.keep(records)
  }

  /** A step that `train` makes, with the evaluations that are due before it and after it; only those where the run is over. */
  async around(train: () => Promise<void>, run: Evaluated, isOver: () => boolean, gate: PauseGate, signal: AbortSignal): Promise<void> {
    await this.catchUp(run, isOver(), gate, signal)
    if (isOver()) return
    await train()
    await this.catchUp(run, isOver(), gate, signal)
  }

  private async measure(run: Evaluated, step: number, gate: PauseGate, signal: AbortSignal): Promise<RunEvaluation> {
    const { eval_episodes: episodes, eval_greedy: greedy } = run.config.grpo
    const split = run.environment.heldOut ? 'heldout' : 'train'
    const began = this.now()
    const onEvent = (event: TrainEvent): void => this.onEvent(event.type === 'evaluation' ? { ...event, step } : event)
    const { metrics, reward, success, unscorable, episodes: played } = await evaluate({ ...run, split, episodes, greedy, step, onEvent, gate, signal })
    const scorable = played - unscorable
    return {
      step,
      split,
      solved: Math.round(success * scorable),
      scorable,
      reward,
      precision: run.config.precision,
      ...(greedy && { greedy: true as const }),
      metrics: { ...metrics, eval_runtime: this.now() - began },
    }
  }
}
