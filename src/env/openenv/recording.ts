/** A recorded sample episode: the frames of one session as they went over the wire, for a look without a server. */

import { z } from 'zod/mini'
import { PlaygroundError } from '../../core/errors'

const recording = z.object({
  format: z.literal('openenv-recording'),
  version: z.literal(1),
  /** Id in the catalogue. */
  entry: z.string(),
  /** What answered: one sentence, with the library's version. */
  server: z.string(),
  /** Who played: one sentence. */
  player: z.string(),
  /** ISO date. */
  recorded: z.string(),
  /** From the hello to the farewell; `ms` since the socket opened. */
  frames: z.array(z.object({ dir: z.enum(['sent', 'received']), ms: z.number(), text: z.string() })).check(z.minLength(1)),
})
export type Recording = z.infer<typeof recording>

/** Reads a recording's JSON text. Throws PlaygroundError('environment') when it is none of ours. */
export function parseRecording(text: string): Recording {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new PlaygroundError('environment', 'The recording is not JSON.', 'Load the page again.', { cause })
  }
  const read = recording.safeParse(value)
  if (read.success) return read.data
  const where = read.error.issues[0]?.path.join('.') ?? ''
  throw new PlaygroundError(
    'environment',
    `The recording cannot be read: its ${where || 'form'} is not what this page knows.`,
    'Load the page again.',
  )
}
