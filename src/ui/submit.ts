/** Enter in a text of several lines sends its form, as in a field of one line. */

import type { KeyboardEvent } from 'react'

/** Shift+Enter begins a new line; an input method's Enter chooses a word. */
export function submitOnEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
  event.preventDefault()
  event.currentTarget.form?.requestSubmit()
}
