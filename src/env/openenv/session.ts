/** One episode on one OpenEnv session: calls become actions, replies become observations, failures become errors. */

import type { EnvironmentSession, Observation, ResetOptions } from '../../core/environment'
import { PlaygroundError } from '../../core/errors'
import type { ToolCall } from '../../core/tools'
import { refusal } from './catalogue'
import type { Family } from './discovery'
import { observationScene, observationText } from './observe'
import { describeFieldErrors, type ErrorFrame, type ObservationFrame } from './protocol'
import type { Reply, SessionSocket } from './socket'

export interface SessionOptions {
  host: string
  family: Family
  resetMs: number
  stepMs: number
  /** Called once, when the socket has been closed. */
  onClosed: () => void
}

/** A refused call: the episode goes on, nothing was rewarded. */
function toolError(text: string): Observation {
  return { text, reward: null, done: false, metadata: {}, toolError: true }
}

/** Why an error frame ends the episode. */
function fatal(host: string, asked: string, frame: ErrorFrame): PlaygroundError {
  const said = frame.message ? `: ${frame.message}` : ''
  if (frame.code === 'EXECUTION_ERROR') {
    return new PlaygroundError(
      'environment',
      `The environment at ${host} failed during ${asked}${said}.`,
      'Look at the log of the environment.',
    )
  }
  if (frame.code === 'SESSION_ERROR' && asked === 'step') {
    return new PlaygroundError(
      'environment',
      `${host} ended the session over an action that it could not handle${said}.`,
      'The next episode opens a new session.',
    )
  }
  return new PlaygroundError(
    'environment',
    `${host} answered to ${asked} with ${frame.code}${said}.`,
    'The next episode opens a new session.',
  )
}

export class OpenEnvSession implements EnvironmentSession {
  private seen = ''
  private start = ''
  private phase: 'fresh' | 'running' | 'over' | 'failed' = 'fresh'
  private closing: Promise<void> | null = null

  constructor(
    private readonly socket: SessionSocket,
    private readonly options: SessionOptions,
  ) {}

  /** Starts an episode; seed and episode_id travel along, whether they are honoured is the environment's affair. */
  async reset({ seed, episode_id }: ResetOptions): Promise<Observation> {
    this.seen = ''
    const reply = await this.ask('reset', { seed, episode_id }, this.options.resetMs)
    if (reply.kind !== 'observation') return this.fail('reset', reply)
    this.phase = reply.done ? 'over' : 'running'
    const observation = this.observe(reply)
    this.start = observation.text
    return { ...observation, scene: this.scene(reply, observation.text) }
  }

  /**
   * One call. Calls that do not fit, the server's VALIDATION_ERROR and a tool's own failure come back as text with `toolError`.
   * Rejects when the environment raised, the session ended or the deadline passed, and before reset or after done.
   */
  async step(call: ToolCall): Promise<Observation> {
    const { family, host, stepMs } = this.options
    if (this.phase !== 'running') {
      const when = { fresh: 'before reset', over: 'after the episode was done', failed: 'after the session had failed' }[this.phase]
      throw new PlaygroundError('environment', `A step was asked of ${host} ${when}.`, 'Reset first.')
    }
    const wrong = family.kind === 'typed' ? refusal(family.known.tool, call) : null
    if (wrong !== null) return toolError(wrong)
    const action =
      family.kind === 'typed' ? family.known.toAction(call) : { type: 'call_tool', tool_name: call.name, arguments: call.arguments }
    const reply = await this.ask('step', action, stepMs)
    if (reply.kind !== 'observation') {
      if (reply.kind === 'error' && reply.code === 'VALIDATION_ERROR') return toolError(`Error: ${describeFieldErrors(reply)}`)
      return this.fail('step', reply)
    }
    if (reply.done) this.phase = 'over'
    const observation = this.observe(reply)
    return { ...observation, scene: this.scene(reply, observation.text) }
  }

  /** The server's state. Rejects when it tells none; the episode goes on then. */
  async readState(): Promise<Record<string, unknown>> {
    const { host, stepMs } = this.options
    const reply = await this.socket.request({ type: 'state' }, stepMs)
    if (reply.kind === 'state') return reply.state
    const why = reply.kind === 'error' ? reply.message || reply.code : `it answered with a ${reply.kind}`
    throw new PlaygroundError('environment', `${host} told no state: ${why}.`)
  }

  /** Says goodbye and frees the server's slot; never rejects. */
  close(): Promise<void> {
    this.closing ??= this.socket.close().finally(this.options.onClosed)
    return this.closing
  }

  private async ask(type: 'reset' | 'step', data: Record<string, unknown>, deadlineMs: number): Promise<Reply> {
    try {
      return await this.socket.request({ type, data }, deadlineMs)
    } catch (error) {
      this.phase = 'failed'
      void this.close()
      throw error
    }
  }

  private fail(asked: string, reply: Reply): never {
    this.phase = 'failed'
    void this.close()
    if (reply.kind === 'error') throw fatal(this.options.host, asked, reply)
    throw new PlaygroundError('environment', `${this.options.host} answered to ${asked} with a ${reply.kind}.`)
  }

  private observe(frame: ObservationFrame): Observation {
    const { family } = this.options
    const { text, toolError, seen } = observationText(frame, this.seen)
    this.seen = seen
    const better = family.kind === 'typed' ? (family.known.text?.(frame) ?? null) : null
    return { text: better ?? text, reward: frame.reward, done: frame.done, metadata: frame.metadata, toolError }
  }

  private scene(frame: ObservationFrame, text: string): unknown {
    const { family } = this.options
    const known = family.kind === 'typed' ? (family.known.scene?.(text, this.start) ?? null) : null
    return known ?? observationScene(frame)
  }
}
