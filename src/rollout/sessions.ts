/** Environment sessions of one rollout: how many are open at once, how an episode begins, and how a turn's calls are made. */

import type { Environment, EnvironmentSession, Observation, ResetOptions } from '../core/environment'
import type { Turn } from '../core/episode'
import { PlaygroundError, UnreadableReplyError, describeError, isLasting } from '../core/errors'
import { sleep } from '../core/sleep'
import { checkToolCall } from '../core/tool-schema'
import type { Tool, ToolCall } from '../core/tools'
import { errorResult, type ParsedCall } from './tool-calls'

/** Why an episode is lost. */
export interface Failure {
  /** A sentence. */
  error: string
  /** The environment would fail in the same way again. */
  lasting: boolean
  /** It answered, and we could not read the answer. */
  unreadable?: true
}

/** What an error of an environment means for the episode. */
export function failureOf(error: unknown): Failure {
  const unreadable = error instanceof UnreadableReplyError ? ({ unreadable: true } as const) : {}
  return { error: describeError(error), lasting: isLasting(error), ...unreadable }
}

/** What a session says when its episode has ended. */
export interface Settled {
  failure: Failure | null
  /** Its judgement of the whole episode; absent where it gives none. */
  reward?: number | null
}

/** Whether there is nothing to ask before an episode is scored. */
export const isSettled = ({ settle, finalReward }: EnvironmentSession): boolean => settle === undefined && finalReward === undefined

/** Asks a session whether its answers can be trusted, and for its judgement of the episode. Never rejects. */
export async function settle(session: EnvironmentSession): Promise<Settled> {
  try {
    await session.settle?.()
    return { failure: null, ...(session.finalReward && { reward: await session.finalReward() }) }
  } catch (error) {
    return { failure: failureOf(error) }
  }
}

export type Begun =
  | { kind: 'begun'; session: EnvironmentSession; observation: Observation }
  | ({ kind: 'failed' } & Failure)
  /** The server turned out to hold fewer sessions; try again when one is free. */
  | { kind: 'full' }

/** Tries to reach an environment again before an episode is given up; an episode that has begun is never moved to another session. */
const RECONNECTS = 3
/** First pause before such a try; doubles, with jitter, so that many pages do not come back at the same moment. */
const RECONNECT_MS = 250

/** Opens at most `maxSessions` sessions at a time, in the order in which it is asked. */
export class SessionGate {
  private readonly over = new AbortController()
  private inUse = 0
  private readonly open = new Set<EnvironmentSession>()
  private readonly closing: Promise<void>[] = []

  /** `ahead`: most sessions to hold even where the environment allows more. */
  constructor(
    private readonly environment: Environment,
    private readonly ahead: number,
    /** Called whenever a session has become free. */
    private readonly onFree: () => void,
    private readonly reconnectMs = RECONNECT_MS,
  ) {}

  get hasRoom(): boolean {
    // A server that says "none" is asked once more by one episode, whose failure then tells why.
    return this.inUse < Math.max(1, Math.min(this.environment.maxSessions, this.ahead))
  }

  /** Opens and resets a session; takes room until `end`, or until it fails. Never rejects. */
  async begin(options: ResetOptions): Promise<Begun> {
    this.inUse++
    let session: EnvironmentSession | null = null
    try {
      session = await this.connect()
      this.open.add(session)
      const observation = await session.reset(options)
      if (observation.done) {
        const advice = 'Check what the environment does with this seed.'
        const message = `${this.environment.name} was already done after reset.`
        throw new PlaygroundError('environment', message, advice, { recurrence: 'lasting' })
      }
      return { kind: 'begun', session, observation }
    } catch (error) {
      const crowded = this.inUse > Math.max(1, this.environment.maxSessions)
      if (session) this.end(session)
      else this.free()
      return crowded ? { kind: 'full' } : { kind: 'failed', ...failureOf(error) }
    }
  }

  /** A session, after some patience with a connection that breaks before the episode begins. */
  private async connect(): Promise<EnvironmentSession> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.environment.open()
      } catch (error) {
        const passing = error instanceof PlaygroundError && error.recurrence === 'passing'
        if (!passing || tries >= RECONNECTS || this.over.signal.aborted) throw error
        await sleep(this.reconnectMs * 2 ** tries * (0.5 + Math.random()), this.over.signal)
      }
    }
  }

  /** Closes a session; its room is free once it is closed. */
  end(session: EnvironmentSession): void {
    if (!this.open.delete(session)) return
    const freed = (): void => this.free()
    this.closing.push(session.close().then(freed, freed))
  }

  /** Closes every session that is still open and waits until all are closed. */
  async endAll(): Promise<void> {
    this.over.abort()
    for (const session of [...this.open]) this.end(session)
    await Promise.all(this.closing)
  }

  private free(): void {
    this.inUse--
    this.onFree()
  }
}

/** What a turn's calls brought. */
export interface TurnOutcome {
  calls: Turn['calls']
  /** One for each call of the turn, for the model to read: results and error sentences. */
  results: { name: string; content: string }[]
  /** Whether the environment said done; later calls of the turn are then not made. */
  done: boolean
  scene?: unknown
  /** Set when the environment failed: the episode is unscorable. */
  failure: Failure | null
}

/** Told about each call that reaches the environment. */
export interface TurnListener {
  waiting(): void
  answered(observation: Observation, ms: number): void
}

/**
 * Makes a turn's calls one after the other. Calls that are malformed or do not fit their tool's schema are answered here and
 * never reach the environment. Never rejects.
 */
export async function playTurn(
  session: EnvironmentSession,
  parsed: readonly ParsedCall[],
  tools: readonly Tool[],
  listener: TurnListener,
): Promise<TurnOutcome> {
  const outcome: TurnOutcome = { calls: [], results: [], done: false, failure: null }
  for (const item of parsed) {
    if (item.kind === 'malformed') {
      outcome.results.push({ name: 'error', content: errorResult(item.error) })
      continue
    }
    let refusal: string | null
    try {
      refusal = checkToolCall(item.call, tools)
    } catch {
      outcome.failure = { error: `The schema of the tool ${item.call.name} cannot be read.`, lasting: true }
      return outcome
    }
    if (refusal !== null) {
      record(outcome, item.call, { text: errorResult(refusal), reward: null, done: false, toolError: true }, null)
      continue
    }
    listener.waiting()
    const from = performance.now()
    let observation: Observation
    try {
      observation = await session.step(item.call)
    } catch (error) {
      outcome.failure = failureOf(error)
      return outcome
    }
    const ms = performance.now() - from
    listener.answered(observation, ms)
    record(outcome, item.call, observation, observation.refused ? null : ms)
    if (observation.scene !== undefined) outcome.scene = observation.scene
    if (observation.done) {
      outcome.done = true
      return outcome
    }
  }
  return outcome
}

function record(
  outcome: TurnOutcome,
  call: ToolCall,
  { text, reward, rubric, done, toolError }: Pick<Observation, 'text' | 'reward' | 'rubric' | 'done' | 'toolError'>,
  /** null for a call that never reached the environment. */
  ms: number | null,
): void {
  const time = ms === null ? ({ ms: 0, refused: true } as const) : { ms }
  outcome.calls.push({ call, result: text, reward, ...(rubric !== undefined && { rubric }), done, error: toolError, ...time })
  outcome.results.push({ name: call.name, content: text })
}
