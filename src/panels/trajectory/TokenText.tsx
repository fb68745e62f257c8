/** One token, drawn as text (never as HTML), with its author's ground or its heat. */

import { memo } from 'react'
import type { LoggedToken } from '../../store/token-log'
import { S } from '../../ui/strings'

interface TokenTextProps {
  token: LoggedToken
  position: number
  background: string | undefined
  selected: boolean
  /** The one token that Tab reaches; arrow keys move on. */
  inTabOrder: boolean
  /** Masks and scores arrive in place; a change of this draws the token again. */
  revision: string
}

export const TokenText = memo(function TokenText({ token, position, background, selected, inTabOrder }: TokenTextProps) {
  const breaks = token.text.endsWith('\n')
  const label = token.mask === 1 ? undefined : `${token.text}, ${S.authors[token.author]}, masked`
  return (
    <>
      <span
        role="button"
        className={`token token-${token.author}${token.mask === 0 ? ' masked' : ''}${selected ? ' selected' : ''}`}
        data-testid="token"
        data-position={position}
        data-author={token.author}
        data-mask={token.mask}
        aria-label={label}
        aria-pressed={selected}
        tabIndex={inTabOrder ? 0 : -1}
        style={background === undefined ? undefined : { background }}
      >
        {shown(token.text)}
      </span>
      {breaks && <br />}
    </>
  )
})

/** Line breaks become a sign, so that a token stays in one piece. */
function shown(text: string): string {
  if (text === '') return '∅'
  return text.replaceAll('\n', '⏎').replaceAll('\t', '⇥')
}
