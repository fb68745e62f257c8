/** Fetches a part of the program when it is first wanted, and says it in a sentence where it cannot be had: a new version, a lost connection. */

import { PlaygroundError } from './errors'

/** What `load` imports, tried anew at each call. Throws PlaygroundError('engine') where the site does not give it. */
export async function latePart<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    const advice = 'Check the connection and try again. If it happens again, reload the page: its site may have a new version.'
    throw new PlaygroundError('engine', 'A part of the page could not be fetched from its site.', advice, { cause })
  }
}
