/** Hosts that a run's own code may reach from the sandbox, as origins: strictly those, wherever they come from. (A person's typing: read-host.ts.) */

import type { RunConfig } from './config'
import { singleSpecs } from './environment-spec'

/** Most hosts of a run. */
export const MOST_HOSTS = 8
export const LONGEST_HOST = 260

/**
 * What a Content-Security-Policy can name, and no sign that could end its list; without https only what leaves no computer, and by its port:
 * a policy's http host without one covers https, too.
 */
const HOST = /^(https:\/\/[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?|http:\/\/(localhost|127\.0\.0\.1):\d{1,5})$/

/** Whether this is an origin that can be granted, written as browsers write it. */
export const isHost = (text: string): boolean => text.length <= LONGEST_HOST && HOST.test(text) && URL.canParse(text) && new URL(text).origin === text

/** Of this computer: a page elsewhere may need the browser's leave to reach it. */
export const isLocal = (host: string): boolean => /^https?:\/\/(localhost|127\.0\.0\.1)(:|$)/.test(host)

/** A list from a stranger, each host once; null where one is none or they are too many. */
export function readHosts(list: readonly string[]): string[] | null {
  const hosts = [...new Set(list)]
  return hosts.length <= MOST_HOSTS && hosts.every(isHost) ? hosts : null
}

/** The same for the same hosts in any order; '' for none. It tells one sandbox from another. */
export const hostsKey = (hosts: readonly string[]): string => [...new Set(hosts)].sort().join(' ')

/** The hosts of a run: what it asks for, in force only where a person allowed its code with them. */
export const hostsOf = ({ network_hosts }: Pick<RunConfig, 'network_hosts'>): readonly string[] => network_hosts ?? NONE
const NONE: readonly string[] = []

/** The same settings with other hosts; none is no setting at all. */
export function withHosts<C extends Pick<RunConfig, 'network_hosts'>>(config: C, hosts: readonly string[]): C {
  const { network_hosts: _, ...rest } = config
  return { ...rest, ...(hosts.length > 0 && { network_hosts: [...hosts] }) } as C
}

/** Whether a run has code of a person's own: a class, a rollout_func or a reward function. */
export function hasCode({ environment, rollout_func, grpo }: Pick<RunConfig, 'environment' | 'rollout_func' | 'grpo'>): boolean {
  return rollout_func !== undefined || singleSpecs(environment).some(({ kind }) => kind === 'custom') || grpo.reward_funcs.some(({ name }) => name === 'custom')
}
