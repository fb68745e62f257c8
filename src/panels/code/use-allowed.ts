/** Whether a code may run on this page with the hosts that the settings name, and the way to let it. */

import { useCallback } from 'react'
import { useStore } from 'zustand'
import type { PageFunction } from '../../core/environment-spec'
import { hostsOf } from '../../core/network-hosts'
import { useSetup, useStores } from '../../store/hooks'
import { isAllowed, pageSandbox, type Sandbox } from '../../store/sandbox-store'

export interface Allowed {
  sandbox: Sandbox
  /** Of the settings. */
  hosts: readonly string[]
  allowed: boolean
  /** A person's word for this code with these hosts. */
  allow: (func: PageFunction) => Promise<void>
}

/** `func` null: nothing to allow. */
export function useAllowed(func: PageFunction | null): Allowed {
  const { controller } = useStores()
  const sandbox = pageSandbox(controller.send)
  const hosts = useSetup((s) => hostsOf(s.config))
  const allowed = useStore(sandbox.store, (view) => func === null || isAllowed(view, func, hosts))
  const allow = useCallback((one: PageFunction) => sandbox.allow(one, hosts), [sandbox, hosts])
  return { sandbox, hosts, allowed, allow }
}
