/** The engine's side of the sandbox: the ports that the page handed over, one for each list of hosts that a person allowed code with. */

import { PlaygroundError } from '../core/errors'
import { hostsKey } from '../core/network-hosts'
import { sandboxClient, type SandboxClient } from '../env/custom/sandbox-client'
import type { CallCustom } from '../train/scoring'

const clients = new Map<string, SandboxClient>()

/** Takes the page's port to the sandbox of these hosts; the one before it is closed. */
export function adoptSandbox(port: MessagePort, hosts: readonly string[]): void {
  const key = hostsKey(hosts)
  clients.get(key)?.close()
  clients.set(key, sandboxClient(port))
}

const network = (hosts: readonly string[]): string => (hosts.length === 0 ? '' : ` with network to ${hosts.join(', ')}`)

/** The sandbox of a run's hosts, for environments and rollout functions written in the page. Throws PlaygroundError('config') while nobody has allowed any code with them. */
export function requireSandbox(hosts: readonly string[]): SandboxClient {
  const client = clients.get(hostsKey(hosts))
  if (!client) throw new PlaygroundError('config', `The code of this run was not allowed to run${network(hosts)}.`, 'Read it under Environment and allow it.')
  return client
}

/** Calls a function of the person's own with a run's hosts; without a port nobody has allowed any. */
export const callWithHosts =
  (hosts: readonly string[]): CallCustom =>
  async (func, args, signal) => {
    const client = clients.get(hostsKey(hosts))
    if (!client) throw new PlaygroundError('config', `The reward function ${func.called} was not allowed to run${network(hosts)}.`, 'Read its code under reward_funcs in the settings and allow it.')
    return client.call(func, args, { ...(signal && { signal }) })
  }
