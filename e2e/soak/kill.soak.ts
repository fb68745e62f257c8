/** A server that is killed and started again and again, over forty echo episodes: none is lost, none is scored that should not be. */

import { expect, it } from 'vitest'
import type { TrainEvent } from '../../src/core/events'
import { RandomStream } from '../../src/core/random'
import { OpenEnvEnvironment } from '../../src/env/openenv/client'
import { configOf, trainSteps } from '../integration/grpo-run'
import { recorder, wireOf } from '../integration/wire-recorder'
import { startServer } from '../openenv/server'
import { recordFigure } from '../tools/figures'

const STEPS = 5
const GROUP = 8
const KILLS = 6
/** Fewer than a step has episodes: they come in two waves. */
const SESSIONS = 5

it('forty episodes survive a server that dies six times', async () => {
  let server = await startServer('echo', { maxSessions: SESSIONS })
  const { port } = server
  const { wires, Recorded } = recorder()
  const environment = new OpenEnvEnvironment(server.url, { WebSocket: Recorded, deadlines: { openMs: 3000 } })
  await environment.connect()
  const config = configOf('echo', { num_generations: GROUP, prompts_per_step: 1, max_steps: STEPS, seed: 7 })

  const random = new RandomStream(1)
  let kills = 0
  /** Tokens and questions until the next kill is due. */
  let until = 20
  let finished = 0
  const life = { restarting: null as Promise<void> | null }
  const onEvent = (event: TrainEvent) => {
    if (event.type === 'step-started') finished = 0
    if (event.type === 'episode-finished') finished++
    if (event.type !== 'tokens' && event.type !== 'environment-waiting') return
    if (life.restarting || kills === KILLS || until-- > 0) return
    // Every other kill waits for the second wave of sessions, so that it breaks less than half of the step.
    if (kills % 2 === 1 && finished < SESSIONS) return
    kills++
    until = random.int(GROUP * 20)
    life.restarting = server.kill().then(async () => {
      server = await startServer('echo', { port, maxSessions: SESSIONS })
      life.restarting = null
    })
  }
  const began = performance.now()
  try {
    const wait = async () => {
      await life.restarting
    }
    const { records, events } = await trainSteps(config, { steps: STEPS, environment, onEvent, wait })
    const seconds = (performance.now() - began) / 1000

    const all = records.flatMap((r) => r.episodes)
    const played = events.flatMap((e) => (e.type === 'episode-finished' ? [e.episode] : []))
    const failed = played.filter((e) => e.exit === 'env_error')
    const unscorable = all.filter((e) => e.reward === null)
    const tries = events.filter((e) => e.type === 'step-started').length
    recordFigure({ test: 'kill', name: 'kills', value: kills, unit: 'times' })
    recordFigure({ test: 'kill', name: 'episodes asked for', value: STEPS * GROUP, unit: 'episodes' })
    recordFigure({ test: 'kill', name: 'episodes lost', value: STEPS * GROUP - all.length, unit: 'episodes' })
    recordFigure({ test: 'kill', name: 'episodes broken by a kill', value: failed.length, unit: 'episodes' })
    recordFigure({ test: 'kill', name: 'left out of an update', value: unscorable.length, unit: 'episodes' })
    recordFigure({ test: 'kill', name: 'steps tried again', value: tries - STEPS, unit: 'times' })
    recordFigure({ test: 'kill', name: 'duration', value: seconds, unit: 's' })

    expect(kills).toBe(KILLS)
    expect(failed.length).toBeGreaterThan(0)
    expect(unscorable.length).toBeGreaterThan(0)
    expect(records.map((r) => r.step)).toEqual([1, 2, 3, 4, 5])
    for (const { episodes } of records) {
      expect(episodes.map((e) => e.index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
      expect(episodes.filter((e) => e.reward === null).length).toBeLessThanOrEqual(GROUP / 2)
    }
    // A reward is there exactly when the server gave one on the episode's last socket.
    let wrong = 0
    for (const episode of all) {
      const given = wireOf(wires, episode).at(-1)?.rewards.slice(1) ?? []
      if (episode.exit === 'env_error') {
        expect([episode.reward, episode.advantage]).toEqual([null, 0])
        expect(episode.error).not.toBeNull()
        if (given.length > 0) wrong++
      } else if (episode.exit === 'env_done') {
        if (episode.reward !== given.at(-1)) wrong++
      }
    }
    recordFigure({ test: 'kill', name: 'episodes scored wrongly', value: wrong, unit: 'episodes' })
    expect(wrong).toBe(0)
    for (const episode of failed) expect(episode.reward).toBeNull()
  } finally {
    await life.restarting
    await server.kill()
  }
})
