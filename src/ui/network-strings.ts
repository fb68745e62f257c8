/** Words of the network grant: beside the code and wherever code is allowed; they come with these, not with the page. */

const listed = (hosts: readonly string[]): string => (hosts.length < 2 ? (hosts[0] ?? '') : `${hosts.slice(0, -1).join(', ')} and ${hosts.at(-1) ?? ''}`)

export const NETWORK_STRINGS = {
  title: 'Network',
  /** The setting's name in links, kept runs and sentences. */
  help:
    'network_hosts: the hosts that the run’s own code may reach: the class, rollout_func and reward functions alike. The code can send them all that it sees and read what they answer, by fetch, XMLHttpRequest or EventSource. Other hosts, redirects to them, WebSockets and foreign scripts stay shut. Requests come from no site (Origin: null): a server must answer with Access-Control-Allow-Origin: * or null. http is for localhost alone, by its port; the browser may ask you first. Waiting counts in the 10 s of a call, whose end, or the run’s, ends the request. A link or a file can only ask for hosts: they hold when you press Allow. The code is in links and exports: keep keys out of it.',
  off: 'Off: this run’s code reaches no server.',
  on: 'With Allow, this run’s code reaches these hosts and no others:',
  add: 'Add host',
  host: 'Host',
  hint: 'https://api.example.org',
  remove: 'Remove',
  removeHost: (host: string) => `Remove ${host}`,
  full: (most: number) => `A run has at most ${most} hosts.`,
  again: 'They are for all code of the run. After a change all of it must be allowed again; a run that goes on keeps the hosts that it began with.',
  /** Under a button that allows code. */
  allows: (hosts: readonly string[]) =>
    hosts.length === 0
      ? 'It runs in a sandbox without network and without access to this page, until the page is left. A change must be allowed again.'
      : `Allow lets it send whatever it sees (prompts, completions, dataset columns) to ${listed(hosts)} and read the answers. It runs in a sandbox without any other network and without access to this page, until the page is left. A change must be allowed again.`,
  /** Beside code that waits to be allowed. */
  asks: (hosts: readonly string[]) => `It asks for network: with Allow it can send whatever it sees to ${listed(hosts)}.`,
  /** Beside code that was allowed. */
  reaches: (hosts: readonly string[]) => `Its network: ${listed(hosts)}.`,
  /** In the list of what a link names. */
  linked: (hosts: readonly string[]) => `Network for this code: it could send whatever it sees to ${listed(hosts)} and read the answers`,
} as const
