/** The page's side of the service worker: registers it, reloads once where that brings threads, tells of a new version. */

import type { SiteCommand } from './messages'

export interface SitePage {
  /** `navigator.serviceWorker`. */
  container: ServiceWorkerContainer
  /** Address of the service worker's program, in the site's folder. */
  url: string
  /** `crossOriginIsolated`. */
  isolated: boolean
  /** Whether the page stands in another page's frame: only that page could isolate it. */
  framed: boolean
  /** Remembers the one reload for the life of the tab. */
  memory: Pick<Storage, 'getItem' | 'setItem'>
  /** Whether nothing would be lost by a reload that nobody asked for. */
  untouched: () => boolean
  reload: () => void
  /** A new version is complete; the argument changes over to it and reloads this tab. */
  onUpdate: (takeOver: () => void) => void
}

const RELOADED = 'grpo-playground-isolated'

/**
 * Registers the service worker. Resolves with what asks it to keep the site for use without a network; rejects where the
 * browser refuses (private windows, storage turned off): the page works without.
 */
export async function startServiceWorker(page: SitePage): Promise<() => void> {
  const { container } = page
  const controlled = container.controller !== null
  let takingOver = false
  container.addEventListener('controllerchange', () => {
    if (takingOver) page.reload()
    else if (!controlled) isolateOnce(page)
  })
  const registration = await container.register(page.url)
  const announce = (waiting: ServiceWorker) =>
    page.onUpdate(() => {
      takingOver = true
      tell(waiting, { type: 'take-over' })
    })
  if (registration.waiting && registration.active) announce(registration.waiting)
  registration.addEventListener('updatefound', () => {
    const { installing } = registration
    installing?.addEventListener('statechange', () => {
      // Without another that is active it is the first version, which takes over by itself.
      if (installing.state === 'installed' && registration.active) announce(installing)
    })
  })
  return () => {
    void container.ready.then(({ active }) => active && tell(active, { type: 'keep' }))
  }
}

function tell(worker: ServiceWorker, command: SiteCommand): void {
  worker.postMessage(command)
}

/** The service worker has just come and answers the next load with the isolation headers. */
function isolateOnce({ isolated, framed, memory, untouched, reload }: SitePage): void {
  if (isolated || framed || !untouched()) return
  try {
    if (memory.getItem(RELOADED) !== null) return
    memory.setItem(RELOADED, '1')
    // Only what is remembered for certain can happen only once.
    if (memory.getItem(RELOADED) === null) return
  } catch {
    return
  }
  reload()
}
