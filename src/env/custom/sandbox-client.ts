/** Calls functions in the sandbox over a port: from the engine's worker while training, from the page at the bench. */

import type { PageFunction } from '../../core/environment-spec'
import { describeError, PlaygroundError } from '../../core/errors'
import type { Metrics } from '../../core/events'
import type { CustomReward } from '../../core/reward-funcs'
import { liveWorker, type Asked, type LiveAnswer, type LiveWorker } from './live-client'
import type { LiveRole } from './live-source'
import { codeFailure } from './code-error'
import { workerSource } from './sandbox-source'

/** Seconds that a function has for one step's completions. */
export const REWARD_SECONDS = 10

/** What a rollout function wants of the engine. */
interface Ask {
  handle: number
  ask: number
  what: string
  args: unknown[]
}

interface Answer {
  id: number
  rewards?: unknown
  metrics?: Record<string, number[]>
  logs?: string[]
  error?: string
  stack?: string
  line?: number
  timedOut?: true
  refused?: true
  stopped?: true
}

/** What a call gave. */
export interface CustomResult {
  rewards: (number | null)[]
  /** What it logged with log_metric: means, and of how many values each is. */
  metrics: Metrics
  counts?: Record<string, number>
  /** What it wrote with console.log. */
  logs: string[]
  /** Completions that it gave NaN: TRL's word for no opinion, and mostly a mistake. Absent for none. */
  nan?: number
}

export interface CallOptions {
  /** REWARD_SECONDS where absent; waiting for the network counts. */
  seconds?: number
  /** Ends the call, with the requests that it has open: it rejects with 'stopped'. */
  signal?: AbortSignal
}

export interface SandboxClient {
  /** Rejects with PlaygroundError: 'config' where the code was not allowed or failed, with the line; 'stopped'. */
  call(func: Pick<CustomReward, 'called' | 'code'>, args: Record<string, unknown> & { completions: readonly unknown[] }, options?: CallOptions): Promise<CustomResult>
  /** A worker of its own that lives until it is ended; `onAsk` answers what a rollout function asks. */
  live(role: LiveRole, func: PageFunction, onAsk?: Asked): LiveWorker
  close(): void
}

/** The client's end of a port that the sandbox page serves. */
export function sandboxClient(port: MessagePort): SandboxClient {
  const waiting = new Map<number, (answer: Answer & LiveAnswer) => void>()
  const asked = new Map<number, Asked>()
  let last = 0
  let handles = 0
  port.onmessage = ({ data }: MessageEvent<(Answer & LiveAnswer) | Ask>) => {
    if ('ask' in data) {
      const reply = (answer: object) => port.postMessage({ handle: data.handle, answer: data.ask, ...answer })
      const answered = asked.get(data.handle)?.(data.what, data.args) ?? Promise.reject(new Error('Nobody answers here.'))
      answered.then((value) => reply({ value }), (error: unknown) => reply({ failed: describeError(error) }))
      return
    }
    waiting.get(data.id)?.(data)
    waiting.delete(data.id)
  }
  return {
    call: async (func, args, { seconds = REWARD_SECONDS, signal } = {}) => {
      const id = ++last
      const stop = (): void => port.postMessage({ id, stop: true })
      const answer = await new Promise<Answer>((resolve) => {
        waiting.set(id, resolve)
        port.postMessage({ id, source: workerSource(func.called, func.code), args, seconds })
        if (signal?.aborted) stop()
        signal?.addEventListener('abort', stop)
      })
      signal?.removeEventListener('abort', stop)
      return readAnswer(func.called, signal?.aborted ? { id, stopped: true } : answer, args.completions.length, seconds)
    },
    live: (role, func, onAsk) => {
      const handle = ++handles
      if (onAsk) asked.set(handle, onAsk)
      return liveWorker(role, func, {
        ask: (message) =>
          new Promise((resolve) => {
            const id = ++last
            waiting.set(id, resolve)
            port.postMessage({ id, handle, ...message })
          }),
        end: () => {
          asked.delete(handle)
          port.postMessage({ handle, end: true })
        },
      })
    },
    close: () => port.close(),
  }
}

/** What the sandbox answered, as rewards or as the error that a person can mend. */
export function readAnswer(called: string, answer: Answer, completions: number, seconds: number): CustomResult {
  const mend = 'Mend it under reward_funcs in the settings and try it on completions there.'
  if (answer.stopped) throw new PlaygroundError('stopped', 'The run was stopped.')
  if (answer.refused) throw new PlaygroundError('config', `The reward function ${called} was not allowed to run.`, 'Read its code under reward_funcs in the settings and allow it.')
  if (answer.timedOut) throw new PlaygroundError('config', `The reward function ${called} took longer than ${seconds} s and was ended.`, mend)
  if (answer.error !== undefined) throw new PlaygroundError('config', codeFailure(`The reward function ${called}`, answer), mend)
  const { rewards } = answer
  if (!Array.isArray(rewards)) throw new PlaygroundError('config', `The reward function ${called} returned ${describe(rewards)} instead of a list of numbers.`, mend)
  if (rewards.length !== completions) throw new PlaygroundError('config', `The reward function ${called} returned ${rewards.length} rewards for ${completions} completions.`, mend)
  const logged = Object.entries(answer.metrics ?? {})
  const metrics = Object.fromEntries(logged.map(([name, values]) => [name, values.reduce((a, b) => a + b, 0) / values.length]))
  const counts = Object.fromEntries(logged.map(([name, { length }]) => [name, length]))
  const nan = rewards.filter((reward) => Number.isNaN(reward)).length
  return { rewards: rewards.map((reward, i) => readReward(called, reward, i)), metrics, counts, logs: answer.logs ?? [], ...(nan > 0 && { nan }) }
}

function readReward(called: string, reward: unknown, i: number): number | null {
  // NaN is TRL's word for no opinion.
  if (reward === null || reward === undefined || Number.isNaN(reward)) return null
  if (typeof reward === 'boolean') return Number(reward)
  if (typeof reward === 'number' && Number.isFinite(reward)) return reward
  throw new PlaygroundError('config', `The reward function ${called} gave completion ${i + 1} ${describe(reward)}, which is no number.`, 'Return a finite number, or null for no opinion.')
}

const describe = (value: unknown): string => (value === undefined ? 'nothing' : typeof value === 'number' ? String(value) : written(value)).slice(0, 60)

/** JSON, where that can be: of a BigInt, or of an object that holds itself, it cannot. */
function written(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  try {
    return JSON.stringify(value) ?? 'something else'
  } catch {
    return 'an object'
  }
}
