/** Moves the focus among an episode's tokens by keyboard, also to tokens that are not drawn yet. */

import { type KeyboardEvent, type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react'
import { endOfLine, inNextLine, keyTarget, type Place } from './roving'
import type { Segment } from './segments'

interface Roving {
  /** The token that has the focus, or had it last. */
  active: number | null
  setActive(position: number | null): void
  /** Where a key leads from a token; null for keys that do not move. */
  target(event: KeyboardEvent, from: number): number | null
  focus(position: number): void
  /** Into view, with the focus where it is. */
  reveal(position: number): void
}

const tokenAt = (surface: HTMLElement | null, position: number) => surface?.querySelector<HTMLElement>(`[data-position="${position}"]`) ?? null

const placeOf = (element: Element): Place => element.getClientRects()[0] ?? { left: 0, top: 0 }

/** `first` and `last`: the ends of what can be reached. */
export function useRoving(surface: RefObject<HTMLElement | null>, first: number, last: number, segments: readonly Segment[]): Roving {
  const [active, setActive] = useState<number | null>(null)
  /** A token that was asked for before it was drawn. */
  const awaited = useRef<{ position: number; how: 'focus' | 'reveal' } | null>(null)

  const bring = (position: number, how: 'focus' | 'reveal'): boolean => {
    const element = tokenAt(surface.current, position)
    if (how === 'focus') element?.focus({ preventScroll: true })
    element?.scrollIntoView({ block: 'nearest' })
    return element !== null
  }
  useLayoutEffect(() => {
    const { current } = awaited
    if (current && bring(current.position, current.how)) awaited.current = null
  })

  const reveal = useCallback((position: number) => {
    awaited.current = { position, how: 'reveal' }
    setActive(position)
  }, [])

  /** Among the tokens that are drawn: the others are out of sight, and the neighbours of a drawn token are drawn. */
  const byLine = (key: string, from: number): number | null => {
    const drawn = [...(surface.current?.querySelectorAll<HTMLElement>('[data-position]') ?? [])]
    const at = drawn.findIndex((element) => Number(element.dataset['position']) === from)
    if (at < 0) return null
    const place = (index: number) => placeOf(drawn[index] as HTMLElement)
    const forward = key === 'ArrowDown' || key === 'End'
    const by = forward ? 1 : -1
    const to = key === 'Home' || key === 'End' ? endOfLine(drawn.length, place, at, by) : inNextLine(drawn.length, place, at, by)
    // At the edge of what is drawn the next token draws the next block.
    if (to === null) return Math.min(last, Math.max(first, from + by))
    return Number(drawn[to]?.dataset['position'])
  }

  return {
    active,
    setActive,
    target(event, from) {
      const to = keyTarget(event, from, first, last, segments)
      if (to !== null) return to
      return ['ArrowUp', 'ArrowDown', 'Home', 'End'].includes(event.key) ? byLine(event.key, from) : null
    },
    focus(position) {
      if (!bring(position, 'focus')) awaited.current = { position, how: 'focus' }
      setActive(position)
    },
    reveal,
  }
}
