import { describe, expect, it, vi } from 'vitest'
import { connectEngine } from './client'
import type { Message } from './protocol'

/** The parts of a Worker that the client uses. */
function fakeWorker() {
  const posted: unknown[] = []
  const worker = { posted, postMessage: (m: unknown) => posted.push(m), terminate: () => posted.push('terminated') }
  return worker as typeof worker & Partial<Pick<Worker, 'onmessage' | 'onerror' | 'onmessageerror'>>
}

describe('engine client', () => {
  it('passes commands and messages on', () => {
    const worker = fakeWorker()
    const client = connectEngine(worker as unknown as Worker)
    const heard: Message[] = []
    client.onMessage((m) => heard.push(m))
    client.send({ type: 'train' })
    worker.onmessage?.call(worker as unknown as Worker, { data: [{ type: 'cleared' }, { type: 'state', state: { state: 'ready' } }] } as MessageEvent)
    expect([worker.posted, heard]).toEqual([[{ type: 'train' }], [{ type: 'cleared' }, { type: 'state', state: { state: 'ready' } }]])
  })

  it('lets no listener that fails cost the others a message, and still tells of the failure', () => {
    const told: (() => void)[] = []
    const microtasks = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((callback) => void told.push(callback))
    const worker = fakeWorker()
    const client = connectEngine(worker as unknown as Worker)
    const heard: string[] = []
    client.onMessage(({ type }) => {
      if (type === 'cleared') throw new Error('Not drawn.')
    })
    client.onMessage(({ type }) => heard.push(type))
    worker.onmessage?.call(worker as unknown as Worker, { data: [{ type: 'cleared' }, { type: 'state', state: { state: 'ready' } }] } as MessageEvent)
    microtasks.mockRestore()
    expect(heard).toEqual(['cleared', 'state'])
    expect(told).toHaveLength(1)
    expect(told[0]).toThrow('Not drawn.')
  })

  it('turns a dead worker into a failed state with advice', () => {
    const worker = fakeWorker()
    const client = connectEngine(worker as unknown as Worker)
    const heard: Message[] = []
    client.onMessage((m) => heard.push(m))
    worker.onerror?.call(worker as unknown as Worker, { message: 'out of memory' } as ErrorEvent)
    expect(heard).toHaveLength(1)
    expect(heard[0]).toMatchObject({
      type: 'state',
      state: { state: 'failed', recoverable: false, error: expect.stringContaining('out of memory') },
    })
  })
})
