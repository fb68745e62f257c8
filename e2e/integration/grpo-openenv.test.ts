/** GRPO in Node over a WebSocket to real Python OpenEnv servers: what is trained on is what the servers said. */

import { setTimeout as sleep } from 'node:timers/promises'
import WebSocket from 'ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EnvironmentSession } from '../../src/core/environment'
import type { Episode } from '../../src/core/episode'
import type { StepRecord, TrainEvent } from '../../src/core/events'
import { OpenEnvEnvironment, type OpenEnvOptions } from '../../src/env/openenv/client'
import type { ChatFormat } from '../../src/rollout/chat'
import { startServer, type RunningServer } from '../openenv/server'
import { configOf, tinyChat, trainSteps } from './grpo-run'
import { recorder, wireOf, type Wire } from './wire-recorder'

async function connect(server: RunningServer, options: Partial<OpenEnvOptions> = {}): Promise<OpenEnvEnvironment> {
  const environment = new OpenEnvEnvironment(server.url, { WebSocket, ...options })
  await environment.connect()
  return environment
}

/** Text of each stretch of environment tokens: what reset said (in the prompt), then each result. */
function environmentTexts({ ids, authors }: Episode, chat: ChatFormat): string[] {
  const runs: number[][] = []
  authors.forEach((author, i) => {
    if (author !== 'environment') return
    if (authors[i - 1] !== 'environment') runs.push([])
    runs.at(-1)?.push(ids[i] as number)
  })
  return runs.map((run) => chat.text(run))
}

/** Only what the model sampled trains; everything else has mask 0 and no log-prob. */
function expectExactMasks({ ids, mask, logprobs, authors, alternatives, promptLength, turns }: Episode): void {
  for (const list of [mask, logprobs, authors, alternatives]) expect(list).toHaveLength(ids.length)
  ids.forEach((_, t) => {
    const sampled = turns.some(({ start, end }) => t >= start && t < end)
    expect([t, mask[t], authors[t] === 'model', alternatives[t] !== null]).toEqual([t, sampled ? 1 : 0, sampled, sampled])
    if (sampled) expect(logprobs[t]).toBeLessThan(0)
    else expect(logprobs[t]).toBe(0)
    if (t < promptLength) expect(mask[t]).toBe(0)
  })
}

/** No session's reset is answered before so many have been: whether they can be there at once, not whether the model is slow enough for it. */
class Together extends OpenEnvEnvironment {
  private waiting: (() => void)[] = []

  constructor(
    url: string,
    options: OpenEnvOptions,
    private readonly players: number,
  ) {
    super(url, options)
  }

  override async open(): Promise<EnvironmentSession> {
    const session = await super.open()
    const reset = session.reset.bind(session)
    session.reset = async (options) => {
      const first = await reset(options)
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve)
        if (this.waiting.length === this.players) for (const go of this.waiting.splice(0)) go()
      })
      return first
    }
    return session
  }
}

let echo: RunningServer
let catching: RunningServer
let chat: ChatFormat
beforeAll(async () => {
  ;[echo, catching, chat] = await Promise.all([startServer('echo'), startServer('catch'), tinyChat()])
})
afterAll(async () => {
  await Promise.all([echo?.kill(), catching?.kill()])
})

describe('two steps of eight concurrent episodes on echo (MCP)', () => {
  let records: StepRecord[]
  let wires: Wire[]
  let peak = 0
  beforeAll(async () => {
    const recorded = recorder()
    wires = recorded.wires
    const environment = new Together(echo.url, { WebSocket: recorded.Recorded }, 8)
    await environment.connect()
    const config = configOf('echo', { num_generations: 8, prompts_per_step: 1, seed: 7 })
    const open = new Set<string>()
    const onEvent = (event: TrainEvent) => {
      if (event.type === 'episode-started') open.add(`${event.step}/${event.index}`)
      if (event.type === 'episode-finished') open.delete(`${event.episode.step}/${event.episode.index}`)
      peak = Math.max(peak, open.size)
    }
    ;({ records } = await trainSteps(config, { steps: 2, environment, onEvent }))
  })

  it('all play at once, each on a socket of its own, one seed a group', () => {
    expect(peak).toBe(8)
    expect(records.map((r) => r.episodes.length)).toEqual([8, 8])
    for (const { episodes } of records) {
      expect(new Set(episodes.map((e) => e.seed)).size).toBe(1)
      for (const episode of episodes) expect(wireOf(wires, episode)).toHaveLength(1)
    }
    expect(records[0]?.episodes[0]?.seed).not.toBe(records[1]?.episodes[0]?.seed)
  })

  it('masks are exact', () => {
    for (const { episodes } of records) for (const episode of episodes) expectExactMasks(episode)
  })

  it('rewards and texts are what the server sent', () => {
    let given = 0
    for (const episode of records.flatMap((r) => r.episodes)) {
      const [wire] = wireOf(wires, episode)
      expect(environmentTexts(episode, chat)).toEqual([wire?.texts[0]])
      expect(episode.turns.flatMap((t) => t.calls.map((c) => c.result))).toEqual(wire?.texts.slice(1))
      const sent = wire?.rewards.slice(1) ?? []
      if (episode.exit === 'env_done') {
        expect(episode.reward).toBe(sent.at(-1))
        given++
      }
    }
    expect(given).toBeGreaterThan(8)
  })

  it('the update changed the adapter, and the sampler used it', () => {
    expect(records.map((r) => r.version)).toEqual([1, 2])
    for (const { metrics } of records) {
      expect(metrics['sampling/sampling_logp_difference/max']).toBeLessThan(1e-4)
      expect(metrics['exit/env_error']).toBe(0)
    }
  })
})

describe('several turns on catch (typed)', () => {
  it('what the server said is in the tokens, masked, turn by turn', async () => {
    const { wires, Recorded } = recorder()
    const environment = await connect(catching, { WebSocket: Recorded })
    const { records } = await trainSteps(configOf('catch', { num_generations: 4, prompts_per_step: 2, seed: 7 }), { environment })
    const episodes = records[0]?.episodes ?? []
    expect(episodes).toHaveLength(8)
    let turns = 0
    for (const episode of episodes) {
      expectExactMasks(episode)
      const [wire] = wireOf(wires, episode)
      const said = wire?.texts ?? []
      // The last answer ends the episode and is read by nobody.
      const read = episode.exit === 'env_done' ? said.slice(0, -1) : said
      const inTokens = environmentTexts(episode, chat)
      expect(inTokens.slice(0, read.length)).toEqual(read)
      expect(episode.reward).toBe(episode.exit === 'env_done' ? wire?.rewards.at(-1) : environment.episodeReward((wire?.rewards.slice(1) ?? []) as number[]))
      turns += episode.turns.length
    }
    expect(turns).toBeGreaterThan(16)
  })
})

describe('a server that is killed in mid-episode', () => {
  it('loses its episodes, unscorable; the step is tried again and training goes on when it is back', async () => {
    let server = await startServer('echo')
    const { port } = server
    try {
      const environment = await connect(server)
      const config = configOf('echo', { num_generations: 8, prompts_per_step: 1, seed: 7 })
      const undisturbed = await trainSteps(config, { steps: 2, environment })

      let killing: Promise<void> | null = null
      let back: Promise<void> | null = null
      const waits: number[] = []
      const onEvent = (event: TrainEvent) => {
        // In the second step, once somebody is half through a turn.
        if (killing || event.type !== 'tokens' || event.step !== 2) return
        killing = server.kill()
      }
      const wait = async (seconds: number) => {
        waits.push(seconds)
        // Still away at the second attempt.
        if (waits.length < 2) return void (await sleep(10))
        back ??= startServer('echo', { port }).then((started) => {
          server = started
        })
        await back
      }
      const { records, events } = await trainSteps(config, { steps: 2, environment, onEvent, wait })

      const finished = events.flatMap((e) => (e.type === 'episode-finished' && e.episode.step === 2 ? [e.episode] : []))
      const lost = finished.filter((e) => e.exit === 'env_error')
      expect(lost.length).toBeGreaterThanOrEqual(8)
      for (const episode of lost) {
        expect(episode.reward).toBeNull()
        expect(episode.error).toMatch(/\w+ .*\w+/)
        for (const list of [episode.mask, episode.logprobs, episode.authors]) expect(list).toHaveLength(episode.ids.length)
      }
      const notices = events.flatMap((e) => (e.type === 'notice' && e.level === 'warning' ? [e.text] : []))
      expect(notices.length).toBe(waits.length)
      expect(notices[0]).toMatch(/8 of 8 episodes of step 2 could not be scored .* tried again in 1 s/)
      // One and two seconds, each by half to all of it: pages do not come back at the same moment.
      const [first = 0, second = 0] = waits
      for (const [waited, whole] of [[first, 1], [second, 2]] as const) expect(waited >= whole / 2 && waited <= whole).toBe(true)

      // The outage left no trace in the numbers.
      const numbers = (all: StepRecord[]) => all.map((r) => r.episodes.map(({ ids, reward, advantage }) => ({ ids, reward, advantage })))
      expect(numbers(records)).toEqual(numbers(undisturbed.records))
      expect(records.map((r) => r.metrics['exit/env_error'])).toEqual([0, 0])
    } finally {
      await server.kill()
    }
  })
})
