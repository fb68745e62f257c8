import { describe, expect, it } from 'vitest'
import { customEnvironment, pythonText } from './environment'
import { NUMBER_GAME } from './examples'
import type { LiveAnswer } from './live-client'

type Sent = { act: string; method?: string; args?: unknown[]; instance: number; life?: number }

/** A sandbox that answers by a function, and keeps what it was sent. */
function fake(answer: (sent: Sent) => Partial<LiveAnswer>, code = NUMBER_GAME.code, called = NUMBER_GAME.called) {
  const sent: Sent[] = []
  const environment = customEnvironment({ called, code }, () => ({
    live: () => ({
      call: (message, life) => {
        const one = { ...(message as unknown as Sent), ...(life === undefined ? {} : { life }) }
        sent.push(one)
        return Promise.resolve({ id: 1, life: 7, ...answer(one) })
      },
      end: () => undefined,
    }),
  }))
  return { environment, sent }
}
const options = { seed: 3, episode_id: 'e', split: 'train', columns: { word: 'crane' } } as const

describe('a class as an environment', () => {
  it('has the class’s tools once connected, and an instance for each session', async () => {
    const { environment, sent } = fake(({ act }) => (act === 'reset' ? { text: 'Go.' } : act === 'reward' ? { reward: 0.5 } : { text: 'Higher.', reward: null }))
    await environment.connect()
    expect(environment.tools.map((tool) => tool.function.name)).toEqual(['guess'])
    const session = await environment.open()
    expect(await session.reset(options)).toMatchObject({ text: 'Go.', done: false })
    expect(await session.step({ name: 'guess', arguments: { number: 4 } })).toMatchObject({ text: 'Higher.', toolError: false })
    expect(await session.finalReward?.()).toBe(0.5)
    await session.close()
    expect(sent.slice(2)).toMatchObject([
      { act: 'new' },
      { act: 'reset', args: [{ seed: 3, split: 'train', word: 'crane' }], life: 7 },
      { act: 'call', method: 'guess', args: [4], life: 7 },
      { act: 'reward', method: 'get_reward' },
      { act: 'drop' },
    ])
    expect([environment.isSuccess(0.7), environment.isSuccess(0.6), environment.rewardless]).toEqual([true, false, undefined])
  })

  it('says why an episode may have no reward, and never reads this.reward for it', async () => {
    const door = (body: string) => fake(() => ({}), `class Door {\n  reset() {}\n  /** Open. */\n  open() { ${body} }\n}`, 'Door').environment
    const [kept, given, asked] = [door('this.reward = 1'), door('return { text: "", reward: 1 }'), fake(() => ({})).environment]
    for (const each of [kept, given, asked]) await each.connect()
    expect([kept, given, asked].map(({ rewardless, unrewarded }) => [rewardless, unrewarded])).toEqual([
      [true, 'Door has no get_reward()'],
      [undefined, 'Door has no get_reward(), and no answer of its tools held a reward'],
      [undefined, 'NumberGame.get_reward() returned no number'],
    ])
  })

  it('tells the model what a tool threw, and fails the episode where the code broke the contract or was stuck', async () => {
    let next: Partial<LiveAnswer> = {}
    const { environment } = fake(({ act }) => (act === 'call' || act === 'reset' ? next : {}))
    await environment.connect()
    const session = await environment.open()
    await session.reset(options)
    const guess = () => session.step({ name: 'guess', arguments: { number: 1 } })
    next = { error: "It's over", stack: 'at guess (blob:null/a-1:4:9)', done: true }
    expect(await guess()).toMatchObject({ text: `{'error': "It's over"}`, toolError: true, done: true, metadata: { line: 3 } })
    next = { error: 'guess gave the reward x', contract: true }
    await expect(guess()).rejects.toThrow('NumberGame.guess failed: guess gave the reward x.')
    next = { timedOut: true }
    await expect(guess()).rejects.toThrow('NumberGame.guess (line 15) took longer than 10 s and was ended.')
    next = { lost: true }
    await expect(guess()).rejects.toThrow('another call of NumberGame took too long')
    next = { error: 'x is not defined', stack: 'at reset (blob:null/a-1:3:9)' }
    await expect(session.reset(options)).rejects.toThrow('NumberGame.reset failed at line 2: x is not defined.')
  })

  it('is refused with the line before anything runs', async () => {
    const { environment, sent } = fake(() => ({}), 'class A {\n  go() {}\n  reset() {}\n}', 'A')
    await expect(environment.connect()).rejects.toThrow('A, line 2: go is a tool without a description.')
    expect(sent).toEqual([])
    await expect(fake(() => ({ refused: true })).environment.connect()).rejects.toThrow('was not allowed to run')
    await expect(fake(() => ({ error: 'no', stack: 'at new A (blob:null/a-1:2:1)' })).environment.connect()).rejects.toThrow('The constructor of NumberGame failed at line 1: no.')
  })

  it('leaves the judgement to reward functions where the class speaks of no reward', async () => {
    const { environment } = fake(() => ({}), 'class A { static held_out = true; reset() { return "Hi" } }', 'A')
    await environment.connect()
    expect([environment.rewardless, environment.heldOut, environment.tools]).toEqual([true, true, []])
  })
})

describe('repr', () => {
  it.each([
    ['a', "'a'"],
    ["it's", '"it\'s"'],
    [`"it's"\n`, String.raw`'"it\'s"\n'`],
  ])('%j', (text, repr) => {
    expect(pythonText(text)).toBe(repr)
  })
})
