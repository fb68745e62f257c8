/** One episode on one OpenEnv session: calls become actions, replies become observations, failures become errors. */

import type { DiscoveredEnvironment, Quirk, RewardRule } from '../../core/discovered'
import type { EnvironmentSession, Observation, ResetOptions } from '../../core/environment'
import { PlaygroundError, UnreadableReplyError } from '../../core/errors'
import { uniform } from '../../core/random'
import type { ToolCall } from '../../core/tools'
import { entryOf, type Entry } from './catalogue'
import { throwBackendFault, throwFailedReset, throwForeignFields } from './faults'
import type { ErrorFrame, ObservationFrame } from './protocol'
import { readObservation, readRefusal, toolError, wordsOf } from './reading'
import { sumUp } from './rewards'
import { said } from './said'
import { type Reply, type SessionSocket, UPDATE_SERVER, withArticle } from './socket'
import { planCall } from './typed-tools'

export interface SessionOptions {
  host: string
  found: DiscoveredEnvironment
  resetMs: number
  stepMs: number
  /** Called once, when the socket has been closed. */
  onClosed: () => void
}

/** Codes that say that the request itself is at fault: it would be refused again. */
const OF_THE_REQUEST = ['VALIDATION_ERROR', 'INVALID_JSON', 'UNKNOWN_TYPE']

/** Why an error frame that answers a request ends the episode. */
function fatal(host: string, asked: string, frame: ErrorFrame): PlaygroundError {
  const why = frame.message ? `: ${said(frame.message)}` : ''
  if (frame.code === 'EXECUTION_ERROR') {
    return new PlaygroundError(
      'environment',
      `The environment at ${host} failed during ${asked}${why}.`,
      'Look at the log of the environment.',
      { recurrence: 'lasting' },
    )
  }
  if (frame.code === 'SESSION_ERROR' && asked === 'step') {
    return new PlaygroundError(
      'environment',
      `${host} ended the session over an action that it could not handle${why}.`,
      'The next episode opens a new session.',
      { recurrence: 'lasting' },
    )
  }
  const recurrence = OF_THE_REQUEST.includes(frame.code) ? ({ recurrence: 'lasting' } as const) : {}
  return new PlaygroundError(
    'environment',
    `${host} answered to ${asked} with ${frame.code}${why}.`,
    'The next episode opens a new session.',
    recurrence,
  )
}

export class OpenEnvSession implements EnvironmentSession {
  private seen = ''
  private start = ''
  private seed = 0
  /** Moves that we made for the opponent. */
  private replies = 0
  private phase: 'fresh' | 'running' | 'over' | 'failed' = 'fresh'
  private closing: Promise<void> | null = null
  private readonly entry: Entry | null

  constructor(
    private readonly socket: SessionSocket,
    private readonly options: SessionOptions,
  ) {
    this.entry = entryOf(options.found.entry)
  }

  /** Starts an episode; seed and episode_id travel along, whether they are honoured is the environment's affair. */
  async reset({ seed, episode_id }: ResetOptions): Promise<Observation> {
    this.seen = ''
    this.start = ''
    this.seed = seed
    this.replies = 0
    const { found, resetMs } = this.options
    const reply = await this.ask({ type: 'reset', data: { ...found.resetData, seed, episode_id } }, resetMs)
    if (reply.kind !== 'observation') return this.fail('reset', reply)
    try {
      throwFailedReset(this.options.host, reply)
    } catch (error) {
      return this.lose(error)
    }
    this.phase = reply.done ? 'over' : 'running'
    const observation = this.observe(reply, null)
    if (observation.text === '') observation.text = await this.taskInState()
    this.start = observation.text
    return observation
  }

  /**
   * One call. Calls that do not fit, the server's VALIDATION_ERROR and a tool's own failure come back as text with `toolError`.
   * Rejects when the environment raised, the session ended or the deadline passed, and before reset or after done.
   */
  async step(call: ToolCall): Promise<Observation> {
    const { found, host } = this.options
    if (this.phase !== 'running') {
      const when = { fresh: 'before reset', over: 'after the episode was done', failed: 'after the session had failed' }[this.phase]
      throw new PlaygroundError('environment', `A step was asked of ${host} ${when}.`, 'Reset first.')
    }
    const plan = planCall(found, call)
    if (plan.kind === 'refused') return { ...toolError(plan.text), refused: true }
    const first = await this.act(plan.action)
    this.check(first)
    if (first.kind === 'error') return readRefusal(first)
    const played = [this.observe(first, plan.action)]
    for (let tick = 0; plan.then !== null && tick < plan.then.times && !played.at(-1)?.done; tick++) {
      played.push(this.observe(await this.mustAct(plan.then.action), plan.then.action))
    }
    const opponent = this.quirk('no-opponent')
    const last = played.at(-1) as Observation
    const reply = opponent === undefined || last.done ? null : await this.opponentMoves(opponent, first)
    if (reply !== null) played.push(reply)
    const observation = joined(played, found.reward)
    if (observation.done) this.phase = 'over'
    return observation
  }

  /** Ends the session, and throws, when the answer to a call is a failure that is not the model's. */
  private check(reply: ErrorFrame | ObservationFrame): void {
    try {
      if (reply.kind === 'error') throwForeignFields(this.options.host, reply)
      else throwBackendFault(this.options.host, reply, this.options.found.entry)
    } catch (error) {
      return this.lose(error)
    }
  }

  /** The server's state. Rejects when it tells none; the episode goes on then. */
  async readState(): Promise<Record<string, unknown>> {
    const { host, stepMs } = this.options
    const reply = await this.socket.request({ type: 'state' }, stepMs)
    if (reply.kind === 'state') return reply.state
    const why = reply.kind === 'error' ? reply.message || reply.code : `it answered with ${withArticle(reply.kind)}`
    throw new PlaygroundError('environment', `${host} told no state: ${why}.`)
  }

  /** Rejects, after a moment at most, when a frame came that nobody had asked for: answers may have been read as those of other calls. */
  settle(): Promise<void> {
    return this.socket.settle()
  }

  /** Says goodbye and frees the server's slot; never rejects. */
  close(): Promise<void> {
    this.closing ??= this.socket.close().finally(this.options.onClosed)
    return this.closing
  }

  private quirk<K extends Quirk['kind']>(kind: K): Extract<Quirk, { kind: K }> | undefined {
    return this.options.found.quirks.find((each): each is Extract<Quirk, { kind: K }> => each.kind === kind)
  }

  private async ask(request: Parameters<SessionSocket['request']>[0], deadlineMs: number): Promise<Reply> {
    try {
      return await this.socket.request(request, deadlineMs)
    } catch (error) {
      return this.lose(error)
    }
  }

  /** One step on the server; a refusal of the action is an answer, too. */
  private async act(action: Record<string, unknown>): Promise<ObservationFrame | ErrorFrame> {
    const reply = await this.ask({ type: 'step', data: action }, this.options.stepMs)
    if (reply.kind === 'observation' || (reply.kind === 'error' && reply.code === 'VALIDATION_ERROR')) return reply
    return this.fail('step', reply)
  }

  /** A step of our own making, which the server must accept. */
  private async mustAct(action: Record<string, unknown>): Promise<ObservationFrame> {
    const reply = await this.act(action)
    return reply.kind === 'observation' ? reply : this.fail('step', reply)
  }

  /** A random legal move for the other side, fixed by the seed; what it wins, the policy loses. Null where it is not the other side's turn. */
  private async opponentMoves({ field, legal, turn }: Extract<Quirk, { kind: 'no-opponent' }>, frame: ObservationFrame): Promise<Observation | null> {
    // Servers up to 0.3.1 leave metadata out; their state tells.
    const told: unknown = frame.observation[turn.field] ?? frame.metadata[turn.field] ?? (await this.readState().catch((error: unknown) => this.lose(error)))[turn.field]
    if (typeof told !== 'number') {
      return this.lose(
        new UnreadableReplyError(
          `${this.options.host} did not say whose turn it is (${turn.field}), so nobody knows whether the opponent has moved.`,
          'The environment may be of another version than the one we know.',
        ),
      )
    }
    if (told === turn.own) return null
    const moves: unknown = frame.observation[legal]
    if (!Array.isArray(moves) || moves.length === 0) {
      return this.lose(
        new UnreadableReplyError(
          `${this.options.host} did not say which moves are legal, so no move could be made for the opponent.`,
          'The environment may be of another version than the one we know.',
        ),
      )
    }
    const move: unknown = moves[Math.floor(uniform(this.seed, 0, 0, this.replies++) * moves.length)]
    const action = { [field]: move }
    const observation = this.observe(await this.mustAct(action), action)
    return { ...observation, reward: observation.reward === null ? null : -observation.reward || 0 }
  }

  /**
   * The task where an old server leaves it out of the reset observation: the named fields of the state and no others. Without its task an
   * episode is not played: whatever came of it would say nothing about the model.
   */
  private async taskInState(): Promise<string> {
    const quirk = this.quirk('task-in-state')
    if (quirk === undefined) return ''
    const reply = await this.ask({ type: 'state' }, this.options.resetMs)
    if (reply.kind === 'state') {
      const parts = quirk.fields.map((field) => reply.state[field]).filter((part) => typeof part === 'string' && part !== '')
      if (parts.length > 0) return parts.join('\n')
    }
    const { host } = this.options
    const why =
      reply.kind === 'state'
        ? `its state has none of the fields ${quirk.fields.join(', ')}`
        : reply.kind === 'error'
          ? `it answered to state with ${reply.code}${reply.message ? `: ${said(reply.message).replace(/\.$/, '')}` : ''}`
          : `it answered to state with ${withArticle(reply.kind)}`
    const lasting = reply.kind === 'state' || (reply.kind === 'error' && reply.code === 'EXECUTION_ERROR')
    return this.lose(
      new PlaygroundError(
        'environment',
        `${host} gave no task: reset said nothing, and ${why}.`,
        'No episode is played without its task: look at the log of the environment.',
        lasting ? { recurrence: 'lasting' } : {},
      ),
    )
  }

  private fail(asked: string, reply: Reply): never {
    const { host } = this.options
    const error = reply.kind === 'error' ? fatal(host, asked, reply) : new PlaygroundError('environment', `${host} answered to ${asked} with ${withArticle(reply.kind)}.`, UPDATE_SERVER)
    return this.lose(error)
  }

  /** The episode is over, and nobody knows how it would have ended: closes the session and throws. */
  private lose(error: unknown): never {
    this.phase = 'failed'
    void this.close()
    throw error
  }

  /** What a frame says. Throws UnreadableReplyError when our own reading of it fails: that is no verdict of the environment. */
  private observe(sent: ObservationFrame, action: Record<string, unknown> | null): Observation {
    const { found, host } = this.options
    try {
      const { observation, seen } = readObservation(sent, { found, entry: this.entry, seen: this.seen, start: this.start, said: wordsOf(action) })
      this.seen = seen
      return observation
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      return this.lose(
        new UnreadableReplyError(`An observation of ${host} could not be read: ${why}.`, 'The next episode opens a new session.', { cause }),
      )
    }
  }
}

/** Several steps of one call as one: the last one's text and scene, the rewards by the environment's rule. */
function joined(played: readonly Observation[], { floor: _, ...rule }: RewardRule): Observation {
  const last = played.at(-1) as Observation
  // The floor is the whole episode's.
  const reward = sumUp(rule, played.map((observation) => observation.reward))
  return { ...last, reward, toolError: played[0]?.toolError ?? false }
}
