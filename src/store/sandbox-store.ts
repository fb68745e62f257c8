/** Which functions of the person's own may run on this page, and calls of them at the bench. The sandbox is made with the first that is allowed. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import type { CustomReward } from '../core/reward-funcs'
import { sandboxClient, type SandboxClient } from '../env/custom/sandbox-client'
import { openSandbox, type SandboxHost } from '../env/custom/sandbox-host'
import type { Command } from '../worker/protocol'

export interface AllowedView {
  /** Code that a person has read and allowed since the page was opened. */
  allowed: ReadonlySet<string>
}

export interface Sandbox {
  readonly store: StoreApi<AllowedView>
  /** A person's word, never a link's or a file's. */
  allow(func: CustomReward): Promise<void>
  call: SandboxClient['call']
}

const keyOf = ({ called, code }: Pick<CustomReward, 'called' | 'code'>): string => `${called}\n${code}`

/** Whether this very code, under this name, was allowed. */
export const isAllowed = ({ allowed }: AllowedView, func: CustomReward): boolean => allowed.has(keyOf(func))

/** `send` reaches the engine's worker, which gets a port of its own. */
export function createSandbox(send: (command: Command) => void, open: () => SandboxHost = () => openSandbox(document)): Sandbox {
  const store = createStore<AllowedView>(() => ({ allowed: new Set() }))
  let made: { host: SandboxHost; client: SandboxClient } | null = null
  const sandbox = () => {
    if (made) return made
    const host = open()
    send({ type: 'sandbox', port: host.connect() })
    return (made = { host, client: sandboxClient(host.connect()) })
  }
  return {
    store,
    allow: async (func) => {
      await sandbox().host.allow(func)
      store.setState(({ allowed }) => ({ allowed: new Set([...allowed, keyOf(func)]) }))
    },
    call: (...args) => sandbox().client.call(...args),
  }
}

let shared: Sandbox | null = null
/** The page's one sandbox: it lives as long as the page, since the worker holds a port to it. */
export const pageSandbox = (send: (command: Command) => void): Sandbox => (shared ??= createSandbox(send))
