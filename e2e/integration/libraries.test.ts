/** GRPO over environment libraries that are not ours, each wrapped in the real OpenEnv server by a few lines. */

import WebSocket from 'ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Environment } from '../../src/core/environment'
import { builtinEnvironment } from '../../src/env/builtin'
import { OpenEnvEnvironment } from '../../src/env/openenv/client'
import { startServer, startServers, type RunningServer } from '../openenv/server'
import { configOf, trainSteps } from './grpo-run'
import { recorder, wireOf } from './wire-recorder'

let reasoning: RunningServer
let arena: RunningServer
beforeAll(async () => {
  ;[reasoning, arena] = (await startServers(['reasoning', 'textarena'], { venv: 'openenv-libraries' })) as [RunningServer, RunningServer]
})
afterAll(async () => {
  await reasoning?.kill()
})

async function connect(server: RunningServer): Promise<OpenEnvEnvironment> {
  const environment = new OpenEnvEnvironment(server.url, { WebSocket })
  await environment.connect()
  return environment
}

/** Answers, one after the other; each sees what was said last. `well` or badly, on purpose. */
type Player = (first: string, well: boolean) => (said: string) => string

/** Computes the sum that it is asked for. */
const calculator: Player = (first, well) => {
  const [, a = '', sign = '', b = ''] = /(-?\d+) *([-+*/]) *(-?\d+)/.exec(first) ?? []
  const [x, y] = [Number(a), Number(b)]
  return () => (well ? String({ '+': x + y, '-': x - y, '*': x * y, '/': x / y }[sign]) : 'no idea')
}

/** Halves the range, or says 1 until the game is lost. */
const guesser: Player = (_, well) => {
  let [low, high, guess] = [1, 20, 0]
  return (said) => {
    if (!well) return '[1]'
    // The rules name both hints.
    if (guess > 0 && said.includes('higher')) low = guess + 1
    if (guess > 0 && said.includes('lower')) high = guess - 1
    guess = Math.floor((low + high) / 2)
    return `[${guess}]`
  }
}

/**
 * The tiny model reads no questions: it repeats words. Whether what it says is of even length decides how well a player of ours answers the
 * library for the rest of the episode; the reward is the library's.
 */
function throughEcho(environment: Environment, player: Player): Environment {
  const echo = builtinEnvironment('echo')
  const [own] = environment.tools
  const [argument = ''] = Object.keys(own?.function.parameters.properties ?? {})
  return {
    name: environment.name,
    tools: echo.tools,
    maxSessions: environment.maxSessions,
    prompts: echo.prompts,
    connect: () => environment.connect(),
    close: () => environment.close(),
    episodeReward: (rewards) => environment.episodeReward(rewards),
    isSuccess: (reward) => environment.isSuccess(reward),
    open: async () => {
      const session = await environment.open()
      let said = ''
      return {
        reset: async (options) => {
          said = (await session.reset(options)).text
          return (await echo.open()).reset(options)
        },
        step: async (call) => {
          const answer = player(said, String(call.arguments['message']).length % 2 === 0)
          let seen
          do {
            seen = await session.step({ name: own?.function.name ?? '', arguments: { [argument]: answer(said) } })
            said = seen.text
          } while (!seen.done)
          return seen
        },
        close: () => session.close(),
      }
    },
  }
}

/** Plays one episode of given arguments by hand. */
async function play(environment: Environment, seed: number, answers: (text: string) => readonly string[]) {
  const session = await environment.open()
  let seen = await session.reset({ seed, episode_id: `by-hand-${seed}`, split: 'train' })
  const first = seen.text
  const [tool] = environment.tools
  const [argument = ''] = Object.keys(tool?.function.parameters.properties ?? {})
  const rewards: (number | null)[] = []
  for (const answer of answers(first)) {
    if (seen.done) break
    seen = await session.step({ name: tool?.function.name ?? '', arguments: { [argument]: answer } })
    expect(seen.toolError).toBe(false)
    rewards.push(seen.reward)
  }
  await session.close()
  return { first, last: seen, rewards }
}

describe('reasoning-gym', () => {
  it('asks, and scores right and wrong answers by its own rules', async () => {
    const environment = await connect(reasoning)
    for (const seed of [1, 2, 3]) {
      const right = await play(environment, seed, (text) => [calculator(text, true)('')])
      expect([right.first, right.rewards, right.last.done]).toEqual([expect.stringMatching(/\d/), [1], true])
      const wrong = await play(environment, seed, () => ['no idea'])
      expect(wrong.first).toBe(right.first)
      expect(wrong.rewards[0]).toBeLessThan(0.5)
    }
  })
})

describe('the minimal server that people copy', () => {
  it('plays: hints, a right guess, an end after four', async () => {
    const server = await startServer('e2e/openenv/minimal/guess.py')
    try {
      const environment = await connect(server)
      // A browser lets a page read these words where the server allows it; connecting does without them where they take long.
      const described = async () => {
        await environment.connect()
        return environment.tools[0]?.function.parameters.properties?.['message']?.description
      }
      await expect.poll(described, { timeout: 60_000 }).toBe('Your guess, a number from 1 to 8')
      const schema = await fetch(`http://127.0.0.1:${server.port}/schema`, { headers: { Origin: 'https://page.example' } })
      expect(schema.headers.get('access-control-allow-origin')).toBe('*')
      const all = ['1', '2', '3', '4', '5', '6', '7', '8']
      const right = await Promise.all(all.map((guess) => play(environment, 5, () => [guess])))
      expect(right.map(({ rewards }) => rewards[0]).sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 1])
      expect(new Set(right.map(({ last }) => last.text))).toEqual(new Set(['Right!', 'Higher.', 'Lower.']))
      const lost = await play(environment, 5, () => ['x', 'x', 'x', 'x', 'x'])
      expect([lost.rewards, lost.last.done, lost.last.text]).toEqual([[0, 0, 0, 0], true, 'That is not a number.'])
      expect(lost.first).toContain('four guesses')
    } finally {
      await server.kill()
    }
  })
})

describe('TextArena', () => {
  it('plays a game to its end and gives its own reward', async () => {
    const environment = await connect(arena)
    const all = Array.from({ length: 20 }, (_, i) => `[${i + 1}]`)
    const games = await Promise.all([1, 2, 3, 4, 5, 6].map((seed) => play(environment, seed, () => all)))
    for (const { first, last, rewards } of games) {
      expect(first).toContain('Guess The Number')
      expect(last.done).toBe(true)
      expect(last.text).not.toContain('You are Player 0')
      expect(rewards.slice(0, -1).every((reward) => reward === null)).toBe(true)
      expect(rewards.at(-1)).toBeTypeOf('number')
    }
    const again = await play(environment, 1, () => all)
    expect(again.rewards).toEqual(games[0]?.rewards)
  })
})

describe.each([
  ['reasoning-gym', () => reasoning, calculator],
  ['TextArena', () => arena, guesser],
] as const)('%s with the tiny model', (_, server, player) => {
  it('trains two steps: every reward is what the server sent', async () => {
    const { wires, Recorded } = recorder()
    const environment = new OpenEnvEnvironment(server().url, { WebSocket: Recorded })
    await environment.connect()
    const config = configOf('echo', { num_generations: 8, prompts_per_step: 1, seed: 7 })
    const { records } = await trainSteps(config, { steps: 2, environment: throughEcho(environment, player) })
    expect(records.map((record) => [record.version, record.episodes.length])).toEqual([
      [1, 8],
      [2, 8],
    ])
    let scored = 0
    for (const episode of records.flatMap((record) => record.episodes)) {
      const sent = wireOf(wires, episode).flatMap((wire) => wire.rewards.slice(1).filter((reward) => reward !== null)) as number[]
      expect(episode.exit).not.toBe('env_error')
      if (episode.exit === 'env_done') {
        expect([sent.length, episode.reward]).toEqual([1, sent[0]])
        scored++
      } else {
        expect([sent, episode.reward]).toEqual([[], 0])
      }
    }
    expect(scored).toBeGreaterThan(8)
    expect(records.some((record) => record.groups.some((group) => group.signal))).toBe(true)
  })
})
