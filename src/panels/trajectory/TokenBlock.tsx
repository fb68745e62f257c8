/** Some of an episode's tokens, drawn as text (never as HTML), each with its author's ground or its heat. */

import { memo, type ReactNode, startTransition, useEffect, useRef, useState } from 'react'
import type { Heat } from '../../store/display'
import type { LoggedToken } from '../../store/token-log'
import type { Scale } from '../../ui/colors'
import { S } from '../../ui/strings'
import { type Block, heightOf, type TextSize } from './blocks'
import { heatColor, heatText, heatValue } from './heat'
import { drawnText, spokenText } from './token-text'

export interface TokenLook {
  heat: Heat
  scale: Scale | null
  advantage: number | null
  blanks: boolean
}

interface TokenBlockProps extends TokenLook, Block {
  tokens: readonly LoggedToken[]
  /** The kept token, if it is one of these. */
  selected: number | null
  /** The one token that Tab reaches, if it is one of these; arrow keys move on. */
  tabStop: number | null
  /** Scores arrive in place; a change of this draws the tokens again. */
  revision: number
}

export const TokenBlock = memo(function TokenBlock({ tokens, start, end, selected, tabStop, heat, scale, advantage, blanks }: TokenBlockProps) {
  const drawn: ReactNode[] = []
  for (let position = start; position < end; position++) {
    const token = tokens[position]
    if (!token) break
    const value = scale && heatValue(token, heat, advantage)
    const background = heatColor(scale, value)
    const isSelected = position === selected
    drawn.push(
      <span
        key={position}
        role="button"
        className={`token token-${token.author}${token.mask === 0 ? ' masked' : ''}${isSelected ? ' selected' : ''}`}
        data-testid="token"
        data-position={position}
        data-author={token.author}
        data-mask={token.mask}
        aria-label={labelOf(token, value === null ? null : heatText(heat, value))}
        aria-pressed={isSelected}
        tabIndex={position === tabStop ? 0 : -1}
        style={background === undefined ? undefined : { background }}
      >
        {drawnText(token.text, blanks)}
      </span>,
    )
    if (token.text.endsWith('\n')) drawn.push(<br key={`${position}↵`} />)
    else if (blanks) drawn.push(<wbr key={`${position}w`} />)
  }
  return drawn
})

/** What is read aloud: the token, what it is if it is not trained, its value under the chosen colour. */
function labelOf({ text, author, mask }: LoggedToken, value: string | null): string {
  const masked = mask === 1 ? '' : `, ${S.authors[author]}, ${S.trajectory.maskedShort}`
  return `${spokenText(text)}${masked}${value === null ? '' : `, ${value}`}`
}

interface FarBlockProps extends TokenBlockProps {
  size: TextSize
  /** Drawn wherever it is: the focus goes there. */
  wanted: boolean
}

/** A block of a long episode: drawn while it is near the window, else as much room as it takes. */
export const FarBlock = memo(function FarBlock({ size, wanted, ...block }: FarBlockProps) {
  const element = useRef<HTMLDivElement>(null)
  const measured = useRef<{ height: number; width: number; length: number } | null>(null)
  const [near, setNear] = useState(false)
  const length = block.end - block.start
  const state = useRef({ drawn: false, width: 0, length: 0 })
  const drawn = near || wanted
  useEffect(() => {
    state.current = { drawn, width: size.width, length }
  })
  useEffect(() => {
    if (!element.current) return
    return watch(element.current, (now, height) => {
      // Its height is known exactly once it has been drawn.
      if (!now && state.current.drawn) measured.current = { height, ...state.current }
      startTransition(() => setNear(now))
    })
  }, [])
  const { current: before } = measured
  const height = before?.width === size.width && before.length === length ? before.height : heightOf(block.tokens, block, size)
  return (
    <div ref={element} className="far-block" style={drawn ? undefined : { blockSize: height }}>
      {drawn && <TokenBlock {...block} />}
    </div>
  )
})

/** So much above and below the window is drawn before it is seen. */
const MARGIN = '30% 0px'

type Listener = (near: boolean, height: number) => void
const listeners = new WeakMap<Element, Listener>()
let observer: IntersectionObserver | null = null

/** Tells whether an element is near the window, now and whenever that changes, until the returned function is called. */
function watch(element: Element, listener: Listener): () => void {
  observer ??= new IntersectionObserver(
    (entries) => entries.forEach(({ target, isIntersecting, boundingClientRect }) => listeners.get(target)?.(isIntersecting, boundingClientRect.height)),
    { rootMargin: MARGIN },
  )
  listeners.set(element, listener)
  observer.observe(element)
  return () => observer?.unobserve(element)
}
