/** Which code of the person's own may run on this page, with which hosts, and calls of it at the benches. A sandbox is made for each list of hosts. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import type { PageFunction } from '../core/environment-spec'
import { PlaygroundError } from '../core/errors'
import { hostsKey } from '../core/network-hosts'
import { sandboxClient, type SandboxClient } from '../env/custom/sandbox-client'
import { openSandbox, type SandboxHost } from '../env/custom/sandbox-host'
import type { Command } from '../worker/protocol'

export interface AllowedView {
  /** Code that a person has read and allowed since the page was opened, each with the hosts that were named beside it. */
  allowed: ReadonlySet<string>
}

export interface Sandbox {
  readonly store: StoreApi<AllowedView>
  /** A person's word, never a link's or a file's: this code, with these hosts and no others. */
  allow(func: PageFunction, hosts: readonly string[]): Promise<void>
  /** For the benches: code that was allowed with these hosts. Throws PlaygroundError('config') where none was. */
  at(hosts: readonly string[]): Pick<SandboxClient, 'call' | 'live'>
}

const keyOf = ({ called, code }: PageFunction, hosts: readonly string[]): string => `${hostsKey(hosts)}\n${called}\n${code}`

/** Whether this very code, under this name, was allowed with these very hosts. */
export const isAllowed = ({ allowed }: AllowedView, func: PageFunction, hosts: readonly string[]): boolean => allowed.has(keyOf(func, hosts))

/** `send` reaches the engine's worker, which gets a port of its own to every sandbox. */
export function createSandbox(send: (command: Command) => void, open: (hosts: readonly string[]) => SandboxHost = (hosts) => openSandbox(document, hosts)): Sandbox {
  const store = createStore<AllowedView>(() => ({ allowed: new Set() }))
  // A policy holds as long as its document: other hosts are another sandbox. A run that goes on keeps the one that it began with.
  const made = new Map<string, { host: SandboxHost; client: SandboxClient }>()
  const sandbox = (hosts: readonly string[]) => {
    const key = hostsKey(hosts)
    const found = made.get(key)
    if (found) return found
    const host = open(hosts)
    send({ type: 'sandbox', hosts: [...hosts], port: host.connect() })
    const one = { host, client: sandboxClient(host.connect()) }
    made.set(key, one)
    return one
  }
  return {
    store,
    allow: async (func, hosts) => {
      await sandbox(hosts).host.allow(func)
      store.setState(({ allowed }) => ({ allowed: new Set([...allowed, keyOf(func, hosts)]) }))
    },
    at: (hosts) => {
      const found = made.get(hostsKey(hosts))
      if (!found) throw new PlaygroundError('config', 'This code was not allowed to run.', 'Read it and allow it.')
      return found.client
    },
  }
}

let shared: Sandbox | null = null
/** The page's one set of sandboxes: they live as long as the page, since the worker holds ports to them. */
export const pageSandbox = (send: (command: Command) => void): Sandbox => (shared ??= createSandbox(send))
