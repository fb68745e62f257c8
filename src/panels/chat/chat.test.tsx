// @vitest-environment happy-dom
import { act } from 'react'
import { beforeAll, describe, expect, it } from 'vitest'
import { StoresProvider } from '../../store/hooks'
import { engineMessages, stepMessages } from '../../store/testing/script'
import type { ChatToken, Message } from '../../worker/protocol'
import { mount } from '../testing/mount'
import { ChatPanel } from './ChatPanel'
import { fetchLater } from '../../ui/later'

// What is fetched when it is opened is here from the start.
beforeAll(fetchLater)

async function open(messages: Message[] = engineMessages()) {
  const page = await mount((stores) => <StoresProvider stores={stores}>{<ChatPanel />}</StoresProvider>)
  const { port, say, find, press } = page
  const key = (init: KeyboardEventInit) =>
    act(async () => find('chat-text')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, ...init })))
  await say(...messages)
  await press('chat-open')
  const asked = () => port.sent.flatMap((c) => (c.type === 'chat' ? [c] : []))
  const answer = (...tokens: ChatToken[]): Message => ({ type: 'chat-tokens', requestId: asked().at(-1)?.requestId ?? 0, tokens })
  const ended = (reason: Extract<Message, { type: 'chat-ended' }>['reason'], error = ''): Message => ({
    type: 'chat-ended',
    requestId: asked().at(-1)?.requestId ?? 0,
    reason,
    error,
  })
  return { ...page, key, asked, answer, ended }
}

const token = (text: string, author: ChatToken['author'] = 'model'): ChatToken => ({ id: 0, text, author })

describe('the chat', () => {
  it('is one line until it is opened', async () => {
    const page = await open()
    expect(page.find('chat-text')).not.toBeNull()
    await page.press('chat-open')
    expect(page.find('chat-text')).toBeNull()
    expect(page.find('chat-open')?.getAttribute('aria-expanded')).toBe('false')
  })

  it('sends on Enter, not on Shift+Enter or while a word is composed, and shows who wrote what', async () => {
    const page = await open()
    expect(page.find('chat-send')?.disabled).toBe(true)
    await page.type('chat-text', 'Hello')
    await page.key({ shiftKey: true })
    await page.key({ isComposing: true })
    expect(page.asked()).toEqual([])
    await page.key({})
    expect(page.asked()[0]).toMatchObject({ text: 'Hello', options: { fresh: true, adapter: 'current' } })
    expect(page.find<HTMLTextAreaElement>('chat-text')?.value).toBe('')
    await page.say(page.answer(token('<|im_start|>', 'template'), token('Board.', 'environment'), token('Hi'), token(' there')))
    const authors = () => [...page.host.querySelectorAll<HTMLElement>('[data-author]')].map((e) => [e.dataset['author'], e.textContent])
    expect(authors()).toEqual([
      ['environment', 'Board.'],
      ['model', 'Hi there'],
    ])
    expect(page.find('chat-status')?.textContent).toBe('With LoRA is answering.')
    await page.press('chat-all')
    expect(authors()[0]).toEqual(['template', '<|im_start|>'])
    await page.say(page.ended('length'))
    expect(page.find('chat-answer')?.textContent).toContain('Cut at max_new_tokens.')
    expect(page.find('chat-status')?.textContent).toContain('With LoRA: Board. Hi there')
  })

  it('says of the shipped model that it only plays, until its tools are on, and nothing of another model', async () => {
    const page = await open()
    expect(page.find('chat-shipped')?.textContent).toMatch(/only knows how to play.*switch on Tools of lane/)
    await page.press('chat-tools')
    expect(page.find('chat-shipped')).toBeNull()
    await page.press('chat-tools')
    await act(async () => page.stores.setup.setState((s) => ({ applied: { ...s.config, model: 'me/model' } })))
    expect(page.find('chat-shipped')).toBeNull()
  })

  it('offers no tools where there are none, and forgets that they were on', async () => {
    const page = await open()
    await page.press('chat-tools')
    const spec = { kind: 'prompts', dataset: { kind: 'builtin', name: 'arithmetic' } } as const
    await page.say({ type: 'environment', spec, tools: [], prompts: { system: '', user: '' }, maxSessions: null })
    expect(page.find('chat-tools')).toBeNull()
    expect(page.stores.chat.store.getState()).toMatchObject({ fresh: true, settings: { tools: false } })
    expect(page.find('chat-shipped')?.textContent).toBe('The shipped model only knows how to play, not how to talk.')
  })

  it('draws text as text and folds a thought', async () => {
    const page = await open()
    await page.type('chat-text', '<img src=x onerror=alert(1)>')
    await page.press('chat-send')
    await page.say(page.answer(token('<think>'), token('<b>hm</b>'), token('</think>'), token('<i>no</i>')))
    expect(page.host.querySelector('img, b, i')).toBeNull()
    const thought = page.host.querySelector('details')
    expect([thought?.open, thought?.querySelector('summary')?.textContent]).toEqual([false, 'Thought, 3 tokens'])
    expect(page.host.querySelector('[data-author="model"]')?.textContent).toBe('<i>no</i>')
  })

  it('stops, asks both side by side, and begins anew', async () => {
    const page = await open()
    await page.type('chat-text', 'Who?')
    await page.press('chat-both')
    expect(page.host.querySelectorAll('.both [data-testid="chat-answer"]')).toHaveLength(2)
    expect([...page.host.querySelectorAll<HTMLElement>('[data-adapter]')].map((e) => [e.dataset['adapter'], e.textContent])).toEqual([
      ['off', 'Base modelwriting'],
      ['current', 'With LoRAcomes next'],
    ])
    await page.press('chat-stop')
    expect(page.port.sent.at(-1)).toEqual({ type: 'chat-stop' })
    await page.say(page.ended('stopped'))
    expect(page.find('chat-send')).not.toBeNull()
    await page.press('chat-restart')
    expect(page.find('transcript')).toBeNull()
  })

  it('asks with what is chosen; a wrong number is refused in place', async () => {
    const page = await open()
    await page.press('chat-thinking')
    await page.press('chat-tools')
    await page.type('chat-temperature', '0,5')
    await page.type('chat-max_new_tokens', '0')
    expect(page.host.querySelector('[role="alert"]')?.textContent).toContain('max_new_tokens must be a whole number')
    await page.type('chat-max_new_tokens', '20')
    await act(async () => page.host.querySelectorAll<HTMLInputElement>('[name="chat-adapter"]')[1]?.click())
    // With tools the observation alone may be sent.
    await page.press('chat-send')
    expect(page.asked()[0]).toMatchObject({
      text: '',
      options: { adapter: 'off', enable_thinking: true, tools: true, temperature: 0.5, max_new_tokens: 20 },
    })
  })

  it('says why nobody can be asked', async () => {
    const state = (name: 'running' | 'paused'): Message =>
      name === 'running' ? { type: 'state', state: { state: 'running', until: 'limit' } } : { type: 'state', state: { state: 'paused', step: 0 } }
    const page = await open([...engineMessages(), state('running')])
    await page.type('chat-text', 'Hello')
    expect(page.find('chat-refusal')?.textContent).toContain('press Pause')
    expect([page.find('chat-send')?.disabled, page.find('chat-both')?.disabled]).toEqual([true, true])
    await page.key({})
    expect(page.asked()).toEqual([])
    await page.say(...stepMessages(1).slice(0, 50), state('paused'))
    expect(page.find('chat-refusal')?.textContent).toContain('beside Step and press it')
    await page.say(...stepMessages(1), state('paused'))
    expect(page.find('chat-refusal')).toBeNull()
    await page.press('chat-send')
    await page.say(page.ended('failed', 'The context is full.'))
    expect(page.find('chat-answer')?.textContent).toContain('The context is full.')
  })
})
