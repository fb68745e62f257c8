/** The page as it is now, as a link. */

import type { Stores } from './hooks'
import { type LinkPlace, writeLink } from './link'

type Linked = Pick<Stores, 'setup' | 'selection' | 'display' | 'replay'>

/** The hash of the page's settings, what is selected, how it is shown, and where a run or its recording is looked at. */
export function linkNow({ setup, selection, display, replay }: Linked): string {
  const { step, episode, token } = selection.getState()
  const { state, playing, held, position } = replay.store.getState()
  const place: LinkPlace = { ...(step !== null && { step }), ...(state === 'on' && held && !playing && { at: position }) }
  return writeLink(setup.getState().config, episode, token, display.getState(), place)
}

/** The same as an address to give away. */
export const addressNow = (stores: Linked): string => new URL(linkNow(stores), location.href).href
