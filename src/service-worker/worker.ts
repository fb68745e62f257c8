/** The service worker: keeps the built site for use without a network, and isolates it on hosts that send no headers. */

import { isGone, visit } from './host'
import type { SiteCommand, SiteManifest } from './messages'
import { ownPath, SiteFiles } from './site-files'

/** Put here by the build, once for each time that it is named. */
declare const __SITE__: SiteManifest
const manifest = __SITE__

const worker = self as unknown as ServiceWorkerGlobalScope
const { registration, caches, clients } = worker
const { scope } = registration
const load = (url: string, init?: RequestInit) => fetch(url, init)
const site = new SiteFiles(manifest, { scope, caches, fetch: load })
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** How long a visitor waits for the host to say what it is, before the kept page is shown. Milliseconds, as below. */
const PATIENCE = 1000
/** How long tabs of this site, the one that is left among them, may take to close before their files are left to them. */
const TABS_CLOSE = 10_000

/** The address belongs to another program: nothing of it is answered from here any more. */
let left = false

worker.addEventListener('install', (event) => {
  // At the first visit isolation comes first, and the files when the page has what it needs. A new version is announced complete.
  event.waitUntil(registration.active ? site.keepAll() : worker.skipWaiting())
})

worker.addEventListener('activate', (event) => event.waitUntil(clients.claim()))

worker.addEventListener('fetch', (event) => {
  const { request } = event
  const path = ownPath(request, scope)
  if (left || path === null || !site.knows(path)) return
  const kept = () => site.answer(path, () => fetch(request))
  if (path !== '' || request.mode !== 'navigate') return event.respondWith(kept())
  const before = startPages()
  const { answer, gone } = visit({
    isGone: () => isGone({ scope, program: worker.location.href, entry: manifest.entry, fetch: load }),
    kept,
    fromHost: () => fetch(request),
    patience: () => sleep(PATIENCE),
  })
  event.respondWith(answer)
  event.waitUntil(gone.then(async ({ gone, shown }) => gone && (await leave(shown ? await before : null))))
})

worker.addEventListener('message', (event) => {
  const command = event.data as SiteCommand
  // What could not be kept is tried again at the next visit.
  event.waitUntil(command.type === 'keep' ? keep().catch(() => undefined) : worker.skipWaiting())
})

async function keep(): Promise<void> {
  await site.keepAll()
  // Another tab may run an older version, and a newer one may be on its way.
  const tabs = await clients.matchAll({ type: 'window', includeUncontrolled: true })
  if (tabs.length < 2 && !registration.waiting && !registration.installing) await site.forgetOthers()
}

/** Ids of the open tabs that show this site's start page. */
async function startPages(): Promise<string[]> {
  const tabs = await clients.matchAll({ type: 'window' })
  return tabs.filter(({ url }) => ownPath({ url, method: 'GET', headers: new Headers() }, scope) === '').map(({ id }) => id)
}

/**
 * Makes way for the program that the host has instead: the next visit does not come by here. What is kept goes with the last of
 * `tabs`, which may train still; null: the kept page has just been shown, and needs it.
 */
async function leave(tabs: readonly string[] | null): Promise<void> {
  left = tabs !== null
  await registration.unregister()
  if (tabs === null) return
  for (let waited = 0; waited < TABS_CLOSE; waited += 250) {
    const open = await startPages()
    if (!tabs.some((id) => open.includes(id))) return site.forgetAll()
    await sleep(250)
  }
}
