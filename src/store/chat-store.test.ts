import { describe, expect, it } from 'vitest'
import type { ChatToken, Command, Message } from '../worker/protocol'
import { createChat } from './chat-store'
import { scriptedPort } from './testing/script'

function open() {
  const port = scriptedPort()
  const chat = createChat(port)
  const asked = () => port.sent.flatMap((c) => (c.type === 'chat' ? [c] : []))
  const last = () => asked().at(-1) as Extract<Command, { type: 'chat' }>
  const tokens = (text: string, requestId = last().requestId): Message => ({ type: 'chat-tokens', requestId, tokens: [token(text)] })
  const ended = (reason: Extract<Message, { type: 'chat-ended' }>['reason'] = 'end-of-turn', error = ''): Message => ({
    type: 'chat-ended',
    requestId: last().requestId,
    reason,
    error,
  })
  const view = () => chat.store.getState()
  const texts = () => view().entries.map((e) => e.answers.map((a) => a.tokens.map((t) => t.text).join('')))
  return { port, chat, asked, last, tokens, ended, view, texts }
}

const token = (text: string): ChatToken => ({ id: 1, text, author: 'model' })

describe('a question', () => {
  it('begins a conversation, and the next one goes on with it', () => {
    const { port, chat, last, tokens, ended, view, texts } = open()
    chat.ask('Hello')
    expect(last()).toMatchObject({ text: 'Hello', options: { fresh: true, adapter: 'current', tools: false } })
    expect(view()).toMatchObject({ busy: true, entries: [{ question: 'Hello', begins: true, answers: [{ ended: null }] }] })
    port.say(tokens('Hi'), tokens('.'), ended())
    expect([texts(), view().busy]).toEqual([[['Hi.']], false])
    chat.ask('And?')
    expect(last().options.fresh).toBe(false)
    expect(view().entries.at(-1)?.begins).toBe(false)
  })

  it('waits for the answer before it, and takes nothing from other requests', () => {
    const { port, chat, asked, tokens, texts } = open()
    chat.ask('One')
    chat.ask('Two')
    chat.askBoth('Three')
    expect(asked()).toHaveLength(1)
    port.say(tokens('stray', 99))
    expect(texts()).toEqual([['']])
  })

  it('that failed before anything came begins the conversation again', () => {
    const { port, chat, last, ended, view } = open()
    chat.ask('Hello')
    port.say(ended('failed', 'Press Pause first.'))
    expect(view().entries[0]?.answers[0]?.ended).toEqual({ reason: 'failed', error: 'Press Pause first.' })
    chat.ask('Hello')
    expect(last().options.fresh).toBe(true)
  })

  it('begins a conversation when the tools changed, also while an answer comes, and after a new run', () => {
    const { port, chat, last, tokens, ended } = open()
    chat.ask('Hello')
    chat.set({ tools: true })
    port.say(tokens('a'), tokens('b'), ended())
    chat.ask('Play')
    expect(last().options).toMatchObject({ fresh: true, tools: true })
    port.say(tokens('a'))
    chat.set({ temperature: 0, adapter: 'off' })
    port.say(tokens('b'), ended())
    chat.ask('More')
    expect(last().options).toMatchObject({ fresh: false, tools: true, temperature: 0, adapter: 'off' })
    port.say(tokens('a'), ended(), { type: 'cleared' })
    chat.ask('New')
    expect(last().options.fresh).toBe(true)
  })
})

describe('Ask both', () => {
  it('asks the base model, then the LoRA; neither conversation goes on', () => {
    const { port, chat, asked, tokens, ended, view, texts, last } = open()
    chat.askBoth('Who?')
    expect(asked()).toHaveLength(1)
    port.say(tokens('base'), ended())
    expect(view().busy).toBe(true)
    port.say(tokens('lora'), ended('length'))
    expect(asked().map((c) => [c.text, c.options.adapter, c.options.fresh])).toEqual([
      ['Who?', 'off', true],
      ['Who?', 'current', true],
    ])
    expect([texts(), view().busy]).toEqual([[['base', 'lora']], false])
    chat.ask('And?')
    expect(last().options.fresh).toBe(true)
  })

  it('stopped at the first does not ask the second', () => {
    const { port, chat, asked, tokens, ended, view } = open()
    chat.askBoth('Who?')
    port.say(tokens('ba'))
    chat.stop()
    expect(port.sent.at(-1)).toEqual({ type: 'chat-stop' })
    port.say(ended('stopped'))
    expect([asked().length, view().busy]).toEqual([1, false])
    expect(view().entries[0]?.answers.map((a) => a.ended?.reason)).toEqual(['stopped', 'stopped'])
  })
})

it('New conversation stops what is written and empties the transcript', () => {
  const { port, chat, last, tokens, ended, view } = open()
  chat.stop()
  expect(port.sent).toEqual([])
  chat.ask('Hello')
  const late = [tokens('x'), ended('stopped')]
  chat.restart()
  expect(port.sent.at(-1)).toEqual({ type: 'chat-stop' })
  port.say(...late)
  expect(view()).toMatchObject({ entries: [], busy: false, fresh: true })
  chat.ask('Again')
  expect(last().options.fresh).toBe(true)
})

it('a worker that died ends the answer', () => {
  const { port, chat, view } = open()
  chat.ask('Hello')
  port.say({ type: 'state', state: { state: 'failed', error: 'The worker stopped.', advice: '', recoverable: false } })
  expect(view().busy).toBe(false)
  expect(view().entries[0]?.answers[0]?.ended).toEqual({ reason: 'failed', error: 'The worker stopped.' })
})
