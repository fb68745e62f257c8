/** Waiting out an environment that went away: sample again, with growing pauses, until most episodes can be scored. */

import type { Environment } from '../core/environment'
import type { Episode } from '../core/episode'
import type { TrainEvent } from '../core/events'
import { PlaygroundError } from '../core/errors'
import { sleep, waitThroughGate } from '../core/sleep'
import { assertNotStopped } from './guard'
import { nobodySaid, unjudged, unrewarded } from './unjudged'

/** Pauses between attempts: up to 1, 2, 4, … seconds, at most this; at least half of it, so that many pages do not come back at once. */
const LONGEST_WAIT_SECONDS = 30
/** So many attempts that the environment itself failed in exactly the same way are no outage. */
const MOST_ALIKE = 4

export interface OutageOptions {
  step: number
  environment: Pick<Environment, 'name' | 'unrewarded' | 'members'>
  /** Whether it may end without any reward though nothing failed: never (absent), where reward functions had no opinion, or whoever judges. */
  mayLack?: 'none' | 'opinions' | 'any'
  onEvent: (event: TrainEvent) => void
  wait: Wait
  /** Awaited while waiting: a paused run shows at once that it is. */
  gate?: () => Promise<void>
  signal?: AbortSignal
  /** Uniform in [0, 1), for the pauses only: no number of the run depends on it. */
  random?: () => number
}

/** Resolves after so many seconds, or sooner when the signal aborts; passes the gate every now and then. */
export type Wait = (seconds: number, signal?: AbortSignal, gate?: () => Promise<void>) => Promise<void>

/**
 * Episodes of one step, of which at least half can be scored, in index order. While more than half are unscorable and the
 * environment failed in any of them, the attempt is thrown away, said so, and repeated after a pause for as long as it
 * takes; the same keys draw the same episodes, so an outage leaves no trace in the run's numbers.
 *
 * An environment that answers, but fails in exactly the same way at every attempt, is not waited for.
 *
 * @throws PlaygroundError 'stopped', or 'environment' when the environment works but gave no episode a reward, or fails in
 * the same way four times in a row
 */
export async function sampleThroughOutages(attempt: () => Promise<Episode[]>, options: OutageOptions): Promise<Episode[]> {
  const { step, environment, onEvent, signal, gate, mayLack = 'none', random = Math.random } = options
  let alike = 0
  let before: string | null = null
  for (let tries = 0; ; tries++) {
    assertNotStopped(signal)
    const episodes = (await attempt()).toSorted((a, b) => a.index - b.index)
    assertNotStopped(signal)
    const unscorable = episodes.filter((episode) => episode.reward === null)
    const failed = unscorable.filter(({ exit }) => exit === 'env_error' || exit === 'env_unreadable')
    const count = `${unscorable.length} of ${episodes.length} episodes of step ${step}`

    if (unscorable.length * 2 > episodes.length && failed.length > 0) {
      const pattern = lastingPattern(failed)
      alike = pattern !== null && pattern === before ? alike + 1 : 1
      before = pattern
      if (pattern !== null && alike >= MOST_ALIKE) {
        throw new PlaygroundError(
          'environment',
          `The environment "${environment.name}" failed in the same way ${alike} times in a row in ${count}: ${reason(failed, environment)}.`,
          'Waiting would not help: mend the environment, the prompts or the settings, then press Train; the step is tried again.',
        )
      }
      const seconds = Math.min(LONGEST_WAIT_SECONDS, 2 ** tries) * (0.5 + random() / 2)
      const text = `${count} could not be scored (${reason(failed, environment)}). No update is made; the step is tried again in ${Math.ceil(seconds)} s.`
      onEvent({ type: 'notice', level: 'warning', text })
      onEvent({ type: 'environment-away', text: 'the environment failed', seconds })
      await options.wait(seconds, signal, gate)
      onEvent({ type: 'environment-away', text: null, seconds: null })
      continue
    }
    if (mayLack === 'none' || (mayLack === 'opinions' && !episodes.every(isJudged))) assertRewarded(episodes, options)
    if (unscorable.length > 0) {
      const text = `${count} could not be scored (${reason(unscorable, environment)}) and are left out of the update.`
      onEvent({ type: 'notice', level: 'warning', text })
    }
    return episodes
  }
}

/** Reward functions judge it, whether or not its environment does. */
const isJudged = ({ rewardless, rewards }: Episode): boolean => rewardless === true || rewards !== undefined

/** Throws PlaygroundError('environment') where nothing failed and yet none has a reward: a repetition would end the same way. */
export function assertRewarded(episodes: readonly Episode[], { step, environment }: Pick<OutageOptions, 'step' | 'environment'>): void {
  const [first] = episodes
  if (!first || episodes.some(({ reward }) => reward !== null)) return
  if (episodes.every(isJudged)) throw unjudged(episodes, `the ${episodes.length} episodes of step ${step}`)
  const why = unrewarded(first, environment)
  throw new PlaygroundError(
    'environment',
    `The environment "${environment.name}" gave none of the ${episodes.length} episodes of step ${step} a reward${why === undefined ? '' : `: ${why}`}.`,
    why === undefined ? 'Let its step() return a reward, or change the prompts so that the model calls a tool.' : 'Let get_reward() of the class return a number at every end of an episode.',
  )
}

function reason(episodes: readonly Episode[], environment: OutageOptions['environment']): string {
  const [first] = episodes
  return (episodes.find((episode) => episode.error !== null)?.error ?? (first ? nobodySaid(first, environment) : '')).replace(/\.$/, '')
}

/** What failed where, without numbers that differ from try to try; null unless all of it would come again. */
function lastingPattern(failed: readonly Episode[]): string | null {
  if (!failed.every((episode) => episode.lasting)) return null
  return failed.map((episode) => `${episode.index} ${(episode.error ?? '').replace(/0x[\da-f]+|\d+/gi, '#')}`).join('\n')
}

/** The real clock's `wait`. */
export const waitSeconds: Wait = (seconds, signal, gate) => waitThroughGate(sleep(seconds * 1000, signal), gate, signal)
