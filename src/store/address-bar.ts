/** Keeps the page's address equal to its settings, and takes over a link that is opened in a running page. */

import { asksForConsent } from '../core/environment-spec'
import { DURATIONS } from '../ui/durations'
import { DEFAULT_DISPLAY } from './display'
import type { Stores } from './hooks'
import { readLink } from './link'
import { linkNow } from './link-now'
import { goToPlace } from './place'
import { sameConfig } from './setup-store'

/** Follows the stores until the page is left. History gets no entries: settings are not places. */
export function followAddressBar(stores: Stores): void {
  const { setup, selection, display, replay, lessons, tour } = stores
  let written = location.hash
  let timer: ReturnType<typeof setTimeout> | undefined
  const write = () => {
    written = linkNow(stores)
    // Much of what is looked at is in no link.
    if (location.hash !== written) history.replaceState(null, '', written)
  }
  const later = () => {
    clearTimeout(timer)
    timer = setTimeout(write, DURATIONS.linkSettles)
  }
  setup.subscribe(later)
  selection.subscribe(later)
  display.subscribe(later)
  replay.store.subscribe((now, before) => {
    if (now.held !== before.held || (now.held && now.position !== before.position)) later()
  })
  window.addEventListener('hashchange', () => {
    if (location.hash === written) return
    const link = readLink(location.hash)
    const { config } = setup.getState()
    // It spoke of what was there before.
    if (tour.store.getState().open) tour.close()
    lessons.arrive(location.hash, link.display.lesson ?? null)
    // Settings that are the same leave what is shown alone.
    setup.setState({ config: sameConfig(config, link.config) ? config : link.config, problems: link.problems, awaitsConsent: asksForConsent(link.config) })
    selection.setState({ episode: link.episode, step: null, token: link.token ?? null })
    display.setState({ ...DEFAULT_DISPLAY, ...link.display }, true)
    goToPlace(stores, link)
  })
}
