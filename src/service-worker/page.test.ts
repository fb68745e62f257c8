/** When the page reloads by itself (once, and only where it helps and costs nothing), and when it tells of a new version. */

import { expect, it, vi } from 'vitest'
import { startServiceWorker, type SitePage } from './page'

/** A browser's side of service workers, driven by hand. */
function browser({ controlled = false, refuse = false } = {}) {
  const registration = Object.assign(new EventTarget(), {
    active: controlled ? worker() : null,
    waiting: null as ReturnType<typeof worker> | null,
    installing: null as ReturnType<typeof worker> | null,
  })
  const container = Object.assign(new EventTarget(), {
    controller: controlled ? {} : null,
    ready: Promise.resolve(registration),
    register: refuse ? () => Promise.reject(new DOMException('no storage', 'SecurityError')) : () => Promise.resolve(registration),
  })
  return { registration, container, change: () => container.dispatchEvent(new Event('controllerchange')) }
}

function worker() {
  return Object.assign(new EventTarget(), { state: 'installing', postMessage: vi.fn() })
}

function page(container: unknown, rest: Partial<SitePage> = {}) {
  const kept = new Map<string, string>()
  const memory = { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => void kept.set(key, value) }
  const reload = vi.fn()
  const onUpdate = vi.fn<(takeOver: () => void) => void>()
  const given: SitePage = { container: container as ServiceWorkerContainer, url: 'sw.js', isolated: false, framed: false, memory, untouched: () => true, reload, onUpdate, ...rest }
  return { given, reload, onUpdate }
}

it('reloads once when the service worker comes, and never again in this tab', async () => {
  const first = browser()
  const { given, reload } = page(first.container)
  await startServiceWorker(given)
  expect(reload).not.toHaveBeenCalled()
  first.change()
  expect(reload).toHaveBeenCalledTimes(1)
  // The same tab after the reload, on a host or browser where it did not help.
  const second = browser()
  await startServiceWorker({ ...given, container: second.container as unknown as ServiceWorkerContainer })
  second.change()
  first.change()
  expect(reload).toHaveBeenCalledTimes(1)
})

it.each<[string, Partial<SitePage>]>([
  ['that is isolated', { isolated: true }],
  ['in a frame', { framed: true }],
  ['that is in use', { untouched: () => false }],
  ['whose tab remembers nothing', { memory: { getItem: () => null, setItem: () => undefined } }],
  [
    'without storage',
    {
      memory: {
        getItem: () => {
          throw new DOMException('denied', 'SecurityError')
        },
        setItem: () => undefined,
      },
    },
  ],
])('does not reload a page %s', async (_, rest) => {
  const { container, change } = browser()
  const { given, reload } = page(container, rest)
  await startServiceWorker(given)
  change()
  expect(reload).not.toHaveBeenCalled()
})

it('does not reload a page when another tab changes over to a new version', async () => {
  const { container, change } = browser({ controlled: true })
  const { given, reload } = page(container)
  await startServiceWorker(given)
  change()
  expect(reload).not.toHaveBeenCalled()
})

it('tells of a new version when it is complete, and reloads when the person has changed over to it', async () => {
  const { container, registration, change } = browser({ controlled: true })
  const { given, reload, onUpdate } = page(container, { isolated: true })
  await startServiceWorker(given)
  const coming = worker()
  registration.installing = coming
  registration.dispatchEvent(new Event('updatefound'))
  coming.dispatchEvent(new Event('statechange'))
  expect(onUpdate).not.toHaveBeenCalled()
  coming.state = 'installed'
  coming.dispatchEvent(new Event('statechange'))
  expect(onUpdate).toHaveBeenCalledTimes(1)
  expect(coming.postMessage).not.toHaveBeenCalled()
  onUpdate.mock.calls[0]?.[0]()
  expect(coming.postMessage).toHaveBeenCalledWith({ type: 'take-over' })
  expect(reload).not.toHaveBeenCalled()
  change()
  expect(reload).toHaveBeenCalledTimes(1)
})

it('tells of a new version that waits since the last visit, but not of the first version', async () => {
  const later = browser({ controlled: true })
  later.registration.waiting = worker()
  const first = browser()
  const coming = worker()
  first.registration.installing = coming
  for (const [{ container, registration }, times] of [[later, 1], [first, 0]] as const) {
    const { given, onUpdate } = page(container)
    await startServiceWorker(given)
    registration.dispatchEvent(new Event('updatefound'))
    coming.state = 'installed'
    coming.dispatchEvent(new Event('statechange'))
    expect(onUpdate).toHaveBeenCalledTimes(times)
  }
})

it('asks the service worker to keep the site when it is told to, and not before', async () => {
  const { container, registration } = browser({ controlled: true })
  const keep = await startServiceWorker(page(container).given)
  expect(registration.active?.postMessage).not.toHaveBeenCalled()
  keep()
  await vi.waitFor(() => expect(registration.active?.postMessage).toHaveBeenCalledWith({ type: 'keep' }), 30_000)
})

it('rejects where the browser has no service workers for this page', async () => {
  const { given, reload } = page(browser({ refuse: true }).container)
  await expect(startServiceWorker(given)).rejects.toThrow('no storage')
  expect(reload).not.toHaveBeenCalled()
})
