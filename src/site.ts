/** Joins the page and its service worker: when it is registered, when the files are kept, when a reload would lose nothing. */

import { startServiceWorker } from './service-worker/page'
import { isFresh } from './store/controller'
import type { Stores } from './store/hooks'
import { followNetwork, siteStore } from './store/site-store'
import type { RunView } from './store/view'
import { DURATIONS } from './ui/durations'

/** Starts the service worker of a built page. The development server has none: it would answer with yesterday's program. */
export function keepSite({ run }: Stores, cameBack: boolean): void {
  followNetwork()
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return
  // A sign-in that comes back from the Hub is not to be broken off: its answer holds once.
  let touched = cameBack
  for (const type of ['pointerdown', 'keydown']) addEventListener(type, () => (touched = true), { capture: true, once: true })
  const started = startServiceWorker({
    container: navigator.serviceWorker,
    url: new URL('sw.js', document.baseURI).href,
    isolated: crossOriginIsolated,
    framed: window.top !== window,
    memory: { getItem: (key) => sessionStorage.getItem(key), setItem: (key, value) => sessionStorage.setItem(key, value) },
    untouched: () => !touched && isUntouched(run.getState()),
    reload: () => location.reload(),
    onUpdate: (update) => siteStore.setState({ update }),
  })
  const { connection } = navigator as { connection?: { saveData?: boolean } }
  if (connection?.saveData) return void started.catch(noServiceWorker)
  // What this visit needs comes first; what is kept for the next one must not take its bandwidth.
  const later = () => new Promise((resolve) => setTimeout(resolve, DURATIONS.keepLater))
  void Promise.all([started, engineIsThere(run).then(later)]).then(([keep]) => keep(), noServiceWorker)
}

/** Nothing but the model's loading has begun. */
function isUntouched(view: RunView): boolean {
  return (view.run.state === 'loading' || view.run.state === 'ready') && isFresh(view)
}

/** Resolves when the model is loaded or has failed, or after a while. */
function engineIsThere(run: Stores['run']): Promise<void> {
  return new Promise((resolve) => {
    const stop = run.subscribe((view) => view.run.state !== 'loading' && done())
    const timer = setTimeout(done, DURATIONS.keepSite)
    function done() {
      stop()
      clearTimeout(timer)
      resolve()
    }
  })
}

function noServiceWorker(cause: unknown): void {
  console.info('The page is not kept for use without a network:', cause)
}
