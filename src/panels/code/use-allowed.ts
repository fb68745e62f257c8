/** Whether a code may run on this page, and the page's sandbox. */

import { useStore } from 'zustand'
import type { PageFunction } from '../../core/environment-spec'
import { useStores } from '../../store/hooks'
import { isAllowed, pageSandbox, type Sandbox } from '../../store/sandbox-store'

/** `func` null: nothing to allow. */
export function useAllowed(func: PageFunction | null): { sandbox: Sandbox; allowed: boolean } {
  const { controller } = useStores()
  const sandbox = pageSandbox(controller.send)
  const allowed = useStore(sandbox.store, (view) => func === null || isAllowed(view, func))
  return { sandbox, allowed }
}
