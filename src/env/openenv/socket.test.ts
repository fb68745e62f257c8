/** The socket's promises: one request at a time, deadlines that close, no late or foreign reply is ever taken. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { describeError, isLasting, PlaygroundError } from '../../core/errors'
import { describeClose, SessionSocket } from './socket'
import { errorFrame, fakeServer, noMcp, observation, type Script } from './testing/fake-socket'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const reasonOf = (promise: Promise<unknown>): Promise<unknown> => promise.then(() => null, (error: unknown) => error)

async function failure(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => null,
    (e: unknown) => e,
  )
  expect(error).toBeInstanceOf(PlaygroundError)
  expect((error as PlaygroundError).kind).toBe('environment')
  return describeError(error)
}

function open(script: Script, host = 'example.org') {
  const { WebSocket, peers } = fakeServer(script)
  return { peers, socket: SessionSocket.open(`wss://${host}/ws`, { WebSocket, host, deadlineMs: 1000 }) }
}
const step = { type: 'step', data: { to: 'left' } } as const

describe('opening', () => {
  it('says what to do when nobody answers', async () => {
    expect(await failure(open({ onConnect: () => 'refuse' }, 'localhost:8000').socket)).toMatch(/broke off.*\(1006\).*8000.*7860/)
    expect(await failure(open({ onConnect: () => 'refuse' }, 'a-b.hf.space').socket)).toContain('may be asleep')
  })

  it('gives up after its deadline', async () => {
    const { socket, peers } = open({ onConnect: () => 'hang' })
    const failed = failure(socket)
    await vi.advanceTimersByTimeAsync(1000)
    expect(await failed).toContain('did not open within 1 s')
    expect(peers[0]?.left).toBe(true)
  })

  it('is given up when its caller says so, also beforehand', async () => {
    for (const early of [true, false]) {
      const stop = new AbortController()
      if (early) stop.abort()
      const { WebSocket, peers } = fakeServer({ onConnect: () => 'hang' })
      const opening = failure(SessionSocket.open('wss://h/ws', { WebSocket, host: 'h', deadlineMs: 1000, signal: stop.signal }))
      await vi.advanceTimersByTimeAsync(1)
      stop.abort()
      expect(await opening).toContain('the connecting was given up')
      expect([peers[0]?.left, vi.getTimerCount()]).toEqual([true, 0])
    }
  })

  it('a constructor that throws is told, too', async () => {
    class Throws {
      constructor() {
        throw new Error('SecurityError')
      }
    }
    const opening = SessionSocket.open('ws://x/ws', { WebSocket: Throws as never, host: 'x', deadlineMs: 10 })
    expect(await failure(opening)).toContain('refused to open')
  })
})

describe('requests', () => {
  it('are answered one by one', async () => {
    const { socket, peers } = open({ onFrame: (frame, peer) => peer.send(observation({ got: frame.data }, 1)) })
    const session = await socket
    expect(await session.request(step, 1000)).toMatchObject({ kind: 'observation', reward: 1, observation: { got: { to: 'left' } } })
    const first = session.request(step, 1000)
    expect(await failure(session.request(step, 1000))).toContain('another request')
    await vi.advanceTimersByTimeAsync(20)
    expect(await first).toMatchObject({ kind: 'observation' })
    expect(peers[0]?.received).toHaveLength(2)
  })

  it('a deadline closes the socket and the late reply is lost', async () => {
    let late: () => void = () => undefined
    const { socket, peers } = open({ onFrame: (_, peer) => (late = () => peer.send(observation({}, 1))) })
    const session = await socket
    const failed = failure(session.request(step, 1000))
    await vi.advanceTimersByTimeAsync(1000)
    expect(await failed).toContain('did not answer to step within 1 s')
    expect(peers[0]?.left).toBe(true)
    late()
    expect(await failure(session.request(step, 1000))).toContain('did not answer')
    expect(session.usable).toBe(false)
  })

  it.each([
    'INVALID_JSON',
    'UNKNOWN_TYPE',
    'VALIDATION_ERROR',
    'EXECUTION_ERROR',
    'FACTORY_ERROR',
    'SESSION_ERROR',
    'CAPACITY_REACHED',
    'SOMETHING_NEW',
  ])('%s is a reply', async (code) => {
    const session = await open({ onFrame: (_, peer) => peer.send(errorFrame(code, 'why')) }).socket
    expect(await session.request(step, 1000)).toMatchObject({ kind: 'error', code, message: 'why' })
  })

  it('CAPACITY_REACHED right after opening answers the first request; then nothing does', async () => {
    const { socket } = open({
      onConnect: (peer) => {
        queueMicrotask(() => {
          peer.send(errorFrame('CAPACITY_REACHED', 'full', { active_sessions: 2, max_sessions: 2 }))
          peer.hangUp(1000)
        })
        return 'accept'
      },
    })
    const session = await socket
    await vi.advanceTimersByTimeAsync(1)
    expect(await session.request(step, 1000)).toMatchObject({ code: 'CAPACITY_REACHED', maxSessions: 2 })
    expect(await failure(session.request(step, 1000))).toContain('(1000)')
  })

  it.each([[0, 'It had answered nothing yet'], [1, 'The episode is lost; the next one opens a new session']])('one that the server ends after %i answers says what to do', async (answers, words) => {
    let left = answers
    const session = await open({ onFrame: (_frame, peer) => (left-- > 0 ? peer.send(observation({}, 0)) : peer.hangUp(4999, 'no\u202Eyhw')) }).socket
    for (let i = 0; i < answers; i++) await reasonOf(session.request(step, 1000))
    const asked = failure(session.request(step, 1000))
    await vi.advanceTimersByTimeAsync(100)
    expect(await asked).toMatch(new RegExp(`ended: the connection was closed \\(4999: no yhw\\)\\. ${words}`))
  })

  it.each([
    ['a reply of another kind', () => noMcp, 'answered to step with an mcp. Update the server'],
    ['an array', () => [1], "not OpenEnv's"],
  ])('%s ends the session', async (_, reply, words) => {
    const session = await open({ onFrame: (_frame, peer) => peer.send(reply()) }).socket
    expect(await failure(session.request(step, 1000))).toContain(words)
    expect(session.usable).toBe(false)
  })

  it('binary ends the session, an unknown type is passed over', async () => {
    const binary = await open({ onFrame: (_, peer) => peer.sendRaw(new Uint8Array(2)) }).socket
    expect(await failure(binary.request(step, 1000))).toContain('binary')
    const newer = await open({
      onFrame: (_, peer) => {
        peer.send({ type: 'progress', data: 1 })
        peer.send(observation({}, 0.5))
      },
    }).socket
    expect(await newer.request(step, 1000)).toMatchObject({ reward: 0.5 })
  })

  it.each(['observation', 'VALIDATION_ERROR', 'SESSION_ERROR', 'CAPACITY_REACHED'])('a second reply (%s) to one request spoils the session', async (kind) => {
    const { socket, peers } = open({ onFrame: (_, peer) => peer.send(observation({}, 0)) })
    const session = await socket
    await session.request(step, 1000)
    peers[0]?.send(kind === 'observation' ? observation({}, 1) : errorFrame(kind))
    await vi.advanceTimersByTimeAsync(1)
    const words = kind === 'observation' ? 'nobody had asked for' : `reported ${kind} though nothing had been asked of it`
    expect(await failure(session.request(step, 1000))).toContain(words)
    expect([session.usable, peers[0]?.received.length]).toEqual([false, 1])
  })
})

describe('a fault of the protocol', () => {
  it.each([
    ['no number', { type: 'observation', data: { observation: {}, reward: '1.0' } }],
    ['no done', { type: 'observation', data: { observation: {}, done: 'yes' } }],
    ['no frame', [1]],
    ['another kind', noMcp],
  ])('would come again: %s', async (_, reply) => {
    const session = await open({ onFrame: (_frame, peer) => peer.send(reply) }).socket
    expect(isLasting(await reasonOf(session.request(step, 1000)))).toBe(true)
  })

  it('would come again: what nobody asked for; a lost connection may not', async () => {
    const { socket, peers } = open({ onFrame: (_, peer) => peer.send(observation({}, 0)) })
    const session = await socket
    await session.request(step, 1000)
    peers[0]?.send(observation({}, 1))
    await vi.advanceTimersByTimeAsync(1)
    expect(isLasting(await reasonOf(session.settle()))).toBe(true)
    const away = await open({ onFrame: (_, peer) => peer.hangUp(1006) }).socket
    expect(isLasting(await reasonOf(away.request(step, 1000)))).toBe(false)
  })
})

describe('a server that answers twice', () => {
  const twice = (after: number) =>
    open({
      onFrame: (_, peer) => {
        peer.send(observation({}, 1))
        setTimeout(() => peer.send(observation({}, 1)), after)
      },
    })

  it('is found out before its surplus could be taken for the answer to the next call', async () => {
    const { socket, peers } = twice(3)
    const session = await socket
    await session.request(step, 1000)
    const second = failure(session.request(step, 1000))
    await vi.advanceTimersByTimeAsync(20)
    expect(await second).toContain('sent an observation that nobody had asked for')
    expect(peers[0]?.received).toHaveLength(1)
  })

  it('is found out after the last call, before the episode is scored', async () => {
    const session = await twice(30).socket
    await session.request(step, 1000)
    const settled = failure(session.settle())
    await vi.advanceTimersByTimeAsync(50)
    expect(await settled).toContain('nobody had asked for')
  })

  it('also by the answer that its surplus has displaced', async () => {
    let asked = 0
    const { socket } = open({
      onFrame: (_, peer) => {
        const first = asked++ === 0
        setTimeout(() => peer.send(observation({}, first ? 1 : -1)), 100)
        if (first) setTimeout(() => peer.send(observation({}, 1)), 140)
      },
    })
    const session = await socket
    const play = async () => {
      await session.request(step, 1000)
      await session.request(step, 1000)
      await session.settle()
    }
    const played = failure(play())
    await vi.advanceTimersByTimeAsync(1000)
    expect(await played).toContain('nobody had asked for')
  })

  it('a server that hangs up after its last answer has answered all the same', async () => {
    const { socket, peers } = open({ onFrame: (_, peer) => peer.send(observation({}, 1, true)) })
    const session = await socket
    await session.request(step, 1000)
    peers[0]?.hangUp(1000)
    await vi.advanceTimersByTimeAsync(1)
    await session.settle()
    expect(session.usable).toBe(false)
  })
})

it('an observer sees every frame as it went over the wire, with its time', async () => {
  vi.setSystemTime(5000)
  const seen: unknown[] = []
  const { WebSocket } = fakeServer({
    onFrame: (frame, peer) => {
      if (frame.type === 'step') peer.sendRaw('{"type":"observation", "data":{"observation":{}}}')
    },
  })
  const session = await SessionSocket.open('wss://h/ws', { WebSocket, host: 'h', deadlineMs: 1000, onFrame: (...frame) => seen.push(frame) })
  await session.request(step, 1000)
  await session.close()
  expect(seen).toEqual([
    ['sent', '{"type":"step","data":{"to":"left"}}', 5000],
    ['received', '{"type":"observation", "data":{"observation":{}}}', 5000],
    ['sent', '{"type":"close"}', 5000],
  ])
})

describe('closing', () => {
  it.each([1000, 1001, 1006, 1009, 1011, 1012, 4321])('a close with %i while waiting is named', async (code) => {
    const session = await open({ onFrame: (_, peer) => peer.hangUp(code, 'because') }).socket
    const text = await failure(session.request(step, 1000))
    expect(text).toContain(describeClose(code, 'because'))
    expect(text).toContain(`(${code}: because)`)
  })

  it('says goodbye, fails what is under way, and does not wait for ever', async () => {
    const { socket, peers } = open({})
    const session = await socket
    const pending = failure(session.request(step, 1000))
    await session.close()
    expect(peers[0]?.received.at(-1)).toBe('{"type":"close"}')
    expect(await pending).toContain('was closed')
    await session.close()
    expect(vi.getTimerCount()).toBe(0)
  })
})
