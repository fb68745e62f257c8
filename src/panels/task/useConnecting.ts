/** Connecting to a server by a person's word, with a second word where it would end a run. */

import { useState } from 'react'
import { isFresh } from '../../store/controller'
import { useStores } from '../../store/hooks'

export interface Connecting {
  /** The address whose connecting would end a run and waits for a yes; null mostly. */
  asked: string | null
  /** The question was answered: the keyboard goes back to Connect. (Never on a page that just opened, where Connect must be pressed on purpose.) */
  answered: boolean
  /** Connects at once if that ends no run, else asks. */
  connect(url: string): void
  confirm(): void
  cancel(): void
}

export function useConnecting(): Connecting {
  const { controller, run, setup } = useStores()
  const [asked, setAsked] = useState<string | null>(null)
  const [answered, setAnswered] = useState(false)
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
    answered,
    confirm() {
      setAnswered(true)
      if (asked !== null) go(asked)
    },
    cancel() {
      setAnswered(asked !== null)
      setAsked(null)
    },
  }
}
