/** A server's address as a short name. */

import { parseServerUrl } from '../env/openenv/url'

/** The server as one would call it: a Space by owner/name, else by its host. The text itself where it is no address. */
export function nameServer(text: string): string {
  try {
    const { spaceId, host } = parseServerUrl(text)
    return spaceId ?? host
  } catch {
    return text
  }
}
