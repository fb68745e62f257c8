/** Whether the page is as narrow as a phone; the setup then moves into a sheet. */

import { useSyncExternalStore } from 'react'

/** The same width stands in layout.css. */
const QUERY = '(max-width: 760px)'

function subscribe(listener: () => void): () => void {
  const query = window.matchMedia(QUERY)
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

export function useNarrow(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => window.matchMedia(QUERY).matches,
    () => false,
  )
}
