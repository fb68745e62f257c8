/** User text inside the cards that go to the Hub: YAML front matter and Markdown. */

import { wellFormed } from '../core/text'

/** A YAML string in double quotes, whatever the text holds. Half a surrogate pair becomes U+FFFD. */
export function yamlString(text: string): string {
  // JSON's strings are YAML's, but for what YAML counts as unprintable or as the end of a line.
  const unprintable = /[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/g
  const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(wellFormed(text)).replace(unprintable, escaped)
}

/** Front matter out of keys and values: strings are quoted, lists and objects are nested in flow style, undefined is left out. */
export function frontMatter(fields: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [`${key}: ${yamlValue(value)}`]))
  return `---\n${lines.join('\n')}\n---\n`
}

function yamlValue(value: unknown): string {
  if (typeof value === 'string') return yamlString(value)
  if (Array.isArray(value)) return `[${value.map(yamlValue).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return `{${Object.entries(value).map(([key, each]) => `${yamlString(key)}: ${yamlValue(each)}`).join(', ')}}`
}

/** Text for Markdown: one line, with nothing that Markdown or HTML reads as markup. */
export function markdownText(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.replace(/[\\`*_{}[\]()#+!|~$]/g, '\\$&').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Inline code on one line, also inside a table; a text with backticks gets a longer fence. */
export function markdownCode(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|')
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return longest === 0 ? `${fence}${line || ' '}${fence}` : `${fence} ${line} ${fence}`
}
