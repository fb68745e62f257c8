/** A modal dialog with a heading that stays and a body that scrolls. Closes on Escape, on its button and on a click beside it; the focus returns. */

import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import type { HelpKey } from './explainers'
import { Help } from './Help'

interface ModalProps {
  /** The test id; its Close button has `close-` before it. */
  id: string
  title: string
  lead: string
  close: string
  onClose: () => void
  /** What the '?' beside the heading explains. */
  help?: HelpKey
  /** Below the lead, in the part that stays. */
  head?: ReactNode
  children: ReactNode
}

/** Open as long as it is drawn. */
export function Modal({ id, title, lead, close, onClose, help, head, children }: ModalProps) {
  const label = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const { current } = dialog
    current?.showModal()
    // The browser gives the focus back as long as the dialog is still in the page.
    return () => current?.close()
  }, [])
  const end = () => dialog.current?.close()
  return (
    <dialog
      ref={dialog}
      className="modal"
      data-testid={id}
      aria-labelledby={label}
      onClose={(e) => e.target === dialog.current && onClose()}
      onClick={(e) => e.target === dialog.current && end()}
    >
      <div className="modal-head">
        <div className="titled">
          <h2 id={label}>{title}</h2>
          {help && <Help of={help} name={title} />}
        </div>
        <button type="button" className="button small" data-testid={`close-${id}`} onClick={end}>
          {close}
        </button>
        <p className="note">{lead}</p>
        {head}
      </div>
      {/* So that the keyboard can scroll it. */}
      <div className="modal-body" tabIndex={0} role="region" aria-label={title}>
        {children}
      </div>
    </dialog>
  )
}
