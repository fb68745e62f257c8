// @vitest-environment happy-dom
/** The words about the network and a new version, and that a run cannot be reloaded away. */

import { act } from 'react'
import { afterEach, expect, it, vi } from 'vitest'
import { StoresProvider } from '../../store/hooks'
import { followNetwork, siteStore } from '../../store/site-store'
import { engineMessages } from '../../store/testing/script'
import { mount } from '../testing/mount'
import { SiteNotices } from './SiteNotices'

afterEach(() => act(() => siteStore.setState({ update: null, offline: false, untrusted: false })))

const open = () =>
  mount((stores) => (
    <StoresProvider stores={stores}>
      <SiteNotices />
    </StoresProvider>
  ))

it('is silent when there is nothing to say', async () => {
  const { host } = await open()
  expect(host.textContent).toBe('')
})

it('follows the network', async () => {
  const { find } = await open()
  const network = Object.assign(new EventTarget(), { navigator: { onLine: false }, isSecureContext: true })
  await act(async () => followNetwork(network as unknown as Window))
  expect(find('offline')?.textContent).toBe('Offline')
  expect(find('offline-says')?.textContent).toContain('OpenEnv servers elsewhere, signing in and publishing need a network')
  network.navigator.onLine = true
  await act(async () => network.dispatchEvent(new Event('online')))
  expect(find('offline')).toBeNull()
})

it('says what a page over plain http lacks', async () => {
  const { find } = await open()
  const network = Object.assign(new EventTarget(), { navigator: { onLine: true }, isSecureContext: false })
  await act(async () => followNetwork(network as unknown as Window))
  expect(find('untrusted')?.textContent).toBe('No https')
  expect(find('untrusted-says')?.textContent).toContain('at localhost on the machine that serves it')
})

it('offers a new version, but not in the middle of a run', async () => {
  const update = vi.fn()
  const { find, press, say } = await open()
  await act(async () => siteStore.setState({ update }))
  await say(...engineMessages(), { type: 'state', state: { state: 'running', until: 'limit' } })
  expect(find('update-reload')?.disabled).toBe(true)
  expect(find('update-says')?.textContent).toContain('when the run is paused or has ended')
  await press('update-reload')
  expect(update).not.toHaveBeenCalled()
  await say({ type: 'state', state: { state: 'paused', step: 3 } })
  await press('update-reload')
  expect(update).toHaveBeenCalledTimes(1)
})
