/** Reads JSON as Python servers write it (bare NaN and infinities), and refuses what could be read in two ways or overflow a stack. */

import { cutText } from '../../core/text'

/** Deeper than any environment nests; code that walks the value may be recursive. */
const MAX_DEPTH = 100
/** Objects down to this depth hold what counts: type, data, reward, done and the observation's own reward. */
const KEYED_DEPTH = 3

export type JsonReading = { ok: true; value: unknown } | { ok: false; why: string }

const QUOTE = 0x22
const COLON = 0x3a

/** Position after the string that begins at `from`, or -1 when it is never closed. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text[at - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return at + 1
  }
  return -1
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** Whether the string that ended before `at` is a key. */
function isKey(text: string, at: number): boolean {
  let next = at
  while (isSpace(text.charCodeAt(next))) next++
  return text.charCodeAt(next) === COLON
}

/** A key without its escapes; the text itself where it is malformed (JSON.parse refuses it later). */
function plainKey(quoted: string): string {
  if (!quoted.includes('\\')) return quoted
  try {
    return JSON.stringify(JSON.parse(quoted))
  } catch {
    return quoted
  }
}

/** Half a sentence, or the text with bare NaN and infinities as null. One pass, linear in the text. */
function scan(text: string): { why: string } | { plain: string } {
  const pieces: string[] = []
  let copied = 0
  let depth = 0
  const keys: Set<string>[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfString(text, at)
      if (end < 0) return { why: 'it is not JSON' }
      const seen = depth <= KEYED_DEPTH ? keys[depth] : undefined
      if (seen && isKey(text, end)) {
        const key = plainKey(text.slice(at, end))
        if (seen.has(key)) return { why: `it holds ${cutText(key, 50)} twice` }
        seen.add(key)
      }
      at = end - 1
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > MAX_DEPTH) return { why: `it nests deeper than ${MAX_DEPTH} levels` }
      if (depth <= KEYED_DEPTH) keys[depth] = new Set()
    } else if (code === 0x7d || code === 0x5d) {
      depth--
    } else if (code === 0x4e || code === 0x49) {
      const word = code === 0x4e ? 'NaN' : 'Infinity'
      if (!text.startsWith(word, at)) return { why: 'it is not JSON' }
      const from = code === 0x49 && text[at - 1] === '-' ? at - 1 : at
      pieces.push(text.slice(copied, from), 'null')
      copied = at + word.length
      at = copied - 1
    }
  }
  return { plain: copied === 0 ? text : pieces.join('') + text.slice(copied) }
}

/**
 * Reads one text. NaN, Infinity and -Infinity become null. Refuses what is not JSON, nests deeper than 100 levels, or names the same key
 * twice in one of the outer objects. Never throws.
 */
export function readJson(text: string): JsonReading {
  const scanned = scan(text)
  if ('why' in scanned) return { ok: false, why: scanned.why }
  try {
    return { ok: true, value: JSON.parse(scanned.plain) as unknown }
  } catch {
    return { ok: false, why: 'it is not JSON' }
  }
}
