/** Our client against the real OpenEnv server library: echo through MCP tools and the typed catch, many sessions at once, failures. */

import WebSocket from 'ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Environment, EnvironmentSession } from '../../src/core/environment'
import { describeError } from '../../src/core/errors'
import { builtinEnvironment } from '../../src/env/builtin'
import { OpenEnvEnvironment, type OpenEnvOptions } from '../../src/env/openenv/client'
import { startServer, type RunningServer } from '../openenv/server'
import { failure } from './failure'
import { leash } from './leash'

const client = (server: { port: number }, options: Partial<OpenEnvOptions> = {}) =>
  new OpenEnvEnvironment(`localhost:${server.port}`, { WebSocket, ...options })

const sixteen = Array.from({ length: 16 }, (_, i) => i)
const resetTo = (seed: number) => ({ seed, episode_id: `e-${seed}`, split: 'train' }) as const

/** Catches (or with `away` misses) the ball and returns what was seen. */
async function playCatch(session: EnvironmentSession, seed: number, away: boolean) {
  let seen = await session.reset(resetTo(seed))
  const texts = [seen.text]
  const rewards: (number | null)[] = []
  while (!seen.done) {
    const [, ball = '', paddle = ''] = /ball (\w), paddle (\w)/.exec(seen.text) ?? []
    const target = away ? (ball < 'd' ? 'f' : 'a') : ball
    const to = target < paddle ? 'left' : target > paddle ? 'right' : 'stay'
    seen = await session.step({ name: 'move', arguments: { to } })
    texts.push(seen.text)
    rewards.push(seen.reward)
  }
  return { texts, rewards, scene: seen.scene }
}

let echo: RunningServer
let catching: RunningServer
let misbehave: RunningServer
beforeAll(async () => {
  ;[echo, catching, misbehave] = await Promise.all([startServer('echo'), startServer('catch'), startServer('misbehave')])
})
afterAll(async () => {
  await Promise.all([echo, catching, misbehave].map((server) => server?.kill()))
})

async function connected(environment: OpenEnvEnvironment): Promise<Environment> {
  await environment.connect()
  return environment
}

describe('echo through MCP', () => {
  it('offers the tool and the prompt of the built-in echo', async () => {
    const environment = await connected(client(echo))
    const builtin = builtinEnvironment('echo')
    expect(environment.tools).toEqual(builtin.tools)
    expect(environment.prompts).toEqual(builtin.prompts)
  })

  it('runs 16 sessions at once, each with the scenario and the rewards of the built-in one', async () => {
    const environment = await connected(client(echo))
    const sessions = await Promise.all(sixteen.map(() => environment.open()))
    await Promise.all(
      sessions.map(async (session, seed) => {
        const local = await builtinEnvironment('echo').open()
        const first = await session.reset(resetTo(seed))
        expect(first.text).toBe((await local.reset(resetTo(seed))).text)
        const wanted = /"(.*)"/.exec(first.text)?.[1] ?? ''
        const message = [wanted, wanted.split(' ')[0] ?? '', 'nonsense', `${wanted} `][seed % 4] ?? ''
        const call = { name: 'echo_message', arguments: { message } }
        const [theirs, ours] = [await session.step(call), await local.step(call)]
        expect(theirs).toMatchObject({ text: message, reward: ours.reward, done: true, toolError: false })
      }),
    )
    await Promise.all(sessions.map((session) => session.close()))
  })

  it('tells a refused call as a tool error', async () => {
    const environment = await connected(client(echo))
    const session = await environment.open()
    await session.reset(resetTo(1))
    const seen = await session.step({ name: 'echo_message', arguments: { wrong: 'hi' } })
    expect(seen).toMatchObject({ toolError: true, reward: 0, done: true })
    expect(seen.text).toContain('message')
    await session.close()
  })
})

describe('catch, typed', () => {
  it('is recognised, with the tool and the prompt of the built-in catch', async () => {
    // Once by /schema and once by the refusals alone, as in a browser.
    const blind = { fetch: () => Promise.reject(new TypeError('Failed to fetch')) }
    for (const environment of [client(catching), client(catching, blind)]) {
      await environment.connect()
      const builtin = builtinEnvironment('catch')
      expect(environment.tools).toEqual(builtin.tools)
      expect(environment.prompts).toEqual(builtin.prompts)
    }
  })

  it('runs 16 sessions at once: same seed, same fall and scene as the built-in one; reward only at the end', async () => {
    const environment = await connected(client(catching))
    const sessions = await Promise.all(sixteen.map(() => environment.open()))
    const games = await Promise.all(sessions.map((session, i) => playCatch(session, i >> 1, i % 2 === 1)))
    for (const [i, game] of games.entries()) {
      const local = await playCatch(await builtinEnvironment('catch').open(), i >> 1, i % 2 === 1)
      expect(game.texts).toEqual(local.texts)
      expect(game.scene).toEqual(local.scene)
      expect(environment.episodeReward(game.rewards)).toBe(local.rewards.at(-1))
      expect(game.rewards.slice(0, -1).every((reward) => reward === 0)).toBe(true)
    }
    expect(new Set(games.map((game) => environment.episodeReward(game.rewards)))).toEqual(new Set([0, 1]))
    await Promise.all(sessions.map((session) => session.close()))
  })
})

describe('capacity', () => {
  it('waits for a slot on a server with two, learns the limit, and gives up with a sentence', async () => {
    const small = await startServer('catch', { maxSessions: 2 })
    try {
      const [mine, other] = [client(small), client(small, { deadlines: { capacityMs: 700, backoffMs: 100 } })]
      await mine.connect()
      await other.connect()
      const [a, b] = [await mine.open(), await mine.open()]
      const refused = await failure(other.open())
      expect(describeError(refused)).toMatch(/stayed full for 0.7 s: Server at capacity: 2\/2/)
      expect(other.maxSessions).toBe(2)
      let third: EnvironmentSession | null = null
      const waiting = mine.open().then((session) => (third = session))
      // It has been refused once.
      await expect.poll(() => mine.maxSessions, { timeout: 60_000 }).toBe(2)
      expect(third).toBeNull()
      await a.close()
      const session = await waiting
      expect((await session.reset(resetTo(0))).text).toMatch(/^height/)
      await Promise.all([b.close(), session.close()])
    } finally {
      await small.kill()
    }
  })
})

describe('failures', () => {
  const say = (message: string) => ({ name: 'send_message', arguments: { message } })
  async function begun(options: Partial<OpenEnvOptions> = {}) {
    const environment = await connected(client(misbehave, options))
    const session = await environment.open()
    await session.reset(resetTo(0))
    return session
  }

  it('a raised exception ends the episode, an ordinary message does not', async () => {
    const session = await begun()
    expect(await session.step(say('hi'))).toMatchObject({ text: 'HI', reward: 0.5, done: false })
    expect(describeError(await failure(session.step(say('!raise'))))).toContain('asked to fail')
    expect((await failure(session.step(say('hi')))).message).toContain('after the session had failed')
    await session.close()
  })

  it('a reward of NaN is no reward', async () => {
    const session = await begun()
    expect(await session.step(say('!nan'))).toMatchObject({ text: 'not a number', reward: null, done: false })
    await session.close()
  })

  it('what the schema refuses is told to the policy, and the episode goes on', async () => {
    const session = await begun()
    expect(await session.step(say(''))).toMatchObject({ toolError: true, reward: null, done: false })
    expect(await session.step(say('hi'))).toMatchObject({ text: 'HI', toolError: false })
    await session.close()
  })

  it('an action that kills the session in its validator is an error of the environment', async () => {
    const session = await begun()
    expect((await failure(session.step(say('bad')))).message).toContain('ended the session over an action')
    await session.close()
  })

  it('a slow step misses its deadline, and its late answer reaches nobody', async () => {
    const held = await leash()
    try {
      const session = await begun({ deadlines: { stepMs: 300 } })
      expect((await failure(session.step(say(`!while:${held.file}`)))).message).toContain('did not answer to step within 0.3 s')
      await held.letGo()
      expect((await failure(session.step(say('hi')))).message).toContain('after the session had failed')
      await session.close()
    } finally {
      await held.letGo()
    }
  })

  it('a big observation arrives and is cut for the model', async () => {
    const session = await begun()
    const seen = await session.step(say('!big:3000000'))
    expect(seen.text.length).toBeLessThan(21_000)
    expect(seen.reward).toBe(0.5)
    await session.close()
  })

  it('a server that dies in mid-episode fails the episode; a new one on its port serves the same object again', async () => {
    const first = await startServer('misbehave')
    const sent: string[] = []
    const environment = await connected(client(first, { onFrame: (direction, text) => void (direction === 'sent' && sent.push(text)) }))
    const session = await environment.open()
    await session.reset(resetTo(0))
    expect((await failure(session.step(say('!die')))).message).toContain('1006')
    expect((await failure(environment.open())).kind).toBe('environment')
    await first.kill()
    const second = await startServer('misbehave', { port: first.port })
    try {
      const again = await environment.open()
      await again.reset(resetTo(0))
      const pending = failure(again.step(say('!sleep:600')))
      await expect.poll(() => sent.at(-1)).toContain('!sleep')
      await second.kill()
      expect((await pending).kind).toBe('environment')
      await again.close()
    } finally {
      await second.kill()
    }
  })
})
