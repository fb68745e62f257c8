/** A recording as the episode that it is: what was said, what was called, what was rewarded, read as in a live session. */

import type { Observation } from '../../core/environment'
import { PlaygroundError } from '../../core/errors'
import type { ToolCall } from '../../core/tools'
import { isRecord } from '../../core/records'
import type { Entry } from './catalogue'
import { readJson } from './json'
import { parseServerFrame, type ObservationFrame } from './protocol'
import { readObservation, readRefusal, wordsOf } from './reading'
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

/** The call that the action of a step frame was made from; the action itself, as a call of `step`, where no tool of the entry makes it. */
export function callOf(entry: Pick<Entry, 'tools'>, action: Readonly<Record<string, unknown>>): ToolCall {
  const { type, tool_name, arguments: given } = action
  if (type === 'call_tool' && typeof tool_name === 'string') return { name: tool_name, arguments: isRecord(given) ? given : {} }
  for (const { tool, fields } of entry.tools) {
    const made: Record<string, unknown> = {}
    const fits = Object.entries(fields).every(([name, from]) => {
      const value = action[name]
      if (from.kind === 'constant') return value === from.value
      if (from.kind === 'text') return false
      // An argument that the model left out is left out of the action.
      if (value === undefined) return !(tool.function.parameters.required ?? []).includes(from.from)
      const word = Object.entries(from.choices ?? {}).find(([, sent]) => sent === value)?.[0]
      if (from.choices !== undefined && word === undefined) return false
      made[from.from] = word ?? value
      return true
    })
    if (fits && Object.keys(action).every((name) => Object.hasOwn(fields, name))) return { name: tool.function.name, arguments: made }
  }
  return { name: 'step', arguments: { ...action } }
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
      const observation = reply.kind === 'observation' ? read(reply, wordsOf(asked.data)) : readRefusal(reply)
      turns.push({ call: callOf(entry, asked.data), observation, ms: ms - asked.ms })
    }
    asked = null
  }
  if (first === null) throw new PlaygroundError('environment', 'The recording holds no episode: no reset was answered.', 'Load the page again.')
  const rewards = turns.map(({ observation: { reward } }) => reward)
  return { first, turns, reward: sumUp(entry.reward, rewards), done: (turns.at(-1)?.observation ?? first).done }
}
