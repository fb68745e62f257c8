/** What was typed of a class and is not the run's yet: it outlives the dialog, the field, and the question whether the present run shall end. */

import { useState } from 'react'
import type { PageFunction } from '../../core/environment-spec'
import { lastClass } from '../../env/custom/class-source'
import { type Stores, useStores } from '../../store/hooks'

interface Draft {
  /** The class of the settings when it was typed; another one in the settings takes its place. */
  of: PageFunction | null
  code: string
}

const kept = new WeakMap<Stores, Draft>()

export interface ClassDraft {
  /** null where nothing was typed that is not in the settings. */
  code: string | null
  /** Of a class that was written while the settings have none; null else. */
  called: string | null
  write: (code: string) => void
}

/** `within`: the class is a part of several, each of which has what was typed for itself. */
export function useClassDraft(chosen: PageFunction | null, within: boolean): ClassDraft {
  const stores = useStores()
  const [draft, setDraft] = useState<Draft | null>(() => (within ? null : (kept.get(stores) ?? null)))
  const code = draft && (chosen === null || draft.of?.code === chosen.code) ? draft.code : null
  return {
    code,
    called: code === null || chosen !== null ? null : lastClass(code),
    write(next) {
      const typed = { of: chosen, code: next }
      if (!within) kept.set(stores, typed)
      setDraft(typed)
    },
  }
}
