/** A small, deterministic trainer for byte-level byte-pair encoding. */

/** Qwen's pre-tokeniser: a word with the sign before it, single digits, signs, line ends, blanks. */
export const PRE_TOKEN_PATTERN =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

/** The same pattern as JavaScript reads it on Node 20, which has no inline (?i:...). */
const PRE_TOKENS = new RegExp(
  PRE_TOKEN_PATTERN.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)", "'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])"),
  'gu',
)

/**
 * GPT-2's printable stand-in for every byte: printable Latin-1 characters stand for themselves, the others are moved
 * up from code point 256 in order.
 */
export const BYTE_CHARACTERS: readonly string[] = (() => {
  let moved = 0
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174
    return String.fromCodePoint(printable ? byte : 256 + moved++)
  })
})()

const encoder = new TextEncoder()

/** The pre-tokens of a text, each spelled in byte characters. */
export function preTokens(text: string): string[] {
  const words = text.normalize('NFC').match(PRE_TOKENS) ?? []
  return words.map((word) => Array.from(encoder.encode(word), (byte) => BYTE_CHARACTERS[byte]).join(''))
}

/** Adds every pre-token of `text` to the counts, with a weight. */
export function countPreTokens(counts: Map<string, number>, text: string, weight: number): void {
  for (const word of preTokens(text)) counts.set(word, (counts.get(word) ?? 0) + weight)
}

export type Merge = readonly [string, string]

interface Word {
  pieces: string[]
  count: number
}

function bestPair(words: readonly Word[]): Merge | null {
  const counts = new Map<string, number>()
  for (const { pieces, count } of words) {
    for (let i = 1; i < pieces.length; i++) {
      const key = `${pieces[i - 1]} ${pieces[i]}`
      counts.set(key, (counts.get(key) ?? 0) + count)
    }
  }
  let best: string | null = null
  let most = 0
  for (const [key, count] of counts) {
    // Equal counts are decided by code points, so the order in which words were seen does not matter.
    if (count > most || (count === most && best !== null && key < best)) {
      best = key
      most = count
    }
  }
  if (best === null) return null
  const [left = '', right = ''] = best.split(' ')
  return [left, right]
}

function apply(word: Word, [left, right]: Merge): void {
  const { pieces } = word
  for (let i = 0; i + 1 < pieces.length; i++) {
    if (pieces[i] === left && pieces[i + 1] === right) pieces.splice(i, 2, left + right)
  }
}

/**
 * Learns at most `limit` merges from counted pre-tokens: again and again the most frequent pair of neighbours becomes
 * one piece. Stops early when every word is one piece.
 */
export function trainMerges(counts: ReadonlyMap<string, number>, limit: number): Merge[] {
  let words: Word[] = [...counts].map(([word, count]) => ({ pieces: [...word], count }))
  const merges: Merge[] = []
  while (merges.length < limit) {
    const pair = bestPair(words)
    if (pair === null) break
    merges.push(pair)
    for (const word of words) apply(word, pair)
    words = words.filter((word) => word.pieces.length > 1)
  }
  return merges
}
