/** A run against a server that is killed, restarted, slowed and filled at random, and what must hold after it. */

import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import WebSocket from 'ws'
import { expect, vi } from 'vitest'
import type { ScoredEpisode, TrainEvent } from '../../src/core/events'
import { RandomStream } from '../../src/core/random'
import { OpenEnvEnvironment } from '../../src/env/openenv/client'
import { GrpoTrainer } from '../../src/train/grpo'
import { configOf, tinyChat, tinyEngine } from '../integration/grpo-run'
import { recorder, wireOf, type Wire } from '../integration/wire-recorder'
import { startServer, type RunningServer } from '../openenv/server'

const SOCKETS = 8
const MB = 2 ** 20
/** What has not come by then never comes: a socket that nobody closed, a session that nobody gave back. */
const PATIENCE_MS = 60_000
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

export interface ChaosOptions {
  /** At least so many of eight episodes each, and more until every kind of disturbance has come and an episode was lost. */
  steps: number
  seed: number
  /** Most tokens and questions between two disturbances. */
  spacing: number
  /** Longest slowness and fullness. */
  longestMs: number
}

/** What is kept of an episode: a run that kept all would not hold still in memory. */
type Fact = Pick<ScoredEpisode, 'step' | 'index' | 'exit' | 'reward' | 'error'> & { advantage?: number }

type Act = 'kill' | 'slow' | 'fill'

export interface ChaosResult {
  /** Of the steps that counted, in order. */
  steps: Fact[][]
  /** Of every attempt, also those whose step was tried again. */
  played: Fact[]
  wires: Wire[]
  acts: Record<Act, number>
  attempts: number
  /** Of our client, still open after the environment was closed. */
  openSockets: number
  /** Sessions that the server gave afterwards; it holds eight. */
  freeSessions: number
  /** After each step, collected. */
  heapMB: number[]
  seconds: number
}

/** Takes all of the server's sessions for a while, as another visitor would. */
async function fill(url: string, ms: number): Promise<void> {
  const others = Array.from({ length: SOCKETS }, () => new WebSocket(url))
  for (const other of others) other.on('error', () => undefined)
  await sleep(ms)
  for (const other of others) other.terminate()
}

/** One disturbance after another, each over before the next begins. */
class Weather {
  readonly acts: Record<Act, number> = { kill: 0, slow: 0, fill: 0 }
  /** The disturbance that goes on. */
  now: Promise<void> | null = null
  private readonly random: RandomStream
  /** Each kind once, in any order, before one comes again. */
  private coming: Act[] = []
  private left = 10

  constructor(
    public server: RunningServer,
    private readonly options: ChaosOptions,
  ) {
    this.random = new RandomStream(options.seed)
  }

  /** Something happened in the run. */
  tick(): void {
    if (this.now || this.left-- > 0) return
    this.left = this.random.int(this.options.spacing)
    if (this.coming.length === 0) this.coming = ['kill', 'slow', 'fill']
    const [act = 'kill'] = this.coming.splice(this.random.int(this.coming.length), 1)
    this.acts[act]++
    this.now = this.perform(act, 200 + this.random.int(this.options.longestMs)).finally(() => (this.now = null))
  }

  private async perform(act: Act, ms: number): Promise<void> {
    if (act === 'fill') return fill(this.server.url, ms)
    if (act === 'slow') {
      this.server.pause()
      await sleep(ms)
      return this.server.resume()
    }
    await this.server.kill()
    this.server = await startServer('catch', { port: this.server.port, maxSessions: SOCKETS })
  }
}

/** Trains on catch through eight sockets while the weather is bad; resolves when all steps are done and all is closed. */
export async function chaos(options: ChaosOptions): Promise<ChaosResult> {
  const weather = new Weather(await startServer('catch', { maxSessions: SOCKETS }), options)
  const { wires, Recorded } = recorder()
  let openSockets = 0
  class Counted extends Recorded {
    constructor(url: string) {
      super(url)
      openSockets++
      this.once('close', () => openSockets--)
    }
  }
  const environment = new OpenEnvEnvironment(weather.server.url, {
    WebSocket: Counted,
    deadlines: { openMs: 2000, helloMs: 2000, resetMs: 2000, stepMs: 2000, capacityMs: 4000, backoffMs: 100 },
  })
  const began = performance.now()
  const heapMB: number[] = []
  const played: Fact[] = []
  const steps: Fact[][] = []
  let attempts = 0
  // How often the weather comes within the steps depends on the machine: the run goes on until it has seen all of it.
  const most = 4 * options.steps
  const config = configOf('catch', { num_generations: SOCKETS, prompts_per_step: 1, max_steps: most, seed: 7 })
  const engine = await tinyEngine(config)
  try {
    // Its deadlines are the run's, and short: a busy machine may miss them while the server builds its first session.
    await vi.waitFor(() => environment.connect(), { timeout: PATIENCE_MS, interval: 100 })
    const onEvent = (event: TrainEvent) => {
      if (event.type === 'step-started') attempts++
      if (event.type === 'episode-finished') played.push(fact(event.episode))
      if (event.type === 'tokens' || event.type === 'environment-waiting') weather.tick()
    }
    const wait = async (seconds: number) => {
      await Promise.race([weather.now ?? sleep(0), sleep(seconds * 1000)])
    }
    const trainer = new GrpoTrainer({ config, engine, environment, chat: await tinyChat(), onEvent, wait })
    // What comes when nobody asks the server for anything, as in an update, costs no episode.
    const seen = () => Object.values(weather.acts).every((times) => times > 0) && played.some(({ exit }) => exit === 'env_error')
    for (let step = 0; step < options.steps || (!seen() && step < most); step++) {
      steps.push((await trainer.step()).episodes.map(fact))
      collect()
      heapMB.push(process.memoryUsage().heapUsed / MB)
    }
    await weather.now
    await environment.close()
    for (const until = Date.now() + PATIENCE_MS; openSockets > 0 && Date.now() < until;) await sleep(100)
    const free = await freeSessions(weather.server)
    const seconds = (performance.now() - began) / 1000
    return { steps, played, wires, acts: weather.acts, attempts, openSockets, freeSessions: free, heapMB, seconds }
  } finally {
    await weather.now
    await Promise.all([weather.server.kill(), engine.dispose()])
  }
}

const fact = ({ step, index, exit, reward, error, ...rest }: Fact): Fact => {
  return { step, index, exit, reward, error, ...(rest.advantage === undefined ? {} : { advantage: rest.advantage }) }
}

/** How many of the server's eight sessions can be had at once. */
async function freeSessions({ url }: RunningServer): Promise<number> {
  const probe = new OpenEnvEnvironment(url, { WebSocket, deadlines: { capacityMs: PATIENCE_MS } })
  await probe.connect()
  const opened = await Promise.allSettled(Array.from({ length: SOCKETS }, () => probe.open()))
  await probe.close()
  return opened.filter(({ status }) => status === 'fulfilled').length
}

/** Asserts that none was lost, none scored that should not be, no socket is left, and no session is taken. Returns how many failed. */
export function expectCalm({ steps, played, wires, openSockets, freeSessions }: ChaosResult): number {
  for (const [i, episodes] of steps.entries()) {
    expect(episodes.every((episode) => episode.step === i + 1)).toBe(true)
    expect(episodes.map((episode) => episode.index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(episodes.filter((episode) => episode.reward === null).length).toBeLessThanOrEqual(SOCKETS / 2)
  }
  for (const episode of steps.flat()) {
    const given = (wireOf(wires, episode).at(-1)?.rewards.slice(1) ?? []) as (number | null)[]
    const sum = given.reduce<number>((total, reward) => total + (reward ?? 0), 0)
    if (episode.exit === 'env_error') expect([episode.reward, episode.advantage, typeof episode.error]).toEqual([null, 0, 'string'])
    else expect([episode.step, episode.index, episode.exit, episode.reward]).toEqual([episode.step, episode.index, episode.exit, sum])
  }
  const failed = played.filter((episode) => episode.exit === 'env_error')
  for (const episode of failed) expect(episode.reward).toBeNull()
  expect([openSockets, freeSessions]).toEqual([0, SOCKETS])
  return failed.length
}
