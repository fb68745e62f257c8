/** A recording as the episode that it is: what was said, what was called, what was rewarded, read as in a live session. */

import type { Observation } from '../../core/environment'
import { PlaygroundError } from '../../core/errors'
import type { ToolCall } from '../../core/tools'
import { isRecord } from '../../core/records'
import type { Entry } from './catalogue'
import { readJson } from './json'
import { parseServerFrame, type ObservationFrame } from './protocol'
import { readObservation, readRefusal, wordsOf } from './reading'
import { callOf, toolOf } from './recorded-call'
import type { Recording } from './recording'
import { sumUp } from './rewards'

export interface RecordedTurn {
  call: ToolCall
  observation: Observation
  /** Milliseconds from the call to its answer. */
  ms: number
}

export interface RecordedEpisode {
  /** What the environment said after reset. */
  first: Observation
  turns: readonly RecordedTurn[]
  /** By the environment's rule; null where none was given. */
  reward: number | null
  done: boolean
}

/** Steps that belong to the last turn: ticks after a call, or the move that our client made for the other side. */
type Following = { kind: 'ticks'; action: string; left: number } | { kind: 'opponent' } | null

/** What follows a call's own step in the same turn, as the live session does it. */
function following(entry: Entry, action: Readonly<Record<string, unknown>>): Following {
  if (entry.quirks.some(({ kind }) => kind === 'no-opponent')) return { kind: 'opponent' }
  const then = toolOf(entry, action)?.tool.then
  return then === undefined ? null : { kind: 'ticks', action: JSON.stringify(then.action), left: then.times }
}

/** Throws PlaygroundError('environment') when the recording holds no reset that was answered by an observation. */
export function recordedEpisode({ frames }: Recording, entry: Entry): RecordedEpisode {
  let first: Observation | null = null
  let seen = ''
  const turns: RecordedTurn[] = []
  const read = (frame: ObservationFrame, said: readonly string[] = []): Observation => {
    const reading = readObservation(frame, { found: entry, entry, seen, start: first?.text ?? '', said })
    seen = reading.seen
    return reading.observation
  }
  let asked: { type: unknown; data: Readonly<Record<string, unknown>>; ms: number } | null = null
  let next: Following = null
  const { floor: _, ...rule } = entry.reward
  const step = (action: Readonly<Record<string, unknown>>, observation: Observation, ms: number) => {
    const last = turns.at(-1)
    const goesOn = last !== undefined && !last.observation.done
    if (goesOn && (next?.kind === 'opponent' || (next?.kind === 'ticks' && next.action === JSON.stringify(action)))) {
      const reward = next.kind === 'opponent' && observation.reward !== null ? -observation.reward || 0 : observation.reward
      const both = { ...observation, reward: sumUp(rule, [last.observation.reward, reward]), toolError: last.observation.toolError }
      turns[turns.length - 1] = { ...last, observation: both, ms: last.ms + ms }
      next = next.kind === 'ticks' && next.left > 1 ? { ...next, left: next.left - 1 } : null
      return
    }
    turns.push({ call: callOf(entry, action), observation, ms })
    next = observation.toolError ? null : following(entry, action)
  }
  for (const { dir, ms, text } of frames) {
    if (dir === 'sent') {
      const json = readJson(text)
      const frame = json.ok && isRecord(json.value) ? json.value : {}
      asked = { type: frame['type'], data: isRecord(frame['data']) ? frame['data'] : {}, ms }
      continue
    }
    const reply = parseServerFrame(text)
    if (asked?.type === 'reset' && reply.kind === 'observation') first = read(reply)
    if (asked?.type === 'step' && first !== null && (reply.kind === 'observation' || reply.kind === 'error')) {
      step(asked.data, reply.kind === 'observation' ? read(reply, wordsOf(asked.data)) : readRefusal(reply), ms - asked.ms)
    }
    asked = null
  }
  if (first === null) throw new PlaygroundError('environment', 'The recording holds no episode: no reset was answered.', 'Load the page again.')
  const rewards = turns.map(({ observation: { reward } }) => reward)
  return { first, turns, reward: sumUp(entry.reward, rewards), done: (turns.at(-1)?.observation ?? first).done }
}
