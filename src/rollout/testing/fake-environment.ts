/** An environment whose answers, delays and failures a test decides. */

import type { Environment, EnvironmentSession, Observation, ResetOptions } from '../../core/environment'
import type { Tool, ToolCall } from '../../core/tools'

export interface FakeScript {
  /** What reset says; by default nothing. */
  reset?: (options: ResetOptions) => string | Partial<Observation>
  /** The n-th step (from 0) of an episode; throw for a failure. */
  step?: (call: ToolCall, n: number, options: ResetOptions) => Partial<Observation>
  /** What the session says of its answers before an episode is scored; throw for what cannot be trusted. */
  settle?: (options: ResetOptions | null) => Promise<void>
  /** Awaited before an answer. `index` is the episode's number as it was opened. */
  delay?: (asked: 'open' | 'reset' | 'step', options: ResetOptions | null) => Promise<void>
  episodeReward?: (rewards: readonly (number | null)[]) => number | null
  /** Sessions that the server really holds; opening more fails and lowers maxSessions. */
  capacity?: number
}

/** Index of the episode that an episode_id names. */
export function episodeIndex({ episode_id }: ResetOptions): number {
  return Number(/episode(\d+)$/.exec(episode_id)?.[1])
}

const say: Tool = {
  type: 'function',
  function: {
    name: 'say',
    description: 'Say a word.',
    parameters: { type: 'object', properties: { word: { type: 'string', description: 'the word' } }, required: ['word'] },
  },
}

export class FakeEnvironment implements Environment {
  readonly name = 'fake'
  readonly tools = [say]
  readonly prompts = { system: '', user: '' }
  opened = 0
  closed = 0
  /** Most sessions that were open at once. */
  peak = 0
  /** Calls that reached a session, in order. */
  readonly steps: { index: number; call: ToolCall }[] = []
  readonly resets: ResetOptions[] = []
  private open_ = 0

  constructor(
    private readonly script: FakeScript = {},
    public maxSessions = Infinity,
  ) {}

  connect(): Promise<void> {
    return Promise.resolve()
  }

  async open(): Promise<EnvironmentSession> {
    await this.script.delay?.('open', null)
    if (this.script.capacity !== undefined && this.open_ >= this.script.capacity) {
      this.maxSessions = this.script.capacity
      throw new Error('The server is full.')
    }
    this.opened++
    this.peak = Math.max(this.peak, ++this.open_)
    let options: ResetOptions | null = null
    let n = 0
    let open = true
    return {
      reset: async (given) => {
        options = given
        this.resets.push(given)
        await this.script.delay?.('reset', given)
        const said = this.script.reset?.(given) ?? ''
        return observation(typeof said === 'string' ? { text: said } : said)
      },
      step: async (call) => {
        if (options === null) throw new Error('step before reset')
        await this.script.delay?.('step', options)
        this.steps.push({ index: episodeIndex(options), call })
        return observation(this.script.step?.(call, n++, options) ?? {})
      },
      ...(this.script.settle ? { settle: async () => this.script.settle?.(options) } : {}),
      close: () => {
        if (open) {
          this.closed++
          this.open_--
        }
        open = false
        return Promise.resolve()
      },
    }
  }

  episodeReward(rewards: readonly (number | null)[]): number | null {
    if (this.script.episodeReward) return this.script.episodeReward(rewards)
    const given = rewards.filter((reward) => reward !== null)
    return given.length === 0 ? null : given.reduce((sum, reward) => sum + reward, 0)
  }

  isSuccess(reward: number): boolean {
    return reward >= 1
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

function observation(part: Partial<Observation>): Observation {
  return { text: 'ok', reward: null, done: false, metadata: {}, toolError: false, ...part }
}

/** A promise that a test resolves. */
export function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}
