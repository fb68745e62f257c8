/** A token's text for the eye and for the ear: blanks as signs, line breaks never as themselves, so that a token stays in one piece. */

import type { ReactNode } from 'react'
import { S } from '../../ui/strings'

const SIGNS: Readonly<Record<string, string>> = { ' ': '␣', '\n': '⏎', '\r': '␍', '\t': '⇥', '\u00a0': '⍽', '\u200b': '∅' }
const ALL = /[ \n\r\t\u00a0\u200b]/g
/** Without these a token could not be seen or pressed, or would break in two. */
const BREAKS = /[\n\r\t]/g

const sign = (blank: string) => SIGNS[blank] ?? blank

/** With all blanks made visible: ␣ for a space, ⏎ for a line break, ⇥ for a tab; ∅ for no text at all. */
export function visibleText(text: string): string {
  return text === '' ? '∅' : text.replace(ALL, sign)
}

/** As it stands in the trajectory; `blanks`: spaces as signs, too. All signs are fainter than the text. */
export function drawnText(text: string, blanks: boolean): ReactNode {
  if (text === '') return '∅'
  const which = blanks ? ALL : BREAKS
  if (text.search(which) < 0) return text
  const parts: ReactNode[] = []
  let from = 0
  for (const { 0: blank, index } of text.matchAll(which)) {
    if (index > from) parts.push(text.slice(from, index))
    parts.push(
      <i key={index} className="blank">
        {sign(blank)}
      </i>,
    )
    from = index + 1
  }
  if (from < text.length) parts.push(text.slice(from))
  return parts
}

/** As it is read aloud: a name where there is nothing but blanks. */
export function spokenText(text: string): string {
  const { spoken } = S.token
  if (text === '') return spoken.empty
  if (text.trim() !== '') return text.trim()
  return text.includes('\n') ? spoken.break : text.includes('\t') ? spoken.tab : spoken.space
}
