/** A part of the page that a teacher may hide: it is then not there, for the keyboard neither. */

import type { ReactNode } from 'react'
import { useHidden } from '../store/hooks'

/** `part`: its name in store/hide.ts. */
export function Hideable({ part, children }: { part: string; children: ReactNode }) {
  return useHidden(part) ? null : children
}
