/** Raw frames as a person may see them: what may hold the answer is hidden while the episode is played, as in the view of the state. */

import { HIDDEN, withoutSecrets, type DiscoveredEnvironment } from '../core/discovered'
import { isRecord } from '../core/records'
import { cutText } from '../core/text'
import { readJson } from '../env/openenv/json'
import type { PlayFrame } from './protocol'

/** Characters of a frame that the page gets. */
const MAX_FRAME = 100_000
/** Fields of every state, which hide nothing. */
const HARMLESS = ['episode_id', 'step_count']

/** A frame for the page. `found`: null until the server was discovered; `over`: the episode has ended, so nothing is hidden any more. */
export function frameOf(
  { direction, text, time }: { direction: PlayFrame['direction']; text: string; time: number },
  { found, over }: { found: DiscoveredEnvironment | null; over: boolean },
): PlayFrame {
  const bytes = new TextEncoder().encode(text).length
  const shown = over || direction === 'sent' ? null : redacted(text, found)
  if (shown === null) return { direction, text: cutText(text, MAX_FRAME), bytes, time }
  return { direction, text: cutText(shown, MAX_FRAME), bytes, time, hidden: true }
}

/** The frame without what may hold the answer; null where it holds nothing of the kind, or ends the episode. */
function redacted(text: string, found: DiscoveredEnvironment | null): string | null {
  // Most frames hold none of it, and some are large.
  const suspect = found === null ? text.includes('"state"') : secretsOf(found).some((name) => text.includes(JSON.stringify(name)))
  if (!suspect) return null
  const json = readJson(text)
  if (!json.ok) return HIDDEN
  const frame = json.value
  const data = isRecord(frame) ? frame['data'] : undefined
  if (!isRecord(frame) || !isRecord(data) || isDone(data)) return null
  // Before it is known which environment it is, every field may be the answer.
  if (found === null) return frame['type'] === 'state' ? JSON.stringify({ ...frame, data: allHidden(data) }) : null
  const clean = withoutSecrets(found, data)
  return JSON.stringify(clean) === JSON.stringify(data) ? null : JSON.stringify({ ...frame, data: clean })
}

const secretsOf = ({ quirks }: DiscoveredEnvironment): string[] => quirks.flatMap((quirk) => (quirk.kind === 'state-secret' ? [...quirk.fields] : []))

/** Whether an observation's data says so, beside the observation or, as home-made servers do, in it. */
function isDone(data: Record<string, unknown>): boolean {
  const { observation } = data
  return (data['done'] ?? (isRecord(observation) ? observation['done'] : undefined)) === true
}

const allHidden = (state: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(state).map(([key, value]) => [key, HARMLESS.includes(key) ? value : HIDDEN]))
