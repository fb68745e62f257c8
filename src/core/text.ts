/** Texts as every program can read them: whole characters, also where they are cut; names that are parts of paths. */

/** The text with U+FFFD in place of every half of a surrogate pair, which is no character and which UTF-8 cannot hold. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD')
}

/** JSON whose texts are well formed, keys aside: JSON would write half a surrogate pair as an escape, which Python's readers refuse or choke on. */
export function wellFormedJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent)
  return text.includes('\\ud') ? JSON.stringify(value, (_, each: unknown) => (typeof each === 'string' ? wellFormed(each) : each), indent) : text
}

/** At most the first `most` UTF-16 units of a text, one less where the last would be half a character. */
export function cutText(text: string, most: number): string {
  const cut = text.slice(0, most)
  return cut.length < text.length && /[\uD800-\uDBFF]/.test(cut.slice(-1)) ? cut.slice(0, -1) : cut
}

/** A name that a person wrote as part of a file's or a repository's: a–z, 0–9 and single hyphens, at most 60; 'run' where nothing is left. */
export function slug(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '')
  return plain.slice(0, 60).replace(/-+$/, '') || 'run'
}
