/** Parts of the page that are fetched when they are first wanted, or when the page has nothing else to do. */

import { type ComponentType, useEffect, useState } from 'react'
import { S } from './strings'

type Load<P> = () => Promise<ComponentType<P>>

const waiting = new Set<() => Promise<unknown>>()

/**
 * A component that is in a chunk of its own. Nothing is drawn until it has come, and a sentence with a button when it cannot be had:
 * React's own `lazy` would remember the failure for ever.
 */
export function later<P extends object>(load: Load<P>): ComponentType<P> {
  let Part: ComponentType<P> | null = null
  let coming: Promise<void> | null = null
  const fetchPart = (): Promise<void> =>
    (coming ??= load().then(
      (come) => {
        Part = come
        waiting.delete(fetchPart)
      },
      (error: unknown) => {
        coming = null
        throw error
      },
    ))
  waiting.add(fetchPart)
  return function Later(props: P) {
    const [state, setState] = useState<'coming' | 'here' | 'failed'>(Part === null ? 'coming' : 'here')
    useEffect(() => {
      if (state !== 'coming') return
      let gone = false
      const say = (next: 'here' | 'failed') => () => gone || setState(next)
      fetchPart().then(say('here'), say('failed'))
      return () => {
        gone = true
      }
    }, [state])
    if (Part !== null) return <Part {...props} />
    if (state !== 'failed') return null
    return (
      <p className="empty" role="alert">
        {S.crash.notLoaded}{' '}
        <button type="button" className="button small" onClick={() => setState('coming')}>
          {S.crash.retry}
        </button>
      </p>
    )
  }
}

/** Fetches every part that is not here yet, one after the other. Never rejects: each is asked for again when it is wanted. */
export async function fetchLater(): Promise<void> {
  for (const fetchPart of [...waiting]) await fetchPart().catch(() => undefined)
}
