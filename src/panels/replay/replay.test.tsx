// @vitest-environment happy-dom

import { readFileSync } from 'node:fs'
import { act } from 'react'
import { beforeEach, expect, it, vi } from 'vitest'
import { RECORDED_RUN_PATH, startReplay } from '../../store/replay-start'
import { engineMessages, stepMessages } from '../../store/testing/script'
import { App } from '../app/App'
import { eventually, mount } from '../testing/mount'

const bytes = readFileSync(`public/${RECORDED_RUN_PATH}`)
/** The page draws nothing by itself here: what moves is moved by the test. */
beforeEach(() => vi.stubGlobal('requestAnimationFrame', () => 0))

async function open(still = false) {
  const page = await mount((stores) => <App stores={stores} />)
  await act(async () => startReplay(page.stores, page.port, { fetch: async () => new Uint8Array(bytes).buffer, still }))
  const text = (id: string) => page.find(id)?.textContent ?? ''
  return { ...page, text, scrub: page.find<HTMLInputElement>('replay-scrub') }
}

it('fills every panel before anything is loaded, and says that it is a recording', async () => {
  const page = await open(true)
  expect(page.text('state-line')).toBe('Recorded run · Starting the engine')
  expect(page.text('badge')).toContain('recorded run')
  expect(page.text('replay-bar')).toContain('All 20 steps are done')
  expect(page.text('tools')).toContain('lane_change(direction)')
  expect(page.find('episode-0')?.dataset['outcome']).toMatch(/success|failure|budget/)
  expect(page.text('advantages')).toMatch(/\d\.\d/)
  expect(page.find('metrics')?.querySelector('[data-metric="grad_norm"] dd')?.textContent).toMatch(/\d/)
  const tokens = [...page.host.querySelectorAll<HTMLElement>('[data-testid="token"]')]
  expect(tokens.some((token) => token.dataset['author'] === 'model' && token.dataset['mask'] === '1')).toBe(true)
  await eventually(() => expect(page.find('reward-curve')?.dataset['points']).toBe('20'))
})

it('is held and played, moved to any place, also by whole steps with the keyboard', async () => {
  const page = await open()
  expect([page.find('replay-bar')?.dataset['playing'], page.find('replay-play')?.getAttribute('aria-label')]).toEqual(['true', 'Hold the recorded run'])
  await page.press('replay-play')
  expect([page.find('replay-bar')?.dataset['playing'], page.find('replay-play')?.getAttribute('aria-label')]).toEqual(['false', 'Play the recorded run'])
  await page.type('replay-scrub', '1650')
  expect(page.scrub?.getAttribute('aria-valuetext')).toMatch(/^Step 17 · .* · of 20 steps$/)
  expect(page.stores.shown.getState().history).toHaveLength(16)
  const key = (key: string) => act(async () => page.scrub?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })))
  await key('PageUp')
  expect(page.text('replay-bar')).toContain('Step 17 · done')
  await key('PageDown')
  expect(page.text('replay-bar')).toContain('Step 16 · done')
  await page.type('replay-scrub', '0')
  expect(page.text('replay-bar')).toContain('Before the first step')
})

it('leaves the page to the run when one begins', async () => {
  const page = await open()
  await page.say(...engineMessages())
  expect(page.text('state-line')).toBe('Recorded run · press Train for yours')
  await page.press('train')
  await page.say({ type: 'state', state: { state: 'running', until: 'limit' } }, ...stepMessages(1))
  expect(page.find('replay-bar')).toBeNull()
  expect(page.text('badge')).not.toContain('recorded')
  expect(page.text('state-line')).toMatch(/^Step 1 · done/)
  await eventually(() => expect(page.find('reward-curve')?.dataset['points']).toBe('1'))
})
