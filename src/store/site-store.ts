/** What concerns the site itself: a new version that waits, whether there is a network, and whether the browser trusts the address. */

import { createStore } from 'zustand/vanilla'

export interface SiteView {
  /** Changes over to the new version and reloads this tab; null while there is none. */
  update: (() => void) | null
  /** The browser says that it has no network. */
  offline: boolean
  /** Opened over plain http from another machine: browsers keep threads, WebGPU and file storage from such a page. */
  untrusted: boolean
}

/** One for the page: there is one site, whatever runs on it. */
export const siteStore = createStore<SiteView>(() => ({ update: null, offline: false, untrusted: false }))

/** Follows what the browser says of its network and the page's address, for the life of the page. */
export function followNetwork(target: Window = window): void {
  const look = () => siteStore.setState({ offline: !target.navigator.onLine, untrusted: !target.isSecureContext })
  target.addEventListener('online', look)
  target.addEventListener('offline', look)
  look()
}
