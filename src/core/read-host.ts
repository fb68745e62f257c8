/** A host as a person types it, for the grant of network: an origin, or one sentence on what is wrong. */

import { isHost, LONGEST_HOST } from './network-hosts'

export type ReadHost = { ok: true; value: string } | { ok: false; why: string }

/** https://name or https://name:port; http for this computer alone. `value` is as `isHost` wants it, `why` a whole sentence. */
export function readHost(typed: string): ReadHost {
  const text = typed.trim()
  const shown = `"${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`
  const no = (why: string): ReadHost => ({ ok: false, why: `${shown} ${why}` })
  if (text === '') return { ok: false, why: 'Write a host, such as https://api.example.org.' }
  if (text.length > LONGEST_HOST) return no(`is too long: a host has at most ${LONGEST_HOST} characters.`)
  if (/[\s;,'"]/.test(text)) return no('has a space, comma, semicolon or quotation mark: write one host at a time, such as https://api.example.org.')
  if (text.includes('*')) return no('has a *: every host is named by itself.')
  if (/^(ws|wss):/i.test(text)) return no('is a WebSocket: code in the sandbox has none. Name an https host.')
  if (/^(localhost|127\.0\.0\.1)(:\d+)?$/i.test(text)) return no(`does not begin with http://, as in http://${text}${text.includes(':') ? '' : ':8000'}.`)
  if (!/^https?:\/\//i.test(text)) return no('does not begin with https://, as in https://api.example.org.')
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url) return no('is no host: write it as https://api.example.org or https://api.example.org:8443.')
  if (url.username !== '' || url.password !== '' || text.includes('@')) return no('holds a user name or password: name the host alone.')
  if (url.pathname !== '/' || /[?#\\]/.test(text)) return no(`names a place on the host: a grant is for a whole host. Write ${url.origin}.`)
  if (isHost(url.origin)) return { ok: true, value: url.origin }
  if (isHost(`${url.origin}:8000`)) return no(`needs a port, such as ${url.origin}:8000: without one, browsers let the code reach https there, too.`)
  if (isHost(url.origin.replace('http:', 'https:'))) return no('is without https: http is for localhost and 127.0.0.1 alone.')
  return no('has a name that a browser’s policy cannot hold: letters, digits, - and dots, no IPv6 address.')
}
