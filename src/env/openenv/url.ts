/** Makes the socket address of an OpenEnv server from whatever a person pastes: Space id or page, host, port, URL. */

import { PlaygroundError } from '../../core/errors'

export interface ServerAddress {
  /** The socket to talk to, ending in /ws. */
  ws: string
  /** Base of the HTTP routes, without a trailing slash. */
  http: string
  /** Host (with port), for sentences. */
  host: string
  /** owner/name where a Space was pasted by its name or page. */
  spaceId: string | null
  /** Whether the server runs on this machine. */
  loopback: boolean
}

/** Pages and routes of an OpenEnv server; a person may paste any of them. */
const ROUTE = /\/(ws|mcp|web|docs|redoc|openapi\.json|schema|metadata|health|reset|step|state)\/?$/i
const SPACE_PAGE_HOSTS = ['huggingface.co', 'www.huggingface.co', 'hf.co']
const IMAGE_HOSTS = ['registry.hf.space', 'docker.io', 'ghcr.io', 'quay.io', 'registry.hub.docker.com']
/** Owners on the Hub have no dots, so `example.com/path` is a host and not a Space. */
const SPACE_ID = /^([a-z0-9][a-z0-9-]*)\/([a-z0-9_][\w.-]*)$/i
const FORMS = 'Paste a Space (owner/name or its page), or a server address such as localhost:8000 or wss://example.org/ws.'

const refuse = (message: string, advice = FORMS) => new PlaygroundError('config', message, advice)

/** localhost, 127.0.0.0/8 and ::1, and nothing that merely contains those words. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

/** Hosts of a home or office network, where servers speak no TLS. */
function isPrivate(hostname: string): boolean {
  return /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)[\d.]+$/.test(hostname) || hostname.endsWith('.local')
}

/** The host that serves a Space: owner-name in lower case with `/`, `_` and `.` as dashes. */
export function spaceHost(spaceId: string): string {
  return `${spaceId.toLowerCase().replace(/[/_.]/g, '-')}.hf.space`
}

function fromSpace(owner: string, name: string): ServerAddress {
  const spaceId = `${owner}/${name}`
  const host = spaceHost(spaceId)
  return { ws: `wss://${host}/ws`, http: `https://${host}`, host, spaceId, loopback: false }
}

function refuseImages(text: string): void {
  const bare = text.replace(/^\w+:\/\//, '')
  const [first = ''] = bare.split('/')
  const tagged = !text.includes('://') && /^[\w.-]+(\/[\w.-]+)*:[a-z_][\w.-]*$/i.test(bare)
  if (tagged || IMAGE_HOSTS.includes(first.toLowerCase())) {
    throw refuse(
      `"${text}" is the name of a Docker image, not of a running server.`,
      'Start it (docker run -p 8000:8000 …) and paste localhost:8000.',
    )
  }
}

/**
 * Reads a pasted address. Loopback and private-network hosts get ws unless https or wss was written, every other host wss unless
 * ws was written. Query and fragment are dropped. `pageProtocol` is location.protocol where there is a page.
 * Throws PlaygroundError('config') with a sentence for what cannot be a server or what a browser would block.
 */
export function parseServerUrl(pasted: string, pageProtocol?: string): ServerAddress {
  const text = pasted.trim()
  if (text === '') throw refuse('No server address was given.')
  refuseImages(text)
  const space = SPACE_ID.exec(text)
  if (space?.[1] !== undefined && space[2] !== undefined && space[1].toLowerCase() !== 'localhost') return fromSpace(space[1], space[2])

  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase() ?? null
  if (scheme !== null && !['ws', 'wss', 'http', 'https'].includes(scheme)) {
    throw refuse(`"${scheme}://" is not a way to reach an OpenEnv server.`)
  }
  let url: URL
  try {
    // http and https parse alike everywhere; the real scheme is decided below.
    url = new URL(scheme === null ? `http://${text}` : text.replace(/^[a-z]+/i, scheme === 'ws' || scheme === 'http' ? 'http' : 'https'))
  } catch {
    throw refuse(`"${text.split(/[?#]/)[0]}" is not an address.`)
  }
  // Not repeated in the sentence: it holds a password.
  if (url.username !== '' || url.password !== '')
    throw refuse('The address holds a user name or password, which a browser cannot send to a socket.')
  if (scheme === null && !/^(\[[\da-f:]+\]|[\da-z.-]+)$/i.test(url.hostname)) throw refuse(`"${text}" is not an address.`)

  if (SPACE_PAGE_HOSTS.includes(url.hostname)) {
    const [where, owner, name] = url.pathname.split('/').filter((part) => part !== '')
    if (where === 'spaces' && owner !== undefined && name !== undefined) return fromSpace(owner, name)
    throw refuse(
      `${url.host}${url.pathname} is a page of the Hub, but not a Space.`,
      'Paste the address of a Space: huggingface.co/spaces/owner/name.',
    )
  }
  // Servers print 0.0.0.0 as their address; it means "all of this machine" and cannot be connected to everywhere.
  const hostname = url.hostname === '0.0.0.0' ? '127.0.0.1' : url.hostname
  const loopback = isLoopback(hostname)
  if (!loopback && scheme === null && !hostname.includes('.')) throw refuse(`"${text}" is not an address: it has no domain.`)

  const plain = scheme === 'ws' || ((scheme === null || scheme === 'http') && (loopback || isPrivate(hostname)))
  if (plain && !loopback && pageProtocol === 'https:') {
    throw refuse(
      `This page is served over https, and browsers then refuse the unencrypted ws://${url.host}.`,
      'Serve the environment over wss (a Space does), run it on this machine, or open this page over http.',
    )
  }
  const host = url.port === '' ? hostname : `${hostname}:${url.port}`
  const base = `${host}${url.pathname.replace(ROUTE, '').replace(/\/+$/, '')}`
  return { ws: `${plain ? 'ws' : 'wss'}://${base}/ws`, http: `${plain ? 'http' : 'https'}://${base}`, host, spaceId: null, loopback }
}
