/** Waiting out an environment that went away: sample again, with growing pauses, until most episodes can be scored. */

import type { Episode } from '../core/episode'
import type { TrainEvent } from '../core/events'
import { PlaygroundError } from '../core/errors'
import { assertNotStopped } from './guard'

/** Pauses between attempts: 1, 2, 4, … seconds, at most this. */
const LONGEST_WAIT_SECONDS = 30

export interface OutageOptions {
  step: number
  environment: string
  onEvent: (event: TrainEvent) => void
  /** Resolves after so many seconds, or sooner when the signal aborts. */
  wait: (seconds: number, signal?: AbortSignal) => Promise<void>
  signal?: AbortSignal
}

/**
 * Episodes of one step, of which at least half can be scored, in index order. While more than half are unscorable and the
 * environment failed in any of them, the attempt is thrown away, said so, and repeated after a pause for as long as it
 * takes; the same keys draw the same episodes, so an outage leaves no trace in the run's numbers.
 *
 * @throws PlaygroundError 'stopped', or 'environment' when the environment works but gave no episode a reward
 */
export async function sampleThroughOutages(attempt: () => Promise<Episode[]>, options: OutageOptions): Promise<Episode[]> {
  const { step, onEvent, signal } = options
  for (let tries = 0; ; tries++) {
    assertNotStopped(signal)
    const episodes = (await attempt()).toSorted((a, b) => a.index - b.index)
    assertNotStopped(signal)
    const unscorable = episodes.filter((episode) => episode.reward === null)
    const failed = unscorable.filter((episode) => episode.exit === 'env_error')
    const count = `${unscorable.length} of ${episodes.length} episodes of step ${step}`

    if (unscorable.length * 2 > episodes.length && failed.length > 0) {
      const seconds = Math.min(LONGEST_WAIT_SECONDS, 2 ** tries)
      const text = `${count} could not be scored (${reason(failed)}). No update is made; the step is tried again in ${seconds} s.`
      onEvent({ type: 'notice', level: 'warning', text })
      await options.wait(seconds, signal)
      continue
    }
    if (episodes.length > 0 && unscorable.length === episodes.length) {
      // Nothing failed, so a repetition would end the same way.
      throw new PlaygroundError(
        'environment',
        `The environment "${options.environment}" gave none of the ${episodes.length} episodes of step ${step} a reward.`,
        'Let its step() return a reward, or change the prompts so that the model calls a tool.',
      )
    }
    if (unscorable.length > 0) {
      const text = `${count} could not be scored (${reason(unscorable)}) and are left out of the update.`
      onEvent({ type: 'notice', level: 'warning', text })
    }
    return episodes
  }
}

function reason(episodes: readonly Episode[]): string {
  return (episodes.find((episode) => episode.error !== null)?.error ?? 'the environment gave no reward').replace(/\.$/, '')
}

/** The real clock's `wait`. */
export function waitSeconds(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, seconds * 1000)
    signal?.addEventListener('abort', end)
  })
}
