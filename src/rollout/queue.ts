/** Says how long a step's episodes will queue, once, when a server has fewer sessions than the step has episodes. */

import type { Environment } from '../core/environment'
import type { TrainEvent } from '../core/events'

/** What was said about an environment last, so that a run hears it once and again only when the limit changes. */
const told = new WeakMap<Environment, number>()

export class Queue {
  private readonly began = new Map<number, number>()
  private readonly durations: number[] = []

  /** `episodes`: of the whole step. `now` in ms. */
  constructor(
    private readonly environment: Environment,
    private readonly episodes: number,
    private readonly onEvent: (event: TrainEvent) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** An episode asks for a session. */
  begin(index: number): void {
    this.began.set(index, this.now())
  }

  /** An episode turned out to have none yet. */
  returned(index: number): void {
    this.began.delete(index)
  }

  /** An episode has let go of its session; the first one tells how long the others will take. `waiting`: those without a session. */
  end(index: number, waiting: number): void {
    const from = this.began.get(index)
    if (from === undefined) return
    this.began.delete(index)
    this.durations.push(this.now() - from)
    const sessions = Math.max(1, this.environment.maxSessions)
    if (waiting === 0 || sessions >= this.episodes || told.get(this.environment) === sessions) return
    told.set(this.environment, sessions)
    const left = secondsLeft(this.durations, waiting + this.began.size, sessions)
    const many = sessions === 1 ? 'one session' : `${sessions} sessions at once`
    const text = `${this.environment.name} allows ${many}, so the ${this.episodes} episodes of a step take turns: about ${left} s more for this step.`
    this.onEvent({ type: 'notice', level: 'info', text })
  }
}

/** Whole seconds, at least 1, that so many episodes take over so many sessions if they last as long as the finished ones did (ms). */
export function secondsLeft(durations: readonly number[], episodes: number, sessions: number): number {
  const mean = durations.reduce((sum, ms) => sum + ms, 0) / Math.max(1, durations.length)
  return Math.max(1, Math.round((Math.ceil(episodes / sessions) * mean) / 1000))
}
