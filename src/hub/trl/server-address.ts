/** The base address of a run's OpenEnv server for Python's client, from what a person pasted and the host at which the page found it. */

import type { RunRecord } from '../../core/run-record'

/** Routes of a server that a person may have pasted with its address. */
const ROUTE = /\/(ws|mcp|web|docs|redoc|openapi\.json|schema|metadata|health|reset|step|state)\/?$/i
const NEAR = /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\])|\.(local|localhost)(:\d+)?$/i

/** http(s)://host, without a query, which may hold a signature; what was pasted where nothing else is known. '' for built-in environments. */
export function serverAddress({ config, environment }: Pick<RunRecord, 'config' | 'environment'>): string {
  if (config.environment.kind !== 'openenv') return ''
  const pasted = config.environment.url.trim().replace(/[?#].*$/, '')
  const [, scheme, host = '', path = ''] = /^(?:(\w+):\/\/)?([^/]+)(.*)$/.exec(pasted) ?? []
  const found = environment.discovered?.host
  if (found === undefined) return scheme === undefined ? pasted : `${plain(scheme, host) ? 'http' : 'https'}://${host}${withoutRoute(path)}`
  // A Space's page or name: the page found its host.
  const same = host.toLowerCase() === found.toLowerCase()
  const isPlain = found.endsWith('.hf.space') ? false : plain(same ? scheme : undefined, found)
  return `${isPlain ? 'http' : 'https'}://${found}${same ? withoutRoute(path) : ''}`
}

/** Whether the server speaks without TLS: said by the scheme, else usual near at hand. */
function plain(scheme: string | undefined, host: string): boolean {
  return scheme === undefined ? NEAR.test(host) : ['http', 'ws'].includes(scheme.toLowerCase())
}

const withoutRoute = (path: string): string => path.replace(ROUTE, '').replace(/\/+$/, '')
