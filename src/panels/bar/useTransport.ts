/** The controls as they stand, drawn anew only when one of them changes. */

import { useMemo, useSyncExternalStore } from 'react'
import { type Stores, useStores } from '../../store/hooks'
import { type Transport, transportOf } from '../../store/transport'

export function useTransport(): Transport {
  const stores = useStores()
  const { subscribe, read } = useMemo(() => transportStore(stores), [stores])
  return useSyncExternalStore(subscribe, read)
}

function transportStore(stores: Stores) {
  let last = transportOf(stores)
  let text = JSON.stringify(last)
  return {
    read() {
      const now = transportOf(stores)
      const said = JSON.stringify(now)
      if (said !== text) [last, text] = [now, said]
      return last
    },
    subscribe(listener: () => void) {
      const { run, setup, models, runs, replay } = stores
      const stops = [run, setup, models, runs.store, replay.store].map((store: { subscribe: (hear: () => void) => () => void }) => store.subscribe(listener))
      return () => stops.forEach((stop) => stop())
    },
  }
}
