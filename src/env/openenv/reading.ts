/** One observation frame as an Observation: text for the model, scene for people, reward by the environment's rule. */

import type { DiscoveredEnvironment } from '../../core/discovered'
import type { Observation } from '../../core/environment'
import { isRecord } from '../../core/records'
import type { Entry } from './catalogue'
import { observationScene, observationText, withoutPictures } from './observe'
import { describeFieldErrors, type ErrorFrame, type ObservationFrame } from './protocol'
import { rewardOf, rubricOf } from './rewards'

export interface ReadingOptions {
  found: Pick<DiscoveredEnvironment, 'reward' | 'quirks'>
  /** null where the catalogue does not know the environment. */
  entry: Pick<Entry, 'text' | 'scene'> | null
  /** What the episode's last reading handed on; '' at its reset. */
  seen: string
  /** The text after reset; '' at the reset itself. */
  start: string
  /** The words that the answered action held; none at the reset. */
  said: readonly string[]
}

/** The words of an action, as a server may repeat them. */
export function wordsOf(action: unknown): string[] {
  if (typeof action === 'string') return [action]
  if (Array.isArray(action)) return action.flatMap(wordsOf)
  return isRecord(action) ? Object.values(action).flatMap(wordsOf) : []
}

/** A refused call, as the model reads it: the episode goes on, nothing was rewarded. */
export function toolError(text: string): Observation {
  return { text, reward: null, done: false, metadata: {}, toolError: true }
}

/** The server's refusal of a call. */
export const readRefusal = (frame: ErrorFrame): Observation => toolError(`Error: ${describeFieldErrors(frame)}`)

/** The observation, and what the episode's next reading is to be given as `seen`. Throws what an entry's own reader throws. */
export function readObservation(sent: ObservationFrame, { found, entry, seen: before, start, said }: ReadingOptions) {
  const { frame, images } = withoutPictures(sent)
  const { text: plain, toolError, seen } = observationText(frame, before)
  const text = entry?.text?.(frame) ?? plain
  const scene = entry?.scene?.(frame, text, start || text) ?? observationScene(frame, images)
  const reward = rewardOf(found, frame, text, said)
  const rubric = rubricOf(frame)
  const observation: Observation = { text, reward, ...(rubric !== null && { rubric }), done: frame.done, metadata: frame.metadata, toolError, scene }
  return { observation: images.length > 0 ? { ...observation, images } : observation, seen }
}
