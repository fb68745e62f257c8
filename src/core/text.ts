/** Texts as every program can read them: whole characters, also where they are cut. */

/** The text with U+FFFD in place of every half of a surrogate pair, which is no character and which UTF-8 cannot hold. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD')
}

/** At most the first `most` UTF-16 units of a text, one less where the last would be half a character. */
export function cutText(text: string, most: number): string {
  const cut = text.slice(0, most)
  return cut.length < text.length && /[\uD800-\uDBFF]/.test(cut.slice(-1)) ? cut.slice(0, -1) : cut
}
