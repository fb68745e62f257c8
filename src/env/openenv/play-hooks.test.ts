/** What a person who plays by hand needs of the client: raw frames, the server's state, and a word when a run wants the session. */

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { OpenEnvEnvironment } from './client'
import { errorFrame, fakeServer, missing, noMcp, observation } from './testing/fake-socket'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const offline = (() => Promise.reject(new TypeError('Failed to fetch'))) as typeof fetch
const deadlines = { openMs: 500, helloMs: 500, resetMs: 200, stepMs: 100, capacityMs: 300, backoffMs: 10, quietMs: 0 }
const reset = { seed: 7, episode_id: 'e', split: 'train' as const }

function server(max = Infinity, state: unknown = { type: 'state', data: { episode_id: 'e', step_count: 0, secret: 'crane' } }) {
  let open = 0
  return fakeServer({
    onConnect: (peer) => {
      if (++open > max) {
        open--
        queueMicrotask(() => peer.send(errorFrame('CAPACITY_REACHED', 'Full.', { max_sessions: max })))
      }
      return 'accept'
    },
    onFrame: (frame, peer) => {
      if (frame.type === 'mcp') peer.send(noMcp)
      else if (frame.data && '__probe__' in frame.data) peer.send(missing('to'))
      else if (frame.type === 'close') open--
      else if (frame.type === 'state') peer.send(state)
      else peer.send(observation({ text: 'height 5, ball a, paddle b' }))
    },
  })
}

it('every frame of every session is seen', async () => {
  const seen: string[] = []
  const { WebSocket } = server()
  const onFrame = (direction: string, text: string) => void seen.push(`${direction} ${(JSON.parse(text) as { type: string }).type}`)
  const environment = new OpenEnvEnvironment('example.org', { WebSocket, fetch: offline, deadlines, onFrame })
  await environment.connect()
  seen.length = 0
  const session = await environment.open()
  await session.reset(reset)
  await session.close()
  expect(seen).toEqual(['sent mcp', 'received mcp', 'sent reset', 'received observation', 'sent close'])
})

it('the state is read, and a server that tells none does not end the episode', async () => {
  const told = new OpenEnvEnvironment('example.org', { WebSocket: server().WebSocket, fetch: offline, deadlines })
  await told.connect()
  const session = await told.open()
  await session.reset(reset)
  expect(await session.readState?.()).toMatchObject({ step_count: 0 })
  await told.close()

  const { WebSocket } = server(Infinity, errorFrame('EXECUTION_ERROR', 'no state here'))
  const silent = new OpenEnvEnvironment('example.org', { WebSocket, fetch: offline, deadlines })
  await silent.connect()
  const other = await silent.open()
  await other.reset(reset)
  await expect(other.readState?.()).rejects.toThrow('told no state: no state here')
  expect(await other.step({ name: 'move', arguments: { to: 'left' } })).toMatchObject({ toolError: false })
  await silent.close()
})

it('a run that finds the server full says so, and goes on when the other gives way', async () => {
  const { WebSocket } = server(1)
  const make = () => new OpenEnvEnvironment('example.org', { WebSocket, fetch: offline, deadlines, random: () => 0.5 })
  const [run, player] = [make(), make()]
  await run.connect()
  await player.connect()
  const played = await player.open()
  let asked = 0
  run.onCrowded = () => {
    asked++
    void played.close()
  }
  const opening = run.open()
  await vi.advanceTimersByTimeAsync(250)
  const session = await opening
  expect(asked).toBeGreaterThan(0)
  expect(await session.reset(reset)).toMatchObject({ done: false })
  await run.close()
})
