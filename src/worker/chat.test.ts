/** Conversations over the fake sampler: what is prefilled, what is sent, how tools answer, what is said when something is wrong. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_GRPO, type GrpoConfig } from '../core/config'
import { FakeEnvironment, deferred, type FakeScript } from '../rollout/testing/fake-environment'
import { FakeSampler, scripted, type Policy } from '../rollout/testing/fake-sampler'
import { chat, encode, say } from '../rollout/testing/setup'
import { ChatSession } from './chat'
import { ChatWriter } from './chat-writer'
import type { ChatOptions, ChatToken, Message } from './protocol'

const END = '<|im_end|>'
const HEADER = '<|im_start|>assistant\n<think>\n\n</think>\n\n'
const DEFAULTS: ChatOptions = { fresh: false, adapter: 'current', enable_thinking: false, tools: false, temperature: 1, max_new_tokens: 100 }

interface SetUp {
  reply?: (turn: number, context: string) => string | readonly string[]
  policy?: Policy
  environment?: FakeScript
  contextLength?: number
  delay?: () => Promise<void>
  grpo?: Partial<GrpoConfig>
  system_prompt?: string
}

function open({ reply = () => 'Fine.', policy, environment: script, contextLength, delay, grpo, system_prompt = '' }: SetUp = {}) {
  const environment = new FakeEnvironment(script)
  const engine = new FakeSampler(4, policy ?? scripted(chat, encode, reply), contextLength, delay)
  const messages: Message[] = []
  const session = new ChatSession({ engine, environment, chat, config: { system_prompt, grpo: { ...DEFAULT_GRPO, seed: 5, ...grpo } } }, (message) =>
    messages.push(message),
  )
  let requestId = 0
  const ask = async (text: string, options: Partial<ChatOptions> = {}, stop = new AbortController()) => {
    const before = messages.length
    await session.turn({ type: 'chat', requestId: ++requestId, text, options: { ...DEFAULTS, ...options } }, stop.signal)
    const own = messages.slice(before)
    const tokens = own.flatMap((m) => (m.type === 'chat-tokens' && m.requestId === requestId ? m.tokens : []))
    const ends = own.flatMap((m) => (m.type === 'chat-ended' ? [m] : []))
    expect(ends).toHaveLength(1)
    expect(own.at(-1)).toBe(ends[0])
    return { tokens, text: chat.text(tokens.map((t) => t.id)), by: by(tokens), reason: ends[0]?.reason, error: ends[0]?.error }
  }
  const prefills = () => engine.calls.filter((call) => call.kind === 'prefill').map((call) => call.tokens)
  return { engine, environment, messages, session, ask, prefills }
}

const by = (tokens: readonly ChatToken[]) => (author: ChatToken['author']) =>
  tokens.filter((t) => t.author === author).map((t) => t.text).join('')

describe('a conversation', () => {
  it('begins with the template’s prompt and goes on by suffixes alone', async () => {
    const page = open({ reply: (turn) => `Answer ${turn}.` })
    const first = await page.ask('Hello')
    expect(first).toMatchObject({ reason: 'end-of-turn', error: '' })
    expect(first.text).toBe(`<|im_start|>user\nHello${END}\n${HEADER}Answer 0.${END}`)
    expect(first.by('model')).toBe(`Answer 0.${END}`)
    const second = await page.ask('And now?')
    expect(second.text).toBe(`\n<|im_start|>user\nAnd now?${END}\n${HEADER}Answer 1.${END}`)
    // The end-of-turn token was sampled but not yet held.
    expect(page.prefills()).toEqual([encode(`<|im_start|>user\nHello${END}\n${HEADER}`).length, 1 + chat.userSuffix('And now?').ids.length])
    expect(chat.text(page.engine.contexts.at(-1) ?? [])).toBe(first.text + second.text.slice(0, -END.length))
  })

  it('is prefilled whole when its slot was emptied or used by others', async () => {
    const page = open()
    await page.ask('One')
    await page.session.release()
    await page.ask('Two')
    const whole = page.engine.contexts.at(-1)?.length ?? 0
    expect(page.prefills().at(-1)).toBeGreaterThan(whole - 10)
    page.engine.reset(0)
    await page.ask('Three')
    expect(page.prefills().at(-1)).toBeGreaterThan(whole)
    expect(chat.text(page.engine.contexts.at(-1) ?? [])).toContain('One')
  })

  it('begins anew when asked to', async () => {
    const page = open()
    await page.ask('One')
    const { text } = await page.ask('Two', { fresh: true })
    expect(text.startsWith('<|im_start|>user\nTwo')).toBe(true)
    expect(chat.text(page.engine.contexts.at(-1) ?? [])).not.toContain('One')
  })

  it('may switch thinking on and off', async () => {
    const page = open({ policy: (ids) => (ids.at(-1) === encode('.')[0] ? (chat.endOfTurnIds[0] ?? 0) : (encode('.')[0] ?? 0)) })
    expect((await page.ask('One', { enable_thinking: true })).text).not.toContain('<think>')
    expect((await page.ask('Two')).text).toContain('<think>\n\n</think>')
    expect((await page.ask('Three', { enable_thinking: true })).text).not.toContain('<think>')
  })

  it('talks to the base model and gives the adapter back, also after a failure', async () => {
    const used: string[] = []
    const page = open({ reply: () => (used.push(page.engine.adapter), 'Fine.') })
    await page.ask('One')
    await page.ask('Two', { adapter: 'off' })
    await page.ask('Three')
    expect([...new Set(used)]).toEqual(['current', 'off'])
    expect([used[0], used.at(-1), page.engine.adapter]).toEqual(['current', 'current', 'current'])
    expect(chat.text(page.engine.contexts.at(-1) ?? [])).toMatch(/One[^]*Two[^]*Three/)
    const failed = await page.ask('x'.repeat(40_000), { adapter: 'off' })
    expect(failed.reason).toBe('failed')
    expect(page.engine.adapter).toBe('current')
  })
})

describe('sampling', () => {
  const words = ['one', 'two', 'three', 'four', 'five', 'six']
  it('depends on seed, conversation and position alone', async () => {
    const talk = async (seed: number) => {
      const page = open({ reply: () => words, grpo: { seed } })
      const texts: string[] = []
      for (let i = 0; i < 6; i++) texts.push((await page.ask('Say', { fresh: true })).by('model'))
      return texts
    }
    const five = await talk(5)
    expect(await talk(5)).toEqual(five)
    expect(await talk(6)).not.toEqual(five)
    expect(new Set(five).size).toBeGreaterThan(1)
  })

  it('hands temperature 0 to the sampler, and refuses what is no temperature', async () => {
    const page = open()
    expect(await page.ask('x', { temperature: 0 })).toMatchObject({ reason: 'end-of-turn' })
    expect(await page.ask('x', { temperature: NaN })).toMatchObject({ reason: 'failed', error: expect.stringContaining('temperature') as string })
    expect(await page.ask('x', { max_new_tokens: 0 })).toMatchObject({ reason: 'failed', error: expect.stringContaining('max_new_tokens') as string })
  })
})

describe('an answer that does not end by itself', () => {
  it('is cut at max_new_tokens and closed before the next question', async () => {
    const page = open({ reply: () => 'one two three four five six' })
    const cut = await page.ask('Count', { max_new_tokens: 3 })
    expect(cut).toMatchObject({ reason: 'length', error: '' })
    expect(cut.by('model')).toBe('one two three')
    const next = await page.ask('Go on')
    expect(next.text.startsWith(`${END}\n<|im_start|>user\nGo on`)).toBe(true)
    expect(next.tokens[0]?.author).toBe('template')
    expect(chat.text(page.engine.contexts.at(-1) ?? [])).toContain(`one two three${END}\n<|im_start|>user\nGo on`)
  })

  it('stops between two tokens', async () => {
    const stop = new AbortController()
    const page = open({
      reply: (_, context) => (context.includes('Again') ? 'Fine.' : 'one two three four five six'),
      delay: async () => {
        if (page.engine.contexts.length === 2) stop.abort()
      },
    })
    const { reason, by } = await page.ask('Count', {}, stop)
    expect(reason).toBe('stopped')
    expect(by('model')).toBe('one two')
    expect((await page.ask('Again')).by('model')).toBe(`Fine.${END}`)
  })

  it('stopped before it began sends nothing of the model', async () => {
    const page = open()
    const stop = new AbortController()
    stop.abort()
    const { reason, by } = await page.ask('Hello', {}, stop)
    expect([reason, by('model')]).toEqual(['stopped', ''])
    expect(page.engine.contexts).toEqual([])
  })

  it('says when the context is full, also when the question does not fit', async () => {
    const page = open({ reply: () => 'word '.repeat(80), contextLength: 60 })
    const full = await page.ask('Talk')
    expect(full).toMatchObject({ reason: 'length', error: 'The context is full: it holds 60 tokens. Press New conversation.' })
    expect(full.tokens).toHaveLength(60)
    const more = await page.ask('More')
    expect(more).toMatchObject({ reason: 'failed', tokens: [], error: expect.stringMatching(/would have \d+ tokens; the context holds 60\. Press New/) as string })
    const long = await page.ask('long '.repeat(80), { fresh: true })
    expect(long).toMatchObject({ reason: 'failed', tokens: [], error: expect.stringContaining('Shorten the text') as string })
    expect((await page.ask('Talk', { max_new_tokens: 2 })).by('model')).toBe('word word')
  })
})

describe('tools', () => {
  const options = { tools: true, fresh: true }
  it('stand in the first prompt, and calls are answered by a session that opens with the first question', async () => {
    const page = open({
      system_prompt: 'You play.',
      reply: (turn) => [say('cat'), 'It said meow.'][turn] ?? 'Fine.',
      environment: { reset: () => 'A board.', step: (call) => ({ text: `meow ${String(call.arguments['word'])}` }) },
    })
    expect(page.environment.opened).toBe(0)
    const { text, by, reason } = await page.ask('Play', options)
    expect(reason).toBe('end-of-turn')
    expect(text).toMatch(/^<\|im_start\|>system\nYou play\.[^]*"say"/)
    expect(text).toContain(`user\nPlay\nA board.${END}`)
    expect(by('environment')).toBe('A board.meow cat')
    expect(by('model')).toBe(`${say('cat')}${END}It said meow.${END}`)
    expect(page.environment.resets).toEqual([{ seed: expect.any(Number) as number, episode_id: 'chat-seed5-conversation0-episode0', split: 'heldout' }])
    // The session goes on with the conversation.
    expect((await page.ask('Thanks', { tools: true })).by('environment')).toBe('')
    expect(page.environment.opened).toBe(1)
    await page.ask('Anew', options)
    expect([page.environment.opened, page.environment.closed]).toEqual([2, 1])
    await page.session.release()
    expect(page.environment.closed).toBe(2)
  })

  it('end when the environment is done: one more word, and the next question begins a new episode', async () => {
    const page = open({
      reply: (turn) => [say('a'), say('b'), 'Fine.'][turn] ?? 'Fine.',
      environment: { reset: () => 'Board', step: () => ({ text: 'You won.', done: true }) },
    })
    const { by, reason, error } = await page.ask('Play', options)
    expect([reason, error]).toEqual(['end-of-turn', 'The episode is over, so this call was not made.'])
    // The template's newline after it is in the same token.
    expect(by('environment')).toBe('BoardYou won.\n')
    expect(page.environment.steps.map((s) => s.call.arguments['word'])).toEqual(['a'])
    await new Promise((resolve) => setTimeout(resolve))
    expect(page.environment.closed).toBe(1)
    const again = await page.ask('Again', { tools: true })
    expect(again.text).toContain(`user\nAgain\nBoard${END}`)
    expect(page.environment.opened).toBe(2)
  })

  it('that fail are told to the model and the reader, not thrown', async () => {
    const page = open({
      reply: (turn) => [say('a'), 'Oh.'][turn] ?? 'Fine.',
      environment: {
        step: () => {
          throw new Error('The server went away.')
        },
      },
    })
    const { by, reason } = await page.ask('Play', options)
    expect(reason).toBe('end-of-turn')
    expect(by('environment')).toBe('Error: The server went away.\n')
    expect(by('model')).toContain('Oh.')
  })

  it('whose session cannot begin end the answer with a sentence; the same question can be asked again', async () => {
    let works = false
    const page = open({
      reply: () => 'Fine.',
      environment: {
        reset: () => {
          if (!works) throw new Error('No route.')
          return 'Board'
        },
      },
    })
    expect(await page.ask('Play', options)).toMatchObject({
      reason: 'failed',
      tokens: [],
      error: 'The environment did not begin: No route. Try again, or leave the tools out.',
    })
    works = true
    expect((await page.ask('Play', options)).by('environment')).toBe('Board')
  })

  it('begin the same episode, and draw the same numbers, when the other model is asked the same question', async () => {
    const page = open({ reply: () => ['one', 'two', 'three', 'four', 'five'], environment: { reset: ({ seed }) => `Board ${seed}` } })
    const said: string[] = []
    for (const adapter of ['off', 'current', 'off', 'current'] as const) said.push((await page.ask('Play', { ...options, adapter })).text)
    expect(said[1]).toBe(said[0])
    expect(said[3]).toBe(said[2])
    expect(said[2]).not.toBe(said[0])
    const again = await page.ask('Play', { ...options, adapter: 'current' })
    expect(said).not.toContain(again.text)
  })

  it('malformed calls are answered without the environment', async () => {
    const page = open({ reply: (turn) => ['<tool_call>\n{"name": \n</tool_call>', 'Sorry.'][turn] ?? 'Fine.' })
    expect((await page.ask('Play', options)).by('environment')).toContain('not valid JSON')
    expect(page.environment.steps).toEqual([])
  })

  it('are called at most max_tool_calling_iterations times', async () => {
    const page = open({ reply: () => say('a'), grpo: { max_tool_calling_iterations: 2 } })
    const { reason, error } = await page.ask('Play', options)
    expect([reason, error]).toEqual(['length', 'This call was not made: max_tool_calling_iterations allows 2 in a row.'])
    expect(page.environment.steps).toHaveLength(2)
  })

  it('do not come or go within a conversation', async () => {
    const page = open()
    await page.ask('Hello')
    expect(await page.ask('Play', { tools: true })).toMatchObject({ reason: 'failed', error: expect.stringContaining('first prompt') as string })
    expect((await page.ask('Hello')).reason).toBe('end-of-turn')
  })

  it.each(['open', 'reset', 'step'] as const)('Stop does not wait for their %s', async (asked) => {
    const held = deferred()
    const stop = new AbortController()
    const page = open({
      reply: () => say('a'),
      environment: {
        delay: (now) => {
          if (now !== asked) return Promise.resolve()
          setTimeout(() => stop.abort())
          return held.promise
        },
      },
    })
    expect((await page.ask('Play', options, stop)).reason).toBe('stopped')
    held.resolve()
    await new Promise((resolve) => setTimeout(resolve, 5))
    await page.session.release()
    expect(page.environment.closed).toBe(page.environment.opened)
  })
})

describe('tokens on their way to the page', () => {
  function writer() {
    let time = 0
    const batches: ChatToken[][] = []
    const writing = new ChatWriter(1, chat, (m) => m.type === 'chat-tokens' && batches.push(m.tokens), () => time)
    const write = (text: string) => encode(text).forEach((id) => writing.write(id))
    return { writing, write, batches, wait: (ms: number) => (time += ms) }
  }
  it('go alone when slow, and in batches of 50 ms when fast', () => {
    const { writing, write, batches, wait } = writer()
    for (const word of [' a', ' b', ' c']) {
      write(word)
      wait(60)
    }
    for (const word of [' d', ' e', ' f', ' g']) {
      write(word)
      wait(20)
    }
    writing.end()
    expect(batches.map((batch) => batch.map((t) => t.text).join(''))).toEqual([' a', ' b', ' c', ' d', ' e f g'])
  })
  it('show a character when it is whole, and bytes that never become one', () => {
    const { writing, write, batches } = writer()
    write('\u{1FADF}!')
    const [first] = encode('\u{1FADF}')
    writing.write(first ?? 0)
    writing.end()
    const tokens = batches.flat()
    expect(tokens.map((t) => t.text).join('')).toBe('\u{1FADF}!\\xF0\\x9F')
    expect(tokens.map((t) => t.id)).toEqual([...encode('\u{1FADF}!'), first])
  })
})
