/** What real servers of two ages do to a client: every error code, full, slow, dead, flooding, odd numbers, typed and through MCP. */

import { once } from 'node:events'
import WebSocket from 'ws'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Environment, EnvironmentSession } from '../../src/core/environment'
import { describeError, isLasting } from '../../src/core/errors'
import type { ToolCall } from '../../src/core/tools'
import { OpenEnvEnvironment, type OpenEnvOptions } from '../../src/env/openenv/client'
import { parseServerFrame, type ErrorFrame } from '../../src/env/openenv/protocol'
import { startServer, startServers, type RunningServer } from '../openenv/server'
import { failure } from './failure'
import { leash } from './leash'

const start = { seed: 1, episode_id: 'e-1', split: 'train' } as const
const PATIENT = { timeout: 60_000, interval: 50 }

async function connect(server: RunningServer, options: Partial<OpenEnvOptions> = {}): Promise<Environment> {
  const environment = new OpenEnvEnvironment(server.url, { WebSocket, ...options })
  await environment.connect()
  return environment
}

/** A session that has been reset, and a way to say something to the only tool of a typed environment. */
async function begun(server: RunningServer, options: Partial<OpenEnvOptions> = {}) {
  const environment = await connect(server, options)
  const session = await environment.open()
  const first = await session.reset(start)
  const [tool] = environment.tools
  const name = tool?.function.name ?? ''
  const say = (message: string): ToolCall => ({ name, arguments: { message } })
  return { environment, session, first, say }
}

/** Sends one frame as it is, then asks for the state, and reads the errors that come until the state or the socket's end does. */
async function raw(server: RunningServer, frame: string | Buffer) {
  const ws = new WebSocket(server.url)
  await once(ws, 'open')
  const errors: ErrorFrame[] = []
  const ending = new Promise<'open' | 'closed'>((resolve) => {
    ws.on('message', (data: Buffer) => {
      const read = parseServerFrame(data.toString())
      if (read.kind === 'error') errors.push(read)
      if (read.kind === 'state') resolve('open')
    })
    ws.on('close', () => resolve('closed'))
    // The socket's end follows and says as much.
    ws.on('error', () => undefined)
  })
  ws.send(frame)
  ws.send('{"type":"state"}')
  const session = await ending
  ws.terminate()
  return { codes: errors.map((error) => error.code), error: errors[0] ?? null, session }
}

describe.each([
  ['the newest library', 'openenv', true],
  ['openenv-core 0.2', 'openenv-old', false],
] as const)('%s', (_, venv, keepsMetadata) => {
  let servers: RunningServer[]
  let misbehave: RunningServer
  let tools: RunningServer
  let broken: RunningServer
  let small: RunningServer
  beforeAll(async () => {
    servers = await startServers(['misbehave', 'tools', 'broken', 'misbehave:1'], { venv })
    ;[misbehave, tools, broken, small] = servers as [RunningServer, RunningServer, RunningServer, RunningServer]
  })
  afterAll(async () => {
    await servers?.[0]?.kill()
  })

  describe('typed', () => {
    it('plays an episode: text, reward, done', async () => {
      const { session, first, say } = await begun(misbehave)
      expect(first).toMatchObject({ text: 'what now?', reward: null, done: false })
      expect(await session.step(say('hi'))).toMatchObject({ text: 'HI', reward: 0.5, done: false, toolError: false })
      expect(await session.step(say('!done'))).toMatchObject({ reward: 0.5, done: true })
      await session.close()
    })

    it('metadata is there where the library keeps it, and missing without harm', async () => {
      const { session, say } = await begun(misbehave)
      expect((await session.step(say('!meta'))).metadata).toEqual(keepsMetadata ? { turn: 1 } : {})
      await session.close()
    })

    it('NaN is no reward', async () => {
      const { session, say } = await begun(misbehave)
      expect(await session.step(say('!nan'))).toMatchObject({ text: 'not a number', reward: null, done: false })
      await session.close()
    })

    it('an exception ends the episode for good; the next one plays', async () => {
      const { environment, session, say } = await begun(misbehave)
      const error = await failure(session.step(say('!raise')))
      expect(error.message).toContain('asked to fail')
      expect(isLasting(error)).toBe(true)
      await session.close()
      const next = await environment.open()
      await next.reset(start)
      expect(await next.step(say('hi'))).toMatchObject({ reward: 0.5 })
      await next.close()
    })

    it('a refused action is told to the policy; one that breaks the validator ends the episode', async () => {
      const { session, say } = await begun(misbehave)
      expect(await session.step(say(''))).toMatchObject({ toolError: true, reward: null, done: false })
      expect((await failure(session.step(say('bad')))).kind).toBe('environment')
      await session.close()
    })

    it('a reply of 12 MB arrives with its reward, cut for the model', async () => {
      const { session, say } = await begun(misbehave)
      const seen = await session.step(say('!big:12000000'))
      expect(seen.reward).toBe(0.5)
      expect(seen.text.length).toBeLessThan(25_000)
      await session.close()
    })

    it('a request of more than 16 MiB loses the episode with a reason, nothing else', async () => {
      const { environment, session, say } = await begun(misbehave)
      const error = await failure(session.step(say('x'.repeat(17 * 2 ** 20))))
      expect(describeError(error)).toMatch(/\(1009|\(1006/)
      await session.close()
      await (await environment.open()).close()
    })

    it('a late answer closes the socket; the slot comes back when the step is over', async () => {
      const held = await leash()
      try {
        let refusals = 0
        const onFrame = (_direction: string, text: string) => (refusals += Number(text.includes('CAPACITY_REACHED')))
        const { environment, session, say } = await begun(small, { deadlines: { stepMs: 300, backoffMs: 100 }, onFrame })
        expect((await failure(session.step(say(`!while:${held.file}`)))).message).toContain('within 0.3 s')
        await session.close()
        // Full until the server is let go: asked again, politely, until it has room.
        refusals = 0
        let came = false
        const opening = environment.open().finally(() => (came = true))
        await vi.waitFor(() => expect(refusals).toBeGreaterThan(1), PATIENT)
        expect(came).toBe(false)
        await held.letGo()
        const next = await opening
        expect(await next.reset(start)).toMatchObject({ reward: null })
        await next.close()
      } finally {
        await held.letGo()
      }
    })

    it('death without a farewell is told', async () => {
      const mortal = await startServer('misbehave', { venv })
      try {
        const { session, say } = await begun(mortal)
        expect((await failure(session.step(say('!die')))).message).toContain('1006')
        await session.close()
      } finally {
        await mortal.kill()
      }
    })
  })

  describe('through MCP', () => {
    let environment: Environment
    let session: EnvironmentSession
    beforeAll(async () => {
      environment = await connect(tools)
      session = await environment.open()
    })

    it('lists the tools, and says what reset left in the metadata where the library keeps it', async () => {
      expect(environment.tools.map((tool) => tool.function.name)).toEqual(['echo', 'measure', 'fail', 'dawdle', 'flood'])
      expect((await session.reset(start)).text).toBe(keepsMetadata ? 'Use the tools.' : '')
    })

    it('gives results as text or JSON, without a reward', async () => {
      const echoed = await session.step({ name: 'echo', arguments: { message: 'hi', times: 2 } })
      expect(echoed).toMatchObject({ text: 'hi hi', reward: null, done: false, toolError: false })
      const measured = await session.step({ name: 'measure', arguments: { message: 'abc' } })
      expect(JSON.parse(measured.text)).toEqual({ message: 'abc', length: 3 })
      expect((await session.step({ name: 'flood', arguments: { characters: 12_000_000 } })).text.length).toBeLessThan(25_000)
    })

    it.each([
      ['a tool that raises', { name: 'fail', arguments: {} }, 'failed'],
      ['an unknown tool', { name: 'nope', arguments: {} }, 'nope'],
      ['arguments that do not fit', { name: 'echo', arguments: { wrong: 1 } }, 'message'],
    ])('%s is a tool error, and the episode goes on', async (_name, call, words) => {
      const seen = await session.step(call)
      expect(seen).toMatchObject({ toolError: true, reward: null, done: false })
      expect(seen.text).toContain(words)
      expect((await session.step({ name: 'echo', arguments: { message: 'on' } })).text).toBe('on')
    })

    it('a slow tool misses its deadline, and its socket is closed', async () => {
      const hasty = await (await connect(tools, { deadlines: { stepMs: 300 } })).open()
      await hasty.reset(start)
      expect((await failure(hasty.step({ name: 'dawdle', arguments: { seconds: 600 } }))).message).toContain('within 0.3 s')
      expect((await failure(hasty.step({ name: 'echo', arguments: { message: 'x' } }))).kind).toBe('environment')
      await hasty.close()
      await session.close()
    })
  })

  describe('error codes', () => {
    it('CAPACITY_REACHED: the limit is learnt, and who waits too long is told so', async () => {
      const environment = new OpenEnvEnvironment(small.url, { WebSocket, deadlines: { capacityMs: 2000, backoffMs: 50 } })
      // How soon the server frees the session before is its own affair.
      await vi.waitFor(() => environment.connect(), PATIENT)
      const other = await connect(small)
      const held = await other.open()
      const error = await failure(environment.open())
      expect(error.message).toMatch(/stayed full for 2 s: .*1\/1/)
      expect(environment.maxSessions).toBe(1)
      await held.close()
      await (await vi.waitFor(() => environment.open(), PATIENT)).close()
    })

    it('FACTORY_ERROR: an environment that cannot be built is told at once', async () => {
      let sockets = 0
      class Counted extends WebSocket {
        constructor(url: string) {
          super(url)
          sockets++
        }
      }
      const error = await failure(connect(broken, { WebSocket: Counted }))
      expect(error.message).toMatch(/could not build its environment: .*BrokenEnvironment.*[^.]\.$/)
      expect(sockets).toBe(1)
    })

    it.each([
      ['INVALID_JSON', '{nope'],
      ['UNKNOWN_TYPE', '{"type":"nope"}'],
      ['VALIDATION_ERROR', '{"type":"state","data":{}}'],
      ['VALIDATION_ERROR', '{"type":"step","data":{"message":""}}'],
      ['EXECUTION_ERROR', '{"type":"step","data":{"message":"!raise"}}'],
    ])('%s in answer to %s leaves the session open', async (code, frame) => {
      const answer = await raw(misbehave, frame)
      expect(answer).toMatchObject({ codes: [code], session: 'open' })
      expect(answer.error?.message.length).toBeGreaterThan(0)
    })

    it.each(['[1,2]', '"hi"', 'null', Buffer.from('{}')])('SESSION_ERROR in answer to %s ends the session', async (frame) => {
      const answer = await raw(misbehave, frame)
      expect(answer.codes.every((code) => code === 'SESSION_ERROR')).toBe(true)
      expect(answer.session).toBe('closed')
    })
  })
})
