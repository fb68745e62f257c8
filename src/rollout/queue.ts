/** Episodes that wait for a session, where a server has fewer than the step has episodes: how many, and about how long. */

import type { Environment } from '../core/environment'
import type { TrainEvent } from '../core/events'

/** What was said about an environment last, so that a run hears it once and again only when the limit changes. */
const told = new WeakMap<Environment, number>()
/** How long an environment's episodes held their sessions on average in the last step that was measured, ms. */
const usual = new WeakMap<Environment, number>()

export class Queue {
  private readonly began = new Map<number, number>()
  private readonly durations: number[] = []
  private waiting = 0

  /** `episodes`: of the whole step. `now` in ms. */
  constructor(
    private readonly environment: Environment,
    private readonly step: number,
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

  /** So many episodes have no session because the server allows no more; told when it changes. */
  tell(waiting: number): void {
    if (waiting === this.waiting) return
    this.waiting = waiting
    const sessions = this.sessions()
    this.onEvent({ type: 'environment-queue', step: this.step, waiting, sessions, seconds: waiting === 0 ? null : this.secondsUntilAll(sessions) })
  }

  /** An episode has let go of its session; the first one tells how long the others will take. `waiting`: those without a session. */
  end(index: number, waiting: number): void {
    const from = this.began.get(index)
    if (from === undefined) return
    this.began.delete(index)
    this.durations.push(this.now() - from)
    usual.set(this.environment, mean(this.durations))
    const sessions = this.sessions()
    if (waiting === 0 || sessions >= this.episodes || told.get(this.environment) === sessions) return
    told.set(this.environment, sessions)
    const left = secondsLeft(this.durations, waiting + this.began.size, sessions)
    const many = sessions === 1 ? 'one session' : `${sessions} sessions at once`
    const text = `${this.environment.name} allows ${many}, so the ${this.episodes} episodes of a step take turns: about ${left} s more for this step.`
    this.onEvent({ type: 'notice', level: 'info', text })
  }

  private sessions(): number {
    return Math.max(1, this.environment.maxSessions)
  }

  /** Until the last one that waits has a session; null before any episode was measured. */
  private secondsUntilAll(sessions: number): number | null {
    const each = this.durations.length > 0 ? mean(this.durations) : usual.get(this.environment)
    if (each === undefined) return null
    const now = this.now()
    const spent = mean([...this.began.values()].map((from) => Math.min(each, now - from)))
    return Math.max(1, Math.round((Math.ceil(this.waiting / sessions) * each - spent) / 1000))
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

/** Whole seconds, at least 1, that so many episodes take over so many sessions if they last as long as the finished ones did (ms). */
export function secondsLeft(durations: readonly number[], episodes: number, sessions: number): number {
  return Math.max(1, Math.round((Math.ceil(episodes / sessions) * mean(durations)) / 1000))
}
