/** The caller's end of a worker that lives on in the sandbox: sends calls, and tells what became of them. */

import type { PageFunction } from '../../core/environment-spec'
import type { CodeError } from './code-error'
import { liveSource, type LiveRole } from './live-source'

/** Seconds that one call of a person's code may compute. */
export const CALL_SECONDS = 10

/** Answers what the code asks of the engine. */
export type Asked = (what: string, args: readonly unknown[]) => Promise<unknown>

/** What came back of a call. At most one of error, timedOut, lost and refused is set. */
export interface LiveAnswer extends CodeError {
  id: number
  /** Which worker answered: after a time-out there is another. */
  life?: number
  text?: string
  reward?: number | null
  done?: boolean
  value?: unknown
  logs?: string[]
  /** The error is one of the contract with the page, not one that the code has thrown. */
  contract?: boolean
  timedOut?: true
  /** The worker was ended because of another call, or before. */
  lost?: true
  /** Nobody has allowed this code. */
  refused?: true
}

export interface LiveWorker {
  /** `life`: only in this worker, the one in which the instance lives; absent: in any, which is started where there is none. */
  call(message: Record<string, unknown>, life?: number): Promise<LiveAnswer>
  end(): void
}

interface Channel {
  ask(message: object): Promise<LiveAnswer>
  end(): void
}

/** A worker for one class or function; nothing is started before the first call. */
export function liveWorker(role: LiveRole, { called, code }: PageFunction, channel: Channel, seconds = CALL_SECONDS): LiveWorker {
  const source = liveSource(role, called, code)
  return {
    call: (message, life) => channel.ask({ source, seconds, message, ...(life === undefined ? {} : { life }) }),
    end: () => channel.end(),
  }
}
