/** A text that is edited where it stands: Enter or leaving it keeps the change, Escape takes it back. */

import { type KeyboardEvent, useEffect, useState } from 'react'

interface InPlaceProps {
  label: string
  testId: string
  value: string
  placeholder?: string
  /** May have several lines, Shift+Enter begins one, and may be empty. */
  lines?: boolean
  /** Hears a changed text, trimmed. */
  onChange: (text: string) => void
}

export function InPlace({ label, testId, value, placeholder, lines = false, onChange }: InPlaceProps) {
  const [text, setText] = useState(value)
  // What was handed on last: the answer to it takes a moment.
  const [kept, setKept] = useState(value)
  useEffect(() => {
    setText(value)
    setKept(value)
  }, [value])
  const keep = () => {
    const trimmed = text.trim()
    const next = trimmed === '' && !lines ? kept : trimmed
    if (next !== kept) onChange(next)
    setText(next)
    setKept(next)
  }
  const onKeyDown = (e: KeyboardEvent<HTMLElement>) => {
    if (e.nativeEvent.isComposing) return
    if (e.key === 'Escape' && text !== kept) {
      // The dialog stays open: this Escape meant the text.
      e.preventDefault()
      e.stopPropagation()
      setText(kept)
    } else if (e.key === 'Enter' && !e.shiftKey) {
      e.preventDefault()
      keep()
    }
  }
  const shared = { className: 'in-place', 'data-testid': testId, 'aria-label': label, value: text, placeholder, onBlur: keep, onKeyDown }
  return lines ? (
    <textarea {...shared} rows={1} maxLength={2000} onChange={(e) => setText(e.target.value)} />
  ) : (
    <input {...shared} type="text" maxLength={120} autoComplete="off" spellCheck={false} onChange={(e) => setText(e.target.value)} />
  )
}
