// @vitest-environment happy-dom
/** Every key of the table does what its line says; none where a person types or presses something else. */

import { act } from 'react'
import { beforeEach, expect, it, vi } from 'vitest'
import { StoresProvider } from '../../store/hooks'
import { engineMessages, stepMessages } from '../../store/testing/script'
import { type Shortcut, SHORTCUT_KEYS, SHORTCUTS } from '../../ui/shortcuts'
import { S } from '../../ui/strings'
import { mount } from '../testing/mount'
import { Bar } from './Bar'

beforeEach(() => {
  localStorage.clear()
  vi.stubGlobal('requestAnimationFrame', () => 0)
})

async function open() {
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <Bar />
      <main tabIndex={-1}>
        <input data-testid="text" />
        <input type="range" data-testid="range" />
        <span tabIndex={0} data-testid="token">
          a
        </span>
        <select data-testid="choice" />
      </main>
    </StoresProvider>
  ))
  await act(async () => page.stores.controller.start())
  await page.say(...engineMessages())
  page.port.sent.length = 0
  const key = async (name: string, { on = document.body, ...init }: { on?: Element | null } & KeyboardEventInit = {}) => {
    const event = new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true, ...init })
    await act(async () => void on?.dispatchEvent(event))
    return event.defaultPrevented
  }
  const press = ({ key: name, shift }: Shortcut) => key(shift ? name.toUpperCase() : name, { shiftKey: shift === true })
  const sent = () => page.port.sent.splice(0).map((command) => (command.type === 'step' ? `step ${command.grain}` : command.type))
  return { ...page, key, sent, do: (id: Shortcut['id']) => press(SHORTCUTS.find((each) => each.id === id) as Shortcut) }
}

const DOES: Record<Shortcut['id'], (page: Awaited<ReturnType<typeof open>>) => Promise<void> | void> = {
  'play-pause': (page) => expect(page.sent()).toEqual(['train']),
  'step-token': (page) => expect(page.sent()).toEqual(['step token']),
  'step-episode': (page) => expect(page.sent()).toEqual(['step episode']),
  'step-step': (page) => expect(page.sent()).toEqual(['step step']),
  reset: (page) => expect(page.sent()).toEqual(['reset']),
  'episode-after': (page) => expect(page.stores.selection.getState().episode).toBe(1),
  'episode-before': async (page) => {
    await page.do('episode-after')
    await page.do('episode-after')
    await page.do('episode-before')
    expect(page.stores.selection.getState().episode).toBe(1)
  },
  'group-after': (page) => expect(page.stores.selection.getState().episode).toBe(8),
  'group-before': (page) => expect(page.stores.selection.getState().episode).toBe(56),
  colour: (page) => expect(page.stores.display.getState().heat).toBe('logprob'),
  blanks: (page) => expect(page.stores.display.getState().blanks).toBe(true),
  sheet: async (page) => {
    await page.until('keys')
    for (const { id } of SHORTCUTS) expect(page.find('keys')?.textContent).toContain(S.controls.keys.words[id])
  },
}

it.each(SHORTCUTS.map((each) => [S.controls.keys.words[each.id], each] as const))('%s', async (_, { id }) => {
  const page = await open()
  expect(await page.do(id)).toBe(true)
  await DOES[id](page)
})

it('no two entries share a key', () => {
  expect(new Set(Object.values(SHORTCUT_KEYS)).size).toBe(SHORTCUTS.length)
})

it('a step by key is one press on the buttons, and they say their keys', async () => {
  const page = await open()
  expect(page.find('pause')?.getAttribute('aria-keyshortcuts')).toBe('Space')
  expect(page.find('step')?.getAttribute('aria-keyshortcuts')).toBe('. E S')
  await page.say({ type: 'state', state: { state: 'running', until: 'one-token' } })
  await page.key('.')
  await page.key('s', { repeat: true })
  expect(page.sent()).toEqual([])
  await page.say({ type: 'state', state: { state: 'paused', step: 0, at: 'token' } })
  await page.key('.', { repeat: true })
  await page.key('r', { repeat: true })
  expect(page.sent()).toEqual(['step token'])
})

it('keys belong to a field that takes text, Space also to what it presses or scrolls', async () => {
  const page = await open()
  for (const id of ['text', 'choice', 'grain']) expect(await page.key('s', { on: page.find(id) })).toBe(false)
  for (const id of ['text', 'token', 'train']) expect(await page.key(' ', { on: page.find(id) })).toBe(false)
  expect(page.sent()).toEqual([])
  expect(await page.key('s', { on: page.find('range') })).toBe(true)
  expect(await page.key('S', { on: page.find('token') })).toBe(true)
  expect(await page.key('s', { ctrlKey: true })).toBe(false)
  expect(await page.key('S', { shiftKey: true })).toBe(false)
  expect(page.sent()).toEqual(['step step', 'step step'])
})

it('are off when they are switched off, also after a reload, and on again', async () => {
  const page = await open()
  await page.do('sheet')
  await page.until('keys-on')
  await page.press('keys-on')
  expect(page.find('keys')?.textContent).toContain(S.controls.keys.off)
  await page.press('close-keys')
  await page.do('step-step')
  expect(page.sent()).toEqual([])
  page.unmount()
  const again = await open()
  await again.do('step-step')
  expect(again.sent()).toEqual([])
  await again.press('keys-open')
  await again.until('keys-on')
  await again.press('keys-on')
  await again.press('close-keys')
  await again.do('step-step')
  expect(again.sent()).toEqual(['step step'])
})

it('the episodes go on from group to group in the order in which they stand', async () => {
  const page = await open()
  await page.say(...stepMessages(1))
  page.stores.display.setState({ order: 'worst' })
  const episodes = () => page.stores.shown.getState().steps[0]?.episodes ?? []
  const worst = episodes().filter((e) => e.group === 0).toSorted((a, b) => (a.reward ?? 9) - (b.reward ?? 9) || a.index - b.index)
  await act(async () => page.stores.selection.setState({ episode: worst[0]?.index ?? -1 }))
  const walked = []
  for (let i = 0; i < 8; i++) {
    walked.push(page.stores.selection.getState().episode)
    await page.do('episode-after')
  }
  expect(walked).toEqual(worst.map(({ index }) => index))
  expect(Math.floor(page.stores.selection.getState().episode / 8)).toBe(1)
})
