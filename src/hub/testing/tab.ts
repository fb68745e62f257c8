/** A browser tab as signing in sees it, in place of Node's missing one: address, history, storage of its own. */

import { vi } from 'vitest'

export interface Tab {
  /** As the address bar shows it. */
  address(): string
  /** Opens an address in this tab; what is stored stays. */
  open(url: string): void
  /** What sessionStorage and localStorage hold, together. */
  storage(): Record<string, string>
}

function storage(values: Map<string, string>): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  }
}

/** Stands in until vi.unstubAllGlobals(). `framed`: shown inside another page. */
export function openTab(url: string, framed = false): Tab {
  const session = new Map<string, string>()
  const local = new Map<string, string>()
  let current = new URL(url)
  const location = {
    get href() { return current.href },
    get origin() { return current.origin },
    get pathname() { return current.pathname },
    get search() { return current.search },
    get hash() { return current.hash },
  }
  const window = { location, top: null as unknown }
  window.top = framed ? {} : window
  vi.stubGlobal('window', window)
  vi.stubGlobal('location', location)
  vi.stubGlobal('sessionStorage', storage(session))
  vi.stubGlobal('localStorage', storage(local))
  vi.stubGlobal('history', { state: null, replaceState: (_state: unknown, _title: string, path: string) => void (current = new URL(path, current)) })
  return {
    address: () => current.href,
    open: (next) => void (current = new URL(next)),
    storage: () => ({ ...Object.fromEntries(session), ...Object.fromEntries(local) }),
  }
}
