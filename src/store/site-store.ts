/** What concerns the site itself: a new version that waits, and whether there is a network. */

import { createStore } from 'zustand/vanilla'

export interface SiteView {
  /** Changes over to the new version and reloads this tab; null while there is none. */
  update: (() => void) | null
  /** The browser says that it has no network. */
  offline: boolean
}

/** One for the page: there is one site, whatever runs on it. */
export const siteStore = createStore<SiteView>(() => ({ update: null, offline: false }))

/** Follows what the browser says of its network, for the life of the page. */
export function followNetwork(target: Window = window): void {
  const look = () => siteStore.setState({ offline: !target.navigator.onLine })
  target.addEventListener('online', look)
  target.addEventListener('offline', look)
  look()
}
