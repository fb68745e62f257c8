/** What a server said, as part of a sentence of this page: short, on one line, and in the page's own direction of writing. */

import { cutText } from '../../core/text'

/** A whole page of HTML or a stack of calls is in the server's log, too. */
const LONGEST = 300
/** Control characters, and those that turn the direction of what follows. */
const UNSEEN = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/gu

export function said(text: string): string {
  const line = text.replace(UNSEEN, ' ').trim()
  return line.length > LONGEST ? `${cutText(line, LONGEST)}…` : line
}
