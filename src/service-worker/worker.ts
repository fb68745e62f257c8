/** The service worker: keeps the built site for use without a network, and isolates it on hosts that send no headers. */

import type { SiteCommand, SiteManifest } from './messages'
import { ownPath, SiteFiles } from './site-files'

/** Put here by the build. */
declare const __SITE__: SiteManifest

const worker = self as unknown as ServiceWorkerGlobalScope
const { registration, caches, clients } = worker
const { scope } = registration
const site = new SiteFiles(__SITE__, { scope, caches, fetch: (url, init) => fetch(url, init) })

worker.addEventListener('install', (event) => {
  // At the first visit isolation comes first, and the files when the page has what it needs. A new version is announced complete.
  event.waitUntil(registration.active ? site.keepAll() : worker.skipWaiting())
})

worker.addEventListener('activate', (event) => event.waitUntil(clients.claim()))

worker.addEventListener('fetch', (event) => {
  const { request } = event
  const path = ownPath(request, scope)
  if (path !== null && site.knows(path)) event.respondWith(site.answer(path, () => fetch(request)))
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
