/** Waiting: cut short by an abort, held up by a closed gate. */

import { afterEach, describe, expect, it, vi } from 'vitest'
import { sleep, waitAtGate, waitThroughGate } from './sleep'

const never = () => new Promise<void>(() => undefined)
const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  let is = false
  void promise.then(() => (is = true))
  await sleep(5)
  return is
}

describe('waitAtGate', () => {
  it('waits for the gate and for nothing else', async () => {
    expect(await settled(waitAtGate(undefined, undefined))).toBe(true)
    expect(await settled(waitAtGate(() => Promise.resolve(), undefined))).toBe(true)
    expect(await settled(waitAtGate(never, undefined))).toBe(false)
  })

  it('is left by an abort, and not even entered after one', async () => {
    const stop = new AbortController()
    const waiting = waitAtGate(never, stop.signal)
    expect(await settled(waiting)).toBe(false)
    stop.abort()
    await waiting
    let asked = 0
    await waitAtGate(() => Promise.resolve(void asked++), stop.signal)
    expect(asked).toBe(0)
  })
})

describe('waitThroughGate', () => {
  afterEach(() => void vi.useRealTimers())

  it('asks the gate while it waits, and returns with the event, not with the next look at the gate', async () => {
    vi.useFakeTimers()
    let asked = 0
    let over = false
    void waitThroughGate(sleep(230), () => Promise.resolve(void asked++), undefined).then(() => (over = true))
    await vi.advanceTimersByTimeAsync(229)
    expect([asked, over]).toEqual([3, false])
    await vi.advanceTimersByTimeAsync(1)
    expect([asked, over]).toEqual([3, true])
  })

  it('stays at a closed gate although the event has come, and goes on when it opens', async () => {
    let open = (): void => undefined
    const closed = new Promise<void>((resolve) => (open = resolve))
    const waiting = waitThroughGate(sleep(1), () => closed, undefined)
    await sleep(20)
    expect(await settled(waiting)).toBe(false)
    open()
    expect(await settled(waiting)).toBe(true)
  })

  it('ends with an abort, at the gate or before the event; a failed event fails', async () => {
    for (const gate of [never, () => Promise.resolve()]) {
      const stop = new AbortController()
      const waiting = waitThroughGate(never(), gate, stop.signal)
      expect(await settled(waiting)).toBe(false)
      stop.abort()
      expect(await settled(waiting)).toBe(true)
    }
    await expect(waitThroughGate(Promise.reject(new Error('lost')), undefined, undefined)).rejects.toThrow('lost')
  })
})
