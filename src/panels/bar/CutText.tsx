/** Words that have two lines' room: where they are cut, a press shows all of them, by mouse, touch or keyboard. */

import { type ReactNode, useId, useEffect, useRef, useState } from 'react'
import { DURATIONS } from '../../ui/durations'
import { S } from '../../ui/strings'

/** `all`: the words of `children` as one text. */
export function CutText({ all, children }: { all: string; children: ReactNode }) {
  const id = useId()
  const anchor = `--state${id.replace(/\W/g, '')}`
  const text = useRef<HTMLParagraphElement>(null)
  const more = useRef<HTMLButtonElement>(null)
  const [cut, setCut] = useState(false)
  useEffect(() => {
    const { current } = text
    const place = current?.parentElement
    if (!current || !place) return
    const look = () => {
      // The keyboard is not taken off a button that it stands on.
      if (more.current && document.activeElement === more.current) return
      // With the button's own room: that it is there is no reason for it.
      if (more.current) more.current.hidden = true
      setCut(current.scrollHeight > current.clientHeight + 1)
      if (more.current) more.current.hidden = false
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const lookSoon = () => {
      clearTimeout(timer)
      timer = setTimeout(look, DURATIONS.sentenceSettles)
    }
    lookSoon()
    const observer = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(lookSoon)
    observer?.observe(place)
    return () => {
      clearTimeout(timer)
      observer?.disconnect()
    }
  }, [all])
  return (
    <>
      <p className="state-text" title={all} ref={text}>
        {children}
      </p>
      {cut && (
        <>
          <button type="button" className="state-all" data-testid="state-all" aria-label={S.bar.allOfIt} title={S.bar.allOfIt} ref={more} popoverTarget={id} style={{ anchorName: anchor }}>
            {S.bar.more}
          </button>
          <p id={id} popover="auto" role="note" className="help-text" data-testid="state-all-text" style={{ positionAnchor: anchor }}>
            {all}
          </p>
        </>
      )}
    </>
  )
}
