/** Waiting for a server is told, and ends at once when it is given up. */

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { PlaygroundError } from '../../core/errors'
import { OpenEnvEnvironment, type OpenEnvOptions } from './client'
import { errorFrame, fakeServer, missing, noMcp, observation, type Peer } from './testing/fake-socket'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const offline = (() => Promise.reject(new TypeError('Failed to fetch'))) as typeof fetch
const deadlines = { openMs: 500, helloMs: 500, resetMs: 200, stepMs: 100, capacityMs: 2000, backoffMs: 10 }

/** A typed server that holds so many sessions. */
function server(max = Infinity) {
  const held = new Set<Peer>()
  return fakeServer({
    onConnect: (peer) => {
      if (held.size < max) held.add(peer)
      else queueMicrotask(() => peer.send(errorFrame('CAPACITY_REACHED', 'Full.', { max_sessions: max })))
      return 'accept'
    },
    onFrame: (frame, peer) => {
      if (frame.type === 'close') held.delete(peer)
      else if (!held.has(peer)) return
      else if (frame.type === 'mcp') peer.send(noMcp)
      else if (frame.data && '__probe__' in frame.data) peer.send(missing('to'))
      else peer.send(observation({ text: 'height 5, ball a, paddle b' }))
    },
  })
}

it('what connecting waits for is given up at once by closing: a handshake, a full server, an answer over HTTP', async () => {
  const given = async (more: Partial<OpenEnvOptions>, isWaiting: () => boolean) => {
    const environment = new OpenEnvEnvironment('example.org', { fetch: offline, deadlines: { ...deadlines, openMs: 60_000, capacityMs: 60_000, backoffMs: 60_000 }, ...more })
    const connecting = environment.connect().then(
      () => null,
      (error: unknown) => error as PlaygroundError,
    )
    while (!isWaiting()) await vi.advanceTimersByTimeAsync(1)
    // The clock stands: nothing comes by waiting.
    await environment.close()
    expect(await connecting).toMatchObject({ kind: 'environment' })
  }
  const hanging = fakeServer({ onConnect: () => 'hang' })
  await given({ WebSocket: hanging.WebSocket }, () => hanging.peers.length > 0)
  expect(hanging.peers[0]?.left).toBe(true)
  const said: string[] = []
  await given({ WebSocket: server(0).WebSocket, random: () => 0.5, onDetail: (detail) => said.push(detail) }, () => said.length > 0)
  expect(said).toEqual(['example.org has no free session, others have them all · asked again in 30 s'])
  let asked = 0
  const silent: typeof fetch = (_, init) =>
    new Promise((_resolve, reject) => {
      asked++
      init?.signal?.addEventListener('abort', () => reject(new Error('aborted')))
    })
  await given({ WebSocket: server().WebSocket, fetch: silent, deadlines: { ...deadlines, helloMs: 60_000 } }, () => asked > 0)
})

it('an episode that waits because others fill the server is told, and its end; with a session of our own open it is not', async () => {
  const { WebSocket } = server(1)
  const told: (string | null)[] = []
  const make = () => new OpenEnvEnvironment('example.org', { WebSocket, fetch: offline, deadlines, random: () => 0.5, onAway: (text) => told.push(text) })
  const [run, other] = [make(), make()]
  for (const each of [run, other]) {
    const connecting = each.connect()
    await vi.advanceTimersByTimeAsync(30)
    await connecting
  }
  const theirs = await other.open()
  const waiting = run.open()
  while (told.length === 0) await vi.advanceTimersByTimeAsync(1)
  await theirs.close()
  await vi.advanceTimersByTimeAsync(1000)
  const mine = await waiting
  expect(told[0]).toBe('example.org has no free session, others have them all · asked again in 1 s')
  expect(told.at(-1)).toBeNull()
  told.length = 0
  const next = run.open()
  await vi.advanceTimersByTimeAsync(30)
  await mine.close()
  await (await next).close()
  expect(told).toEqual([])
})
