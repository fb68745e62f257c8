/** Taking an environment by a person's word, a server mostly, with a second word where it would end a run. */

import { useState } from 'react'
import type { EnvironmentSpec } from '../../core/environment-spec'
import { isSame } from '../../core/same'
import { isFresh } from '../../store/controller'
import { useStores } from '../../store/hooks'

export interface Connecting {
  /** What would end a run and waits for a yes; null mostly. */
  asked: EnvironmentSpec | null
  /** The question was answered: the keyboard goes back to Connect. (Never on a page that just opened, where Connect must be pressed on purpose.) */
  answered: boolean
  /** Connects at once if that ends no run, else asks; whether it did connect. */
  connect(spec: EnvironmentSpec): boolean
  confirm(): void
  cancel(): void
}

export function useConnecting(): Connecting {
  const { controller, run, setup } = useStores()
  const [asked, setAsked] = useState<EnvironmentSpec | null>(null)
  const [answered, setAnswered] = useState(false)
  const isFreshNow = () => {
    run.flush()
    return isFresh(run.getState())
  }
  const go = (spec: EnvironmentSpec) => {
    setAsked(null)
    const same = isSame(setup.getState().config.environment, spec)
    const fresh = isFreshNow()
    if (!same) controller.chooseEnvironment(spec)
    // Without a run, choosing has connected already.
    if (same || !fresh) controller.consent()
  }
  return {
    asked,
    connect(spec) {
      const fresh = isFreshNow()
      if (fresh) go(spec)
      else setAsked(spec)
      return fresh
    },
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
