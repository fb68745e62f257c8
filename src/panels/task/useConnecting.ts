/** Connecting to a server by a person's word, with a second word where it would end a run. */

import { useState } from 'react'
import { isFresh } from '../../store/controller'
import { useStores } from '../../store/hooks'

export interface Connecting {
  /** The address whose connecting would end a run and waits for a yes; null mostly. */
  asked: string | null
  /** Connects at once if that ends no run, else asks. */
  connect(url: string): void
  confirm(): void
  cancel(): void
}

export function useConnecting(): Connecting {
  const { controller, run, setup } = useStores()
  const [asked, setAsked] = useState<string | null>(null)
  const isFreshNow = () => {
    run.flush()
    return isFresh(run.getState())
  }
  const go = (url: string) => {
    setAsked(null)
    const { environment } = setup.getState().config
    const same = environment.kind === 'openenv' && environment.url === url
    const fresh = isFreshNow()
    if (!same) controller.chooseEnvironment({ kind: 'openenv', url })
    // Without a run, choosing has connected already.
    if (same || !fresh) controller.consent()
  }
  return {
    asked,
    connect: (url) => (isFreshNow() ? go(url) : setAsked(url)),
    confirm: () => asked !== null && go(asked),
    cancel: () => setAsked(null),
  }
}
