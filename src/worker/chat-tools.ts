/** The environment's side of a chat: one session at a time, opened when a person speaks, ended when it is done or fails. */

import type { Environment, EnvironmentSession } from '../core/environment'
import { PlaygroundError } from '../core/errors'
import { hash } from '../core/random'
import { playTurn, SessionGate } from '../rollout/sessions'
import { errorResult, type ParsedCall } from '../rollout/tool-calls'

/** Keeps a chat's random numbers apart from every step's. */
export const CHAT_KEY = 0x63686174

export class ChatTools {
  private session: EnvironmentSession | null = null
  private readonly gate: SessionGate

  constructor(
    private readonly environment: Environment,
    private readonly seed: number,
  ) {
    this.gate = new SessionGate(environment, 1, () => undefined)
  }

  /** Whether a session answers calls. */
  get playing(): boolean {
    return this.session !== null
  }

  /**
   * Opens and resets a session for a conversation's n-th episode; returns what it says first. Throws
   * PlaygroundError('environment'), or 'stopped' once aborted.
   */
  async begin(conversation: number, episode: number, signal: AbortSignal): Promise<string> {
    const episode_id = `chat-seed${this.seed}-conversation${conversation}-episode${episode}`
    // A server of one session has room only when the last one is closed.
    await orStopped(this.endAll(), signal)
    const beginning = this.gate.begin({ seed: hash(this.seed, CHAT_KEY, conversation, episode) >>> 1, episode_id, split: 'heldout' })
    const begun = await orStopped(beginning, signal).catch((error: unknown) => {
      void beginning.then((late) => {
        if (late.kind === 'begun') this.gate.end(late.session)
      })
      throw error
    })
    if (begun.kind !== 'begun') {
      const why = begun.kind === 'failed' ? begun.error : 'It has no free session.'
      throw new PlaygroundError('environment', `The environment did not begin: ${why}`, 'Try again, or leave the tools out.')
    }
    this.session = begun.session
    return begun.observation.text
  }

  /**
   * What the model reads after its calls, at least one result. A failure is a result too; after one, and when the environment
   * is done, the session ends. Throws 'stopped' once aborted. Needs `playing`.
   */
  async call(calls: readonly ParsedCall[], signal: AbortSignal): Promise<{ name: string; content: string }[]> {
    if (!this.session) throw new Error('call without a session')
    const listener = { waiting: () => undefined, answered: () => undefined }
    const outcome = await orStopped(playTurn(this.session, calls, this.environment.tools, listener), signal).catch((error: unknown) => {
      // Nobody will read what the call brings.
      this.end()
      throw error
    })
    if (outcome.failure !== null || outcome.done) this.end()
    return outcome.failure === null ? outcome.results : [...outcome.results, { name: 'error', content: errorResult(outcome.failure.error) }]
  }

  /** Ends the session, if there is one. */
  end(): void {
    if (this.session) this.gate.end(this.session)
    this.session = null
  }

  /** The same, and waits until it is closed. */
  async endAll(): Promise<void> {
    this.end()
    await this.gate.endAll()
  }
}

function stopped(): PlaygroundError {
  return new PlaygroundError('stopped', 'Stopped by hand.')
}

/** Throws PlaygroundError('stopped') once the signal is aborted. */
export function throwIfStopped(signal: AbortSignal): void {
  if (signal.aborted) throw stopped()
}

/** The promise, or a rejection as soon as a person presses Stop. */
async function orStopped<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  throwIfStopped(signal)
  let onAbort = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(stopped())
    signal.addEventListener('abort', onAbort)
  })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', onAbort))
}
