/** Which code of the person's own may run on this page, and calls of it at the benches. The sandbox is made with the first that is allowed. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import type { PageFunction } from '../core/environment-spec'
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
  allow(func: PageFunction): Promise<void>
  call: SandboxClient['call']
  /** For the bench of a class. */
  live: SandboxClient['live']
}

const keyOf = ({ called, code }: PageFunction): string => `${called}\n${code}`

/** Whether this very code, under this name, was allowed. */
export const isAllowed = ({ allowed }: AllowedView, func: PageFunction): boolean => allowed.has(keyOf(func))

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
    live: (...args) => sandbox().client.live(...args),
  }
}

let shared: Sandbox | null = null
/** The page's one sandbox: it lives as long as the page, since the worker holds a port to it. */
export const pageSandbox = (send: (command: Command) => void): Sandbox => (shared ??= createSandbox(send))
