import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { TrainEvent } from '../core/events'
import { SlowResets } from './slow-reset'

const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function open() {
  const texts: (string | null)[] = []
  const slow = new SlowResets((event: TrainEvent) => event.type === 'environment-away' && texts.push(event.text), 20)
  return { slow, texts }
}

describe('resets that are not answered', () => {
  it('are told once, and no more when all are answered', async () => {
    const { slow, texts } = open()
    const answers = [80, 90].map((ms) => slow.watch('Shop', rest(ms).then(() => ms)))
    await vi.advanceTimersByTimeAsync(50)
    expect(texts).toEqual(['Shop has not answered to reset for 0.02 s'])
    await vi.advanceTimersByTimeAsync(35)
    expect(texts).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(5)
    expect(await Promise.all(answers)).toEqual([80, 90])
    expect(texts).toEqual(['Shop has not answered to reset for 0.02 s', null])
  })

  it('are not told where the answer comes soon or fails, nor after the end', async () => {
    const { slow, texts } = open()
    expect(await slow.watch('Shop', Promise.resolve(1))).toBe(1)
    await expect(slow.watch('Shop', Promise.reject(new Error('no')))).rejects.toThrow('no')
    void slow.watch('Shop', new Promise(() => undefined))
    slow.end()
    await vi.advanceTimersByTimeAsync(40)
    expect(texts).toEqual([])
  })
})
