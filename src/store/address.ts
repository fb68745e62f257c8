/** Reads the address of an OpenEnv server as a person pastes it. */

import type { Read } from './settings'

/** ws, wss, http, https or a bare host:port; returns the text trimmed, or why it is refused. */
export function readAddress(text: string): Read<string> {
  const trimmed = text.trim()
  if (trimmed === '') return refuse(trimmed)
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed)
  if (hasScheme && !/^(wss?|https?):\/\//i.test(trimmed)) return refuse(trimmed)
  if (!URL.canParse(hasScheme ? trimmed : `ws://${trimmed}`)) return refuse(trimmed)
  const url = new URL(hasScheme ? trimmed : `ws://${trimmed}`)
  // Without a scheme only host:port or a dotted host is meant; "lane" is a typing error.
  if (!hasScheme && url.port === '' && !url.hostname.includes('.')) return refuse(trimmed)
  return url.hostname === '' || /\s/.test(trimmed) ? refuse(trimmed) : { ok: true, value: trimmed }
}

function refuse(text: string): Read<string> {
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text
  return { ok: false, why: `"${shown}" is not an address. Paste ws://host:port, wss://…, http(s)://… or host:port` }
}
