/** The '?' beside a control: a button that opens one line of explanation, by mouse, touch or keyboard. */

import { useId } from 'react'
import { S } from './strings'

/** Uses the browser's popover: it closes on Escape and on a click elsewhere, and is never clipped by its column. */
export function Help({ of, text }: { of: string; text: string }) {
  const id = useId()
  const anchor = `--help${id.replace(/\W/g, '')}`
  return (
    <>
      <button type="button" className="help" aria-label={S.explain(of)} popoverTarget={id} style={{ anchorName: anchor }}>
        ?
      </button>
      <span id={id} popover="auto" className="help-text" style={{ positionAnchor: anchor }}>
        <strong>{of}</strong> {text}
      </span>
    </>
  )
}
