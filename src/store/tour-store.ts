/** The tour: whether it is open, at which question, and whether it is still to be offered. */

import { z } from 'zod/mini'
import { createStore, type StoreApi } from 'zustand/vanilla'
import { readKept, writeKept } from './kept'

const NAME = 'grpo-playground.tour'

/** 'new': never answered. 'later': not on this visit. 'taken': begun or finished. 'never': not asked again. */
const OFFERS = ['new', 'later', 'taken', 'never'] as const

const keptSchema = z.object({ at: z.int().check(z.gte(0), z.lte(20)), offer: z.enum(OFFERS) })

export interface TourView {
  open: boolean
  /** The question that is in view or that it goes on with, from 0. */
  at: number
  offer: (typeof OFFERS)[number]
}

export interface Tour {
  readonly store: StoreApi<TourView>
  /** Opens it where it was left. */
  start(): void
  goTo(at: number): void
  /** Closes it; it goes on from here. */
  close(): void
  /** All questions were read: it begins anew next time. */
  finish(): void
  notNow(): void
  never(): void
}

export function createTour(): Tour {
  const store = createStore<TourView>(() => ({ open: false, ...readKept(NAME, keptSchema, { at: 0, offer: 'new' }) }))
  const set = (change: Partial<TourView>) => {
    store.setState(change)
    const { at, offer } = store.getState()
    // "Not now" holds for this visit.
    writeKept(NAME, { at, offer: offer === 'later' ? 'new' : offer })
  }
  const taken = () => (store.getState().offer === 'never' ? 'never' : 'taken')
  return {
    store,
    start: () => set({ open: true, offer: taken() }),
    goTo: (at) => set({ at }),
    close: () => set({ open: false }),
    finish: () => set({ open: false, at: 0 }),
    notNow: () => set({ open: false, offer: 'later' }),
    never: () => set({ open: false, offer: 'never' }),
  }
}
