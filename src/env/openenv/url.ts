/** Makes the socket address of an OpenEnv server from whatever a person pastes: Space id or page, host, port, URL. */

import { PlaygroundError } from '../../core/errors'
import { cutText } from '../../core/text'

export interface ServerAddress {
  /** The socket to talk to, ending in /ws. Of a Space that was pasted by its name: by the rule for hosts, which the Hub may know better. */
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
const HUB_HOSTS = ['huggingface.co', 'www.huggingface.co', 'hf.co', 'www.hf.co']
const IMAGE_HOSTS = ['registry.hf.space', 'docker.io', 'ghcr.io', 'quay.io', 'registry.hub.docker.com']
/** Owners on the Hub have no dots, so `example.com/path` is a host and not a Space. */
const SPACE_ID = /^([a-z0-9][a-z0-9-]*)\/([a-z0-9_][\w.-]*)$/i
/** First parts of the Hub's paths that are no owners. */
const NOT_OWNERS = ['spaces', 'datasets', 'models', 'api', 'docs', 'blog', 'collections', 'papers', 'settings', 'organizations', 'tasks', 'posts']
const SPACE_FORM = 'Paste the address of a Space: owner/name, or huggingface.co/spaces/owner/name.'
const FORMS = 'Paste a Space (owner/name or its page), or a server address such as localhost:8000 or wss://example.org/ws.'

const refuse = (message: string, advice = FORMS) => new PlaygroundError('config', message, advice)
const quote = (text: string) => `"${text.length > 60 ? `${cutText(text, 60)}…` : text}"`

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

/** 'owner-name' of owner-name.hf.space; null for every other host. */
export function spaceSubdomain(host: string): string | null {
  return /^([a-z0-9-]+)\.hf\.space$/.exec(host)?.[1] ?? null
}

function fromSpace(owner: string, named: string): ServerAddress {
  const spaceId = `${owner}/${named.replace(/\.git$/, '')}`
  if (!SPACE_ID.test(spaceId)) throw refuse(`${quote(spaceId)} is no id of a Space.`, SPACE_FORM)
  const host = spaceHost(spaceId)
  return { ws: `wss://${host}/ws`, http: `https://${host}`, host, spaceId, loopback: false }
}

function refuseImages(text: string): void {
  const bare = text.replace(/^\w+:\/\//, '')
  const [first = '', rest = ''] = bare.split('/')
  const tagged = !text.includes('://') && /^[\w.-]+(\/[\w.-]+)*:[a-z_][\w.-]*$/i.test(bare)
  if (!tagged && !IMAGE_HOSTS.includes(first.toLowerCase())) return
  const own = 'Start it (docker run -p 8000:8000 …) and paste localhost:8000'
  // The registry of the Spaces names its images as the hosts that run them.
  const space = first.toLowerCase() === 'registry.hf.space' ? rest.replace(/:.*$/, '').toLowerCase() : ''
  throw refuse(
    `${quote(text)} is the name of a Docker image, not of a running server.`,
    space === '' ? `${own}.` : `${own}, or paste the Space that runs it: ${space}.hf.space.`,
  )
}

/** A Space by its path on the Hub, without the host. Throws for models, datasets and every other page. */
function fromHubPath(path: string, shown: string): ServerAddress {
  const [first = '', second, third, fourth] = path.split('/').filter((part) => part !== '')
  if (first === 'spaces' && second !== undefined && third !== undefined) return fromSpace(second, third)
  if (first === 'api' && second === 'spaces' && third !== undefined && fourth !== undefined) return fromSpace(third, fourth)
  if (first === 'spaces') throw refuse(`${quote(shown)} names no Space.`, SPACE_FORM)
  if (first === 'datasets') throw refuse(`${quote(shown)} is a dataset, which plays no episodes.`, SPACE_FORM)
  if (second !== undefined && (first === 'models' || !NOT_OWNERS.includes(first))) {
    throw refuse(`${quote(shown)} is a model, not an environment.`, `Choose models under Model. ${SPACE_FORM}`)
  }
  throw refuse(`${quote(shown)} is a page of the Hub, but not a Space.`, SPACE_FORM)
}

/** The Space that a text without a scheme names as owner/name or spaces/owner/name; null where it is something else. */
function fromId(text: string): ServerAddress | null {
  const bare = text.replace(/\/+$/, '')
  const [owner = '', name = ''] = bare.split('/')
  if (/^(spaces|datasets|models)\//i.test(bare)) return fromHubPath(bare, text)
  if (!SPACE_ID.test(bare) || owner.toLowerCase() === 'localhost') return null
  refuseHostWithoutPort(owner, name, bare)
  return fromSpace(owner, name)
}

/** Throws for what has the form of a Space's id and is a server's address with a part missing: 8000/ws, localhost8000/ws, my-server/ws. */
function refuseHostWithoutPort(owner: string, name: string, text: string): void {
  const page = `A Space of this name is taken by the address of its page, huggingface.co/spaces/${text}.`
  const port = Number(/^(?:localhost[-_]?)?(\d+)$/i.exec(owner)?.[1] ?? Number.NaN)
  if (Number.isInteger(port)) {
    const meant = port > 0 && port <= 65535 ? `Did you mean localhost:${port}? ` : ''
    throw refuse(`${quote(text)} reads like a port without its host, not like a Space.`, `${meant}${page}`)
  }
  if (!ROUTE.test(`/${name}`)) return
  throw refuse(
    `${quote(text)} reads like the route /${name.toLowerCase()} of a server ${quote(owner)}, which is no whole host.`,
    `Write its domain or port, such as localhost:8000/${name.toLowerCase()} or wss://example.org/${name.toLowerCase()}. ${page}`,
  )
}

function parseUrl(text: string, scheme: string | null): URL {
  try {
    // http and https parse alike everywhere; the real scheme is decided later.
    const url = new URL(scheme === null ? `http://${text}` : text.replace(/^[a-z+]+/i, scheme === 'ws' || scheme === 'http' ? 'http' : 'https'))
    if (scheme === null && !/^(\[[\da-f:]+\]|[\da-z.-]+)$/i.test(url.hostname)) throw new TypeError('Invalid host')
    return url
  } catch {
    throw refuse(`${quote(text.split(/[?#]/)[0] ?? '')} is not an address.`)
  }
}

/** `http://` in front of `http://`, as when a page's address is pasted behind a scheme that was typed. */
function refuseTwoSchemes(text: string): void {
  const [twice, first] = /^([a-z][a-z0-9+.-]*:\/\/+)(https?|wss?):?\/\//i.exec(text) ?? []
  // The rest is not repeated, as it may hold a password.
  if (twice !== undefined) throw refuse(`The address starts with two schemes: ${twice}`, `Leave out the first one, ${first ?? ''}.`)
}

/** hf.space itself served Spaces under /embed once; now each has a host of its own. */
function refuseOldEmbed({ hostname, pathname }: URL): void {
  if (hostname !== 'hf.space' && hostname !== 'www.hf.space') return
  const [, owner, name] = /^\/embed\/([^/]+)\/([^/]+)/.exec(pathname) ?? []
  const advice = owner !== undefined && name !== undefined && SPACE_ID.test(`${owner}/${name}`) ? `Paste the Space itself: ${owner}/${name}.` : SPACE_FORM
  throw refuse(`${quote(`${hostname}${pathname}`)} is an address of a form that Spaces no longer have.`, advice)
}

/** Throws for a host that URLs read as another IPv4 address than was written: 8000 is 0.0.31.64, and 010.0.0.1 is 8.0.0.1. */
function refuseRewritten(text: string, url: URL): void {
  if (!/^\d+(\.\d+){3}$/.test(url.hostname)) return
  const written = text.replace(/^[a-z][a-z0-9+.-]*:\/\/+/i, '').split(/[/\\?#:]/)[0] ?? ''
  if (written === url.hostname) return
  const port = url.port === '' ? Number(written) : Number(url.port)
  const bare = /^\d+$/.test(written) && port > 0 && port <= 65535
  throw refuse(
    `${quote(written)} is no full IPv4 address: browsers would take it for ${url.hostname}.`,
    bare ? `Did you mean localhost:${port}?` : 'Write all four numbers, without leading zeros, such as 192.168.1.20:8000, or a name such as localhost:8000.',
  )
}

/**
 * Reads a pasted address. ws is taken for loopback and private-network hosts unless https or wss was written, and where ws, or http with
 * a port, was written; else wss. Query and fragment are dropped. `pageProtocol` is location.protocol where there is a page.
 * Throws PlaygroundError('config') with a sentence for what cannot be a server or what a browser would block.
 */
export function parseServerUrl(pasted: string, pageProtocol?: string): ServerAddress {
  // pip installs an environment from a Space by this form.
  const text = pasted.trim().replace(/^git\+(?=https?:\/\/)/i, '')
  if (text === '') throw refuse('No server address was given.')
  refuseImages(text)
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase() ?? null
  const space = scheme === null ? fromId(text) : null
  if (space !== null) return space
  if (scheme !== null && !['ws', 'wss', 'http', 'https'].includes(scheme)) {
    throw refuse(`"${scheme}://" is not a way to reach an OpenEnv server.`)
  }
  refuseTwoSchemes(text)
  const url = parseUrl(text, scheme)
  // Not repeated in the sentence: it holds a password.
  if (url.username !== '' || url.password !== '')
    throw refuse('The address holds a user name or password, which a browser cannot send to a socket.')
  refuseRewritten(text, url)
  if (HUB_HOSTS.includes(url.hostname)) return fromHubPath(url.pathname, `${url.host}${url.pathname}`)
  refuseOldEmbed(url)

  // Servers print 0.0.0.0 or [::] as their address; it means "all of this machine" and cannot be connected to everywhere.
  const hostname = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }[url.hostname] ?? url.hostname
  const loopback = isLoopback(hostname)
  if (!loopback && scheme === null && !hostname.includes('.')) throw refuse(`${quote(text)} is not an address: it has no domain.`)
  // /ws/ws is what comes of adding the route to an address that has it.
  const path = url.pathname.replace(/(\/ws)+\/?$/i, '/ws').replace(ROUTE, '').replace(/\/+$/, '')
  // Spaces are served on 443 alone, whatever port their app listens on.
  if (spaceSubdomain(hostname) !== null) {
    return { ws: `wss://${hostname}${path}/ws`, http: `https://${hostname}${path}`, host: hostname, spaceId: null, loopback }
  }
  const unsaid = loopback || isPrivate(hostname)
  const plain = scheme === 'ws' || (scheme === null && unsaid) || (scheme === 'http' && (unsaid || url.port !== ''))
  if (plain && !loopback && pageProtocol === 'https:') {
    throw refuse(
      `This page is served over https, and browsers then refuse the unencrypted ws://${url.host}.`,
      'Serve the environment over wss (a Space does), run it on this machine, or open this page over http.',
    )
  }
  const host = url.port === '' ? hostname : `${hostname}:${url.port}`
  return { ws: `${plain ? 'ws' : 'wss'}://${host}${path}/ws`, http: `${plain ? 'http' : 'https'}://${host}${path}`, host, spaceId: null, loopback }
}
