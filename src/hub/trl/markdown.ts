/** A person's texts inside Markdown. */

/** One line, with nothing that Markdown reads as markup. */
export const plainText = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_{}[\]<>()#+!|~]/g, '\\$&').trim()

/** Inline code; a text with backticks gets a longer fence. */
export const code = (text: string): string => {
  const fence = '`'.repeat(1 + Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)))
  const one = text.replaceAll(/\s+/g, ' ')
  return fence.length > 1 ? `${fence} ${one} ${fence}` : `${fence}${one}${fence}`
}
