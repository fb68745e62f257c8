/** Reads the address of an OpenEnv server as a person pastes it, and says what was understood. */

import { describeError } from '../core/errors'
import { parseServerUrl, spaceSubdomain } from '../env/openenv/url'
import type { Read } from './settings'

/**
 * Space id or page, host, port, URL: the text trimmed and without query and fragment, which no server is found by and which may hold a
 * secret (the signature of a private Space's page, a token), as it is kept in links and exports; or why it is refused and what to paste instead. With `pageProtocol`
 * (location.protocol) also what a browser would block from such a page is refused.
 */
export function readAddress(text: string, pageProtocol?: string): Read<string> {
  try {
    parseServerUrl(text, pageProtocol)
    return { ok: true, value: text.trim().replace(/[?#].*$/s, '') }
  } catch (error) {
    return { ok: false, why: describeError(error) }
  }
}

/** What an address means: "Space openenv/echo_env → wss://openenv-echo-env.hf.space/ws"; null where it means nothing. */
export function describeAddress(text: string, pageProtocol?: string): string | null {
  try {
    const { ws, host, spaceId, loopback } = parseServerUrl(text, pageProtocol)
    const what = spaceId ? `Space ${spaceId}` : spaceSubdomain(host) ? 'Space at its host' : loopback ? 'This machine' : 'Server'
    return `${what} → ${ws}`
  } catch {
    return null
  }
}
