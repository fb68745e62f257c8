/** Play by hand against the real OpenEnv server library: frames, state, seeds, a full server, and a run that needs the only session. */

import WebSocket from 'ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OpenEnvEnvironment } from '../../src/env/openenv/client'
import { withToolEdits } from '../../src/env/tool-edits'
import { chat } from '../../src/train/testing/bandit'
import type { PlayAction, PlaySetup } from '../../src/worker/protocol'
import { askedDesk } from '../../src/worker/testing/play-desk'
import { startServers, type RunningServer } from '../openenv/server'

let echo: RunningServer
let catching: RunningServer
let small: RunningServer
beforeAll(async () => {
  ;[echo, catching, small] = (await startServers(['echo', 'catch', 'misbehave:1'])) as [RunningServer, RunningServer, RunningServer]
})
afterAll(async () => {
  await Promise.all([echo, catching, small].map((server) => server?.kill()))
})

/** How soon a server frees a session is its own affair; a person who plays waits a moment only, and presses again. */
const PATIENT = { timeout: 60_000 }

const client = (server: RunningServer, more = {}) => new OpenEnvEnvironment(server.url, { WebSocket, ...more })

function desk(server: RunningServer) {
  const { play, act, messages } = askedDesk({
    makeEnvironment: ({ tool_edits }, options) => withToolEdits(client(server, options), tool_edits),
    chat: () => chat,
  })
  const setup: PlaySetup = {
    environment: { kind: 'openenv', url: server.url },
    tool_edits: [],
    system_prompt: '',
    user_prompt: '',
    enable_thinking: false,
  }
  const begin = (more: Partial<PlaySetup> = {}): PlayAction => ({ do: 'reset', setup: { ...setup, ...more }, seed: 3 })
  const frames = () => messages.flatMap((m) => (m.type === 'play-frames' ? m.frames : []))
  return { play, act, begin, setup, frames, messages }
}

describe('on a server', () => {
  it('an episode of echo, through a renamed tool, with its frames and state', async () => {
    const { act, begin, frames } = desk(echo)
    const begun = await act(begin({ tool_edits: [{ kind: 'rename', tool: 'echo_message', name: 'say' }] }))
    expect(begun).toMatchObject({ kind: 'begun', hasState: true })
    expect(begun.kind === 'begun' && begun.tools.map((tool) => tool.function.name)).toEqual(['say'])
    const before = frames().length
    const from = Date.now()
    expect(await act({ do: 'call', call: { name: 'say', arguments: { message: 'ünï' } } })).toMatchObject({ kind: 'answered', observation: { toolError: false } })
    const [sent, received] = frames().slice(before)
    expect(sent).toMatchObject({ direction: 'sent', bytes: new TextEncoder().encode(sent?.text).length })
    expect(JSON.parse(sent?.text ?? '')).toMatchObject({ type: 'step', data: { tool_name: 'echo_message', arguments: { message: 'ünï' } } })
    expect(received).toMatchObject({ direction: 'received' })
    expect(received?.time).toBeGreaterThanOrEqual(sent?.time ?? Infinity)
    expect(sent?.time).toBeGreaterThanOrEqual(from)
    expect(await act({ do: 'state' })).toMatchObject({ kind: 'state', state: { step_count: expect.any(Number) as number } })
    await act({ do: 'end' })
    expect(JSON.parse(frames().at(-1)?.text ?? '')).toMatchObject({ type: 'close' })
  })

  it('finds that catch honours seeds', async () => {
    const { act, setup } = desk(catching)
    expect(await act({ do: 'compare', setup, seed: 3 })).toMatchObject({ kind: 'compared', verdict: 'honoured' })
  })

  it('is refused with a sentence while another holds the only session, and begins when it is free', async () => {
    const run = client(small)
    await run.connect()
    const held = await run.open()
    const { act, begin } = desk(small)
    const refused = await act(begin())
    expect(refused).toMatchObject({ kind: 'failed', over: true })
    expect(refused.kind === 'failed' && refused.error).toMatch(/full|capacity|session/i)
    await held.close()
    await expect.poll(() => act(begin()), PATIENT).toMatchObject({ kind: 'begun' })
    await act({ do: 'end' })
  })

  it('gives the only session to a run that wants it, which loses no episode by it', async () => {
    const { play, act, begin, messages } = desk(small)
    const run = client(small)
    await run.connect()
    run.onCrowded = () => void play.giveWay('The run needs it.')
    await expect.poll(() => act(begin()), PATIENT).toMatchObject({ kind: 'begun' })
    const session = await run.open()
    expect(await session.reset({ seed: 1, episode_id: 'run', split: 'train' })).toMatchObject({ done: false })
    await session.close()
    expect(messages.filter((m) => m.type === 'play-ended')).toEqual([{ type: 'play-ended', reason: 'The run needs it.' }])
  })
})
