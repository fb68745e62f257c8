/** The loop that trains: it begins, goes on to an end or by one grain, pauses and is ended; it says each of its states. */

import { PlaygroundError } from '../core/errors'
import type { RunState, TrainEvent } from '../core/events'
import type { PauseGate } from '../core/sleep'
import type { Doing } from './examine'
import { Gate } from './gate'
import type { Grain } from './protocol'

/** How far it is to go: to the run's limit, or by one press of Step. */
export type Until = Extract<RunState, { state: 'running' }>['until']

export const UNTIL: Readonly<Record<Grain, Until>> = { token: 'one-token', episode: 'one-episode', step: 'one-step' }

/** What is trained, one GRPO step at a time. */
export interface Trained {
  /** Finished steps. */
  stepNumber(): number
  /** Why there is no further step, if there is none. */
  over(): Extract<RunState, { state: 'finished' }> | null
  /** One whole step, with all that keeps it. */
  step(gate: PauseGate, signal: AbortSignal): Promise<void>
  /** After a failure in a step: the state in which the run is then. */
  recover(error: unknown): Promise<RunState>
}

export class TrainingLoop {
  private running: Promise<void> | null = null
  private stop: AbortController | null = null
  private until: Until = 'limit'
  /** It rests at the gate, or at the step's end, whichever comes first. */
  private resting = false
  /** The grain that it rests after; null where a person paused it. */
  private at: 'token' | 'episode' | null = null
  private readonly gate = new Gate(() => this.tell({ state: 'paused', step: this.trained.stepNumber(), ...(this.at && { at: this.at }) }))

  constructor(
    private readonly trained: Trained,
    private readonly tell: (state: RunState) => void,
  ) {}

  /** A step has begun and not ended; it may be paused in its middle. */
  get busy(): boolean {
    return this.running !== null
  }

  /** A person, or the grain, has paused it, or is about to. */
  get paused(): boolean {
    return this.resting
  }

  /** What the engine can be asked beside it depends on this. */
  get doing(): Doing {
    if (!this.busy) return 'nothing'
    return this.gate.holds ? 'held' : 'working'
  }

  /** Begins, or goes on where it stands. */
  start(until: Until): void {
    this.until = until
    this.resting = false
    this.at = null
    this.tell({ state: 'running', until })
    this.gate.open()
    if (this.running) return
    this.stop = new AbortController()
    this.running = this.train(this.stop.signal)
      .catch((error: unknown) => (error instanceof PlaygroundError && error.kind === 'stopped' ? null : this.trained.recover(error)))
      .then((state) => {
        // First gone, then said so: who hears it may start the next one.
        this.running = null
        if (state) this.tell(state)
      })
  }

  pause(): void {
    if (!this.running || this.resting) return
    this.resting = true
    this.tell({ state: 'pausing' })
    this.gate.close()
  }

  /** Ends it, whatever it is doing; the step that runs is dropped. */
  async halt(): Promise<void> {
    this.stop?.abort()
    this.gate.open()
    await this.running
    this.stop = null
    this.resting = false
  }

  /** At most so many tokens a second in each slot; null: as fast as it goes. */
  pace(tokensPerSecond: number | null): void {
    this.gate.pace(tokensPerSecond === null || tokensPerSecond <= 0 ? 0 : 1000 / tokensPerSecond)
  }

  /** Every event of the step that runs comes by here, before the page hears it: each grain ends with one. */
  hear(event: TrainEvent): void {
    if (this.stop?.signal.aborted !== false) return
    if (event.type === 'tokens' && event.tokens[0]?.author === 'model') {
      this.gate.tick()
      if (this.until === 'one-token') this.rest('token')
    }
    if (event.type === 'episode-finished' && this.until === 'one-episode') this.rest('episode')
  }

  /** Trains until something ends it; returns the state that the run is in then. */
  private async train(signal: AbortSignal): Promise<RunState> {
    for (;;) {
      const over = this.trained.over()
      if (over) return over
      await this.trained.step(this.gate.pass, signal)
      // A press of Step never goes beyond the step's end, whatever its grain.
      if (!this.trained.over() && (this.until !== 'limit' || this.resting)) return { state: 'paused', step: this.trained.stepNumber() }
    }
  }

  /** The tick goes to its end: one press advances every episode that is being written. */
  private rest(at: 'token' | 'episode'): void {
    this.resting = true
    this.at = at
    this.gate.close()
  }
}
