// @vitest-environment happy-dom
import { act } from 'react'
import { describe, expect, it } from 'vitest'
import type { AppendedToken, TrainEvent } from '../../core/events'
import type { Display } from '../../store/display'
import { StoresProvider } from '../../store/hooks'
import { engineMessages, stepMessages } from '../../store/testing/script'
import { S } from '../../ui/strings'
import type { Message } from '../../worker/protocol'
import { eventually, mount } from '../testing/mount'
import { TrajectoryPanel } from './TrajectoryPanel'

const T = S.trajectory
const event = (e: TrainEvent): Message => ({ type: 'event', event: e })
const paused: Message = { type: 'state', state: { state: 'paused', step: 1 } }
const running: Message = { type: 'state', state: { state: 'running', until: 'limit' } }

async function open(messages: Message[], display: Partial<Display> = {}) {
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <TrajectoryPanel />
    </StoresProvider>
  ))
  await act(async () => page.stores.display.setState(display))
  await page.say(...engineMessages(), ...messages)
  const tokens = () => [...page.host.querySelectorAll<HTMLElement>('[data-testid="token"]')]
  const at = (position: number) => page.host.querySelector<HTMLElement>(`[data-position="${position}"]`)
  const key = (key: string, options = {}) => act(async () => void document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, ...options })))
  const legend = () => page.find<HTMLElement>('trajectory-legend')?.textContent ?? ''
  const focused = () => Number((document.activeElement as HTMLElement).dataset['position'])
  return { ...page, tokens, at, key, legend, focused }
}

const step = () => stepMessages(1, { groups: 1, size: 4, skill: () => 0.5 })

/** An episode that is being written: 20 tokens of prompt, then so many of the model's. */
function written(count: number): Message[] {
  const token = (i: number): AppendedToken => ({ id: i, text: i % 20 === 19 ? '.\n' : ' word', author: 'model', logprob: -1, top: null })
  const prompt = Array.from({ length: 20 }, (_, i): AppendedToken => ({ ...token(i), author: 'template', logprob: null }))
  return [
    event({ type: 'step-started', step: 1, episodes: 1, groups: 1 }),
    event({ type: 'episode-started', step: 1, index: 0, group: 0, seed: 1, prompt }),
    event({ type: 'tokens', step: 1, index: 0, tokens: Array.from({ length: count }, (_, i) => token(i)) }),
  ]
}

describe('the colours of the tokens', () => {
  it('have one scale with what it means, and no dead one: a ratio of exactly 1 is said', async () => {
    const page = await open([running, ...step(), paused], { heat: 'entropy' })
    expect(page.find('scale-legend')).not.toBeNull()
    expect(page.legend()).toContain(T.meaning.entropy)
    expect(page.tokens().some((token) => token.getAttribute('aria-label')?.endsWith(' nats'))).toBe(true)
    await act(async () => page.stores.display.setState({ heat: 'ratio' }))
    expect(page.find('scale-legend')).toBeNull()
    expect(page.legend()).toContain(T.without.sameRatio)
    expect(page.tokens().some((token) => /\d nats$/.test(token.getAttribute('aria-label') ?? ''))).toBe(false)
  })

  it('ask the model about the episode when a colour needs that and the run rests, once, and say what is going on', async () => {
    const page = await open([running, ...step()], { heat: 'kl' })
    const asked = () => page.port.sent.flatMap((command) => (command.type === 'examine' ? [command] : []))
    expect([page.legend().includes(T.without.busy), asked().length]).toEqual([true, 0])
    await page.press('legend-pause')
    expect(page.port.sent.at(-1)).toEqual({ type: 'pause' })
    await page.say(paused)
    expect([page.legend().includes(T.without.computing), asked().length]).toEqual([true, 1])
    const { requestId, sequences } = asked()[0] as ReturnType<typeof asked>[number]
    const zeros = (sequences[0]?.ids ?? []).map(() => 0)
    const examination = { logprobs: zeros.map((_, i) => -(i % 3)), entropies: zeros, baseLogprobs: zeros.map(() => -1), baseEntropies: zeros, version: 1 }
    await page.say({ type: 'examined', requestId, result: { ok: true, examinations: [examination] } })
    expect(page.legend()).toContain(T.meaning.kl)
    // This DOM does not know mixed colours; the value is read aloud, too.
    expect(page.tokens().every((token) => (token.dataset['mask'] === '1') === (token.getAttribute('aria-label')?.endsWith(' nats') ?? false))).toBe(true)
    await act(async () => page.stores.display.setState({ heat: 'change' }))
    expect(page.legend()).toContain(T.asOf(1))
    expect(asked()).toHaveLength(1)
    // The change is the way to its own largest.
    await page.press('jump-changed')
    expect(page.stores.selection.getState().token).not.toBeNull()
    expect(page.find<HTMLElement>('token-card')?.textContent).toContain(S.token.change)
  })

  it('give the sentence of a model that cannot answer', async () => {
    const page = await open([running, ...step(), paused], { heat: 'change' })
    await page.say({ type: 'examined', requestId: 1, result: { ok: false, error: 'All parameters are trained.' } })
    expect(page.legend()).toContain('All parameters are trained.')
  })
})

describe('a long episode', () => {
  it('is drawn in part until all is asked for, and the keyboard leads into what was not drawn', async () => {
    const page = await open(written(3000))
    // Nothing is near this window, which has no size; what Tab reaches is drawn nevertheless.
    const positions = () => page.tokens().map((token) => Number(token.dataset['position']))
    expect(positions().length).toBeLessThanOrEqual(128)
    expect(positions()[0]).toBe(20)
    expect(page.find('show-all')?.textContent).toBe(T.showAll(3020))
    expect(page.find('show-all')?.getAttribute('aria-expanded')).toBe('false')

    await act(async () => page.at(20)?.focus())
    await page.key('End', { ctrlKey: true })
    expect(page.focused()).toBe(3019)
    expect(page.at(3019)?.tabIndex).toBe(0)
    expect(positions().length).toBeLessThanOrEqual(128)
    expect(page.tokens().filter((token) => token.tabIndex === 0)).toHaveLength(1)
    await page.key('ArrowLeft')
    expect(page.focused()).toBe(3018)
    // Back at the beginning only the first part is drawn once more.
    await page.key('PageUp')
    expect(page.focused()).toBe(20)
    expect(page.find('show-all')?.getAttribute('aria-expanded')).toBe('false')
    await page.press('show-all')
    expect(page.find('show-all')?.textContent).toBe(T.showFewer)
  })

  it('shows a token that is kept elsewhere, wherever it is', async () => {
    const page = await open(written(3000))
    await act(async () => page.stores.selection.setState({ token: 2500 }))
    expect(page.at(2500)?.getAttribute('aria-pressed')).toBe('true')
    expect(page.find<HTMLElement>('token-card')?.textContent).toContain(S.token.position(2501, 3020))
  })
})

describe('the tip', () => {
  it('shows the numbers of the focused token, and goes on Escape', async () => {
    const page = await open([running, ...step(), paused])
    const first = page.tokens()[0]
    await act(async () => first?.focus())
    const tip = () => document.querySelector<HTMLElement>('[data-testid="token-tip"]')
    await eventually(() => expect(tip()?.textContent).toContain(S.token.samplerLogprob))
    expect(tip()?.querySelectorAll('.alternatives li').length).toBeGreaterThanOrEqual(5)
    expect(document.activeElement).toBe(first)
    await page.key('Escape')
    expect(tip()).toBeNull()
    // A kept token has its numbers in the card; a tip would say them twice.
    await page.key('Enter')
    expect(tip()).toBeNull()
    expect(page.find<HTMLElement>('token-card')).not.toBeNull()
  })
})

it('draws blanks as signs when they are asked for, and reads the same aloud', async () => {
  const page = await open([running, ...step(), paused])
  const spaced = () => page.tokens().find((token) => token.getAttribute('aria-label')?.startsWith('arg'))
  expect(page.tokens().some((token) => token.textContent?.includes('␣'))).toBe(false)
  const label = spaced()?.getAttribute('aria-label')
  await page.press('blanks')
  expect(page.tokens().some((token) => token.textContent?.includes('␣'))).toBe(true)
  expect(spaced()?.getAttribute('aria-label')).toBe(label)
})

it('reads as a chat: who speaks in each turn, its reward, and why it ended', async () => {
  const page = await open([running, ...step(), paused])
  const segments = [...page.host.querySelectorAll('.segment')]
  expect(segments.at(-1)?.querySelector('.said')?.textContent).toMatch(/^Turn \dreward [01]/)
  expect(segments.at(-1)?.querySelector('.role')?.textContent).toBe('model')
  expect(segments.every((segment) => segment.querySelector('[data-testid="turn-pictures"]') !== null)).toBe(true)
  expect(page.find<HTMLElement>('trajectory-end')?.textContent).toMatch(/^End: the environment ended it\. reward/)
  await page.press('toggle-prompt')
  expect([...page.host.querySelectorAll('.segment:first-child .role')].map((role) => role.textContent)).toEqual(['system', 'user', 'assistant'])
})
