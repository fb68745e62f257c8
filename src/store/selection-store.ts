/** What a person looks at: step, episode, token. The same everywhere on the page. */

import { createStore, type StoreApi } from 'zustand/vanilla'

export interface SelectionView {
  /** null = follow the newest step. */
  step: number | null
  /** Index of the episode in its step. */
  episode: number
  /** Position in the episode's tokens of the one that is kept in view. */
  token: number | null
  /** Index of the episode that the pointer or the keyboard rests on, wherever that is; in no link. */
  pointed?: number | null
}

export type SelectionStore = StoreApi<SelectionView>

export function createSelectionStore(episode = 0, token: number | null = null): SelectionStore {
  return createStore<SelectionView>(() => ({ step: null, episode, token }))
}
