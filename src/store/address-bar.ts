/** Keeps the page's address equal to its settings, and takes over a link that is opened in a running page. */

import { DURATIONS } from '../ui/durations'
import { DEFAULT_DISPLAY } from './display'
import type { Stores } from './hooks'
import { readLink, writeLink } from './link'

/** Follows the stores until the page is left. History gets no entries: settings are not places. */
export function followAddressBar({ setup, selection, display }: Stores): void {
  let written = location.hash
  let timer: ReturnType<typeof setTimeout> | undefined
  const write = () => {
    written = writeLink(setup.getState().config, selection.getState().episode, selection.getState().token, display.getState())
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
  window.addEventListener('hashchange', () => {
    if (location.hash === written) return
    const link = readLink(location.hash)
    const changedServer = link.config.environment.kind === 'openenv'
    setup.setState({ config: link.config, problems: link.problems, awaitsConsent: changedServer })
    selection.setState({ episode: link.episode, step: null, token: link.token ?? null })
    display.setState({ ...DEFAULT_DISPLAY, ...link.display }, true)
  })
}
