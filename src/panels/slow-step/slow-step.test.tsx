// @vitest-environment happy-dom
import { act } from 'react'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { StoresProvider } from '../../store/hooks'
import { engineMessages, stepMessages } from '../../store/testing/script'
import type { Message } from '../../worker/protocol'
import { GroupPanel } from '../group/GroupPanel'
import { RewardsPanel } from '../rewards/RewardsPanel'
import { eventually, mount } from '../testing/mount'
import { BEATS } from './beats'

let still = false
beforeEach(() => {
  vi.stubGlobal('matchMedia', (query: string) => ({ matches: still && query.includes('reduced-motion'), addEventListener: () => {}, removeEventListener: () => {} }))
  Element.prototype.scrollIntoView ??= () => {}
})
afterEach(() => vi.unstubAllGlobals())

const state = (state: Extract<Message, { type: 'state' }>['state']): Message => ({ type: 'state', state })

async function open(...more: Message[]) {
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <GroupPanel />
      <RewardsPanel />
    </StoresProvider>
  ))
  await page.say(...engineMessages(), ...stepMessages(1, { groups: 1, size: 4, skill: () => 0.5 }), ...more)
  const find = <T extends HTMLElement = HTMLButtonElement>(id: string) => document.querySelector<T>(`[data-testid="${id}"]`)
  page.stores.setup.setState(({ config }) => ({ applied: config }))
  await page.press('watch-step')
  await eventually(() => expect(find('slow-step')).not.toBeNull())
  const press = (id: string) => act(async () => find(id)?.click())
  const key = (name: string) => act(async () => window.dispatchEvent(new KeyboardEvent('keydown', { key: name, cancelable: true })))
  return { ...page, find, press, key, part: () => find('slow-step')?.dataset['part'], caption: () => find('slow-caption')?.textContent ?? '' }
}

describe('the slow step', () => {
  it('with reduced motion waits at each part for the reader, and says the same', async () => {
    still = true
    const page = await open()
    expect(page.find('slow-hold')).toBeNull()
    const parts: (string | undefined)[] = []
    const captions: string[] = []
    for (const _ of BEATS) {
      parts.push(page.part())
      captions.push(page.caption())
      expect(document.documentElement.dataset['slow']).toBe(page.part())
      await page.press('slow-next')
    }
    expect(parts).toEqual(BEATS.map(({ id }) => id))
    expect(new Set(captions).size).toBe(BEATS.length)
    expect([page.find('slow-step'), document.documentElement.dataset['slow']]).toEqual([null, undefined])
  })

  it('plays by itself, is held by Space, moved by arrows and ended by Escape; everything is as before then', async () => {
    still = false
    const page = await open()
    expect(page.find('slow-hold')?.textContent).toBe('Hold')
    await page.key(' ')
    expect([page.find('slow-hold')?.textContent, document.documentElement.hasAttribute('data-slow-held')]).toEqual(['Go on', true])
    const panel = document.body.appendChild(document.createElement('div'))
    panel.innerHTML = '<section data-testid="panel-trajectory"><p class="message"><i data-mask="0"></i></p><p class="message" id="own"><i data-mask="1"></i></p></section>'
    for (const _ of [1, 2, 3, 4]) await page.key('ArrowRight')
    // What the sentence speaks of is brought into view, the first tokens of the model, and nothing flies while it is held.
    expect(document.querySelector('[data-slow-shown]')?.id).toBe('own')
    expect(document.querySelectorAll('.slow-flight')).toHaveLength(0)
    panel.remove()
    expect([page.part(), page.stores.display.getState().heat]).toEqual(['tokens', 'advantage'])
    expect(page.stores.selection.getState().step).toBe(1)
    await page.key('ArrowLeft')
    expect(page.part()).toBe('advantages')
    await page.key('Escape')
    expect(page.find('slow-step')).toBeNull()
    expect(page.stores.selection.getState()).toMatchObject({ step: null, episode: 0, token: null })
    expect(page.stores.display.getState().heat).toBe('author')
    expect(document.querySelectorAll('[data-slow-lit], .slow-flight')).toHaveLength(0)
  })

  it('holds a run that goes on, says so, and lets it go on afterwards', async () => {
    still = true
    const page = await open(state({ state: 'running', until: 'limit' }))
    expect(page.port.sent.at(-1)).toEqual({ type: 'pause' })
    expect(page.find('slow-step')?.textContent).toContain('The run is paused meanwhile.')
    await page.say(state({ state: 'paused', step: 1 }))
    await page.press('slow-skip')
    expect(page.port.sent.at(-1)).toEqual({ type: 'train' })
  })

  it('lets a run go on also when its pause comes only after the end', async () => {
    still = true
    const page = await open(state({ state: 'running', until: 'limit' }), state({ state: 'pausing' }))
    await page.press('slow-skip')
    expect(page.port.sent.at(-1)?.type).not.toBe('train')
    await page.say(state({ state: 'paused', step: 1 }))
    expect(page.port.sent.at(-1)).toEqual({ type: 'train' })
  })
})
