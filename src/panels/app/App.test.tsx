// @vitest-environment happy-dom
import { act } from 'react'
import { createRoot } from 'react-dom/client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createStores } from '../../store/create'
import { engineMessages, scriptedPort, stepMessages } from '../../store/testing/script'
import type { Message } from '../../worker/protocol'
import { eventually } from '../testing/mount'
import { App } from './App'

// recharts needs a real layout; the curves are looked at in a browser and read here as their table.
vi.mock('../curves/Chart', () => ({ default: () => null }))

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })

let unmount = () => {}
afterEach(() => act(() => unmount()))

/** The page over a scripted worker; messages show at once. */
async function open(messages: Message[] = [], hash = '') {
  const port = scriptedPort()
  const stores = createStores(port, hash, { now: () => performance.now(), schedule: (callback) => callback() })
  const host = document.body.appendChild(document.createElement('div'))
  const root = createRoot(host)
  unmount = () => {
    root.unmount()
    host.remove()
  }
  await act(async () => {
    root.render(<App stores={stores} />)
    stores.controller.start()
  })
  const say = (...more: Message[]) => act(async () => port.say(...more))
  await say(...messages)
  const find = (id: string) => host.querySelector<HTMLElement>(`[data-testid="${id}"]`)
  const text = (id: string) => find(id)?.textContent ?? ''
  const press = (id: string) => act(async () => find(id)?.click())
  return { port, stores, host, say, find, text, press }
}

const running: Message = { type: 'state', state: { state: 'running', until: 'limit' } }
const disabled = (element: HTMLElement | null) => (element as HTMLButtonElement | null)?.disabled

describe('the page', () => {
  it('while loading names the file; Train pressed then begins when it is there, unless Pause takes it back', async () => {
    const page = await open(engineMessages().slice(0, 1))
    expect(page.text('state-line')).toBe('Loading model.safetensors · 1.20 MB of 1.97 MB')
    expect(page.host.querySelector('progress')?.getAttribute('value')).toBe('1200000')
    await page.press('train')
    expect(page.text('state-line')).toBe('Loading model.safetensors · 1.20 MB of 1.97 MB · then it trains')
    expect([disabled(page.find('train')), disabled(page.find('step')), disabled(page.find('pause'))]).toEqual([true, true, false])
    await page.press('pause')
    expect(page.text('state-line')).toBe('Loading model.safetensors · 1.20 MB of 1.97 MB')
    await page.press('train')
    await page.say(...engineMessages().slice(1))
    expect(page.port.sent.map((c) => c.type)).toEqual(['configure', 'pause', 'train'])
  })

  it('when ready trains on a press, shows the badge, tools and an empty group', async () => {
    const page = await open(engineMessages(), '#v=1&env=lane&seed=7')
    expect(page.text('badge')).toContain('WASM × 2')
    expect(page.text('badge')).toContain('seed 7')
    expect(page.text('tools')).toContain('lane_change(direction)')
    expect(page.text('episode-7')).toContain('not started')
    expect(page.host.querySelector('.scene.coming')?.textContent).toBe('An episode draws its scene here while it is played.')
    await page.press('train')
    expect(page.port.sent.map((c) => c.type)).toEqual(['configure', 'train'])
  })

  it('while running can only pause, and shows episodes with words beside the marks', async () => {
    const page = await open([...engineMessages(), running, ...stepMessages(1, { broken: 3, skill: () => 0.5 })])
    expect([disabled(page.find('train')), disabled(page.find('step')), disabled(page.find('pause'))]).toEqual([true, true, false])
    expect(page.text('episode-3')).toContain('server failed')
    const kinds = new Set(Array.from({ length: 8 }, (_, i) => page.find(`episode-${i}`)?.dataset['outcome']))
    expect(kinds).toEqual(new Set(['success', 'failure', 'unscorable']))
    expect(page.text('advantages')).toMatch(/▲\+\d/)
    expect(page.text('advantages')).toMatch(/▼−\d/)
    expect(page.text('metrics')).toContain('grad_norm')
    await page.press('pause')
    expect(page.port.sent.at(-1)).toEqual({ type: 'pause' })
  })

  it('stops waiting for an environment by Pause, and connects again by Reset', async () => {
    const page = await open([{ type: 'state', state: { state: 'loading', what: 'environment', done: 0, total: null, detail: 'Space a/b is starting · 3 s' } }])
    expect(page.find('pause')?.title).toBe('Stop waiting for the environment')
    expect(disabled(page.find('reset'))).toBe(true)
    await page.press('pause')
    expect(page.port.sent.at(-1)).toEqual({ type: 'pause-load' })
    await page.say({ type: 'state', state: { state: 'load-paused', done: 0, total: null, what: 'environment' } })
    expect(page.text('state-line')).toContain('Stopped waiting for the environment')
    expect([disabled(page.find('pause')), disabled(page.find('train'))]).toEqual([true, true])
    const before = page.port.sent.length
    await page.press('reset')
    expect(page.port.sent.slice(before).map((c) => c.type)).toEqual(['configure'])
    // A download is paused beside its bytes, as before.
    await page.say({ type: 'state', state: { state: 'loading', what: 'model.safetensors', done: 1, total: 2 } })
    expect(disabled(page.find('pause'))).toBe(true)
  })

  it('says "no signal" when all rewards of a group are equal', async () => {
    const page = await open([...engineMessages(), running, ...stepMessages(1, { skill: () => 1 })])
    expect(page.text('no-signal')).toBe('no signal')
    expect(page.text('advantages')).not.toMatch(/[▲▼]/)
  })

  it('draws the tokens with author and mask, prompt collapsed, and shows a token that is pressed', async () => {
    const page = await open([...engineMessages(), running, ...stepMessages(1)])
    const tokens = () => [...page.host.querySelectorAll<HTMLElement>('[data-testid="token"]')]
    expect(tokens().every((t) => (t.dataset['author'] === 'model') === (t.dataset['mask'] === '1'))).toBe(true)
    const before = tokens().length
    await page.press('toggle-prompt')
    expect(tokens().length).toBeGreaterThan(before + 100)
    await act(async () =>
      tokens()
        .find((t) => t.dataset['author'] === 'model')
        ?.click(),
    )
    expect(page.text('token-card')).toContain('log-prob (trainer)')
    expect(page.stores.selection.getState().token).not.toBeNull()
  })

  it('draws text of an environment as text', async () => {
    const nasty = '<img src=x onerror=alert(1)>'
    const page = await open([
      ...engineMessages(),
      { type: 'event', event: { type: 'step-started', step: 1, episodes: 2, groups: 1 } },
      { type: 'event', event: { type: 'episode-started', step: 1, index: 0, group: 0, seed: 1, prompt: [] } },
      {
        type: 'event',
        event: { type: 'tokens', step: 1, index: 0, tokens: [{ id: 1, text: nasty, author: 'environment', logprob: null, top: null }] },
      },
    ])
    expect(page.host.querySelector('img')).toBeNull()
    expect(page.text('token')).toBe(nasty)
  })

  it('when failed says what happened and what to do, as an alert, and offers Reset', async () => {
    const failed: Message = {
      type: 'state',
      state: { state: 'failed', error: 'The gradient is not finite.', advice: 'Lower learning_rate.', recoverable: true },
    }
    const page = await open([...engineMessages(), running, failed])
    expect(page.find('failure')?.getAttribute('role')).toBe('alert')
    expect(page.text('failure')).toBe('The gradient is not finite. Lower learning_rate.')
    // With the bar, which does not scroll away.
    expect(page.find('failure')?.closest('.head')?.contains(page.find('train'))).toBe(true)
    await page.press('reset')
    expect(page.port.sent.at(-1)?.type).toBe('reset')
    // What was mended counts from Reset on: Train would meet the same failure.
    await page.say(...stepMessages(1).slice(0, 2), failed)
    await act(async () => page.stores.controller.edit((c) => ({ ...c, grpo: { ...c.grpo, learning_rate: 0.0005 } })))
    expect(page.text('failure')).toContain('Lower learning_rate. The settings were changed since. Press Reset')
  })

  it('says how settings that were changed during a run take effect', async () => {
    const page = await open([...engineMessages(), running, ...stepMessages(1)])
    await act(async () => page.stores.controller.edit((c) => ({ ...c, grpo: { ...c.grpo, seed: 1 } })))
    expect(page.text('settings-changed')).toContain('press Reset')
  })

  it('opens a broken link with a sentence, not blank', async () => {
    const page = await open(engineMessages(), '#v=1&env=lane&top_p=2')
    expect(page.host.querySelector('[role="alert"]')?.textContent).toContain('top_p must be a number')
    expect(page.find('train')).not.toBeNull()
  })

  it('shows the curves as a table of the same numbers', async () => {
    const page = await open([...engineMessages(), ...stepMessages(1), ...stepMessages(2)])
    await page.press('curves-table')
    await eventually(() => expect(page.find('curve-table')?.querySelectorAll('tbody tr')).toHaveLength(2))
  })

  it('keeps the other panels when one cannot be drawn', async () => {
    const page = await open(engineMessages())
    const broken = {
      type: 'environment',
      spec: { kind: 'builtin', name: 'lane' },
      tools: [null],
      prompts: { system: '', user: '' },
      maxSessions: null,
    }
    const log = console.error
    console.error = () => {}
    await page.say(broken as unknown as Message)
    console.error = log
    expect(page.host.querySelector('.panel-task .crash')).not.toBeNull()
    expect(page.find('panel-curves')).not.toBeNull()
    expect(page.find('train')).not.toBeNull()
  })
})
