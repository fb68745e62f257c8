import { describe, expect, it, vi } from 'vitest'
import { exclusive, loadOrt, ORT_VERSION } from './ort'

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe('exclusive', () => {
  it('does one thing at a time, in the order of the calls', async () => {
    const log: string[] = []
    let inside = 0
    const work = (name: string, ms: number) => async (): Promise<string> => {
      expect(++inside).toBe(1)
      await pause(ms)
      log.push(name)
      inside--
      return name
    }
    expect(await Promise.all([exclusive(work('a', 15)), exclusive(work('b', 1)), exclusive(work('c', 5))])).toEqual(['a', 'b', 'c'])
    expect(log).toEqual(['a', 'b', 'c'])
  })

  it('goes on after what failed', async () => {
    const failed = exclusive(() => Promise.reject(new Error('no')))
    const thrown = exclusive(() => {
      throw new Error('at once')
    })
    const after = exclusive(async () => 'yes')
    await expect(failed).rejects.toThrow('no')
    await expect(thrown).rejects.toThrow('at once')
    expect(await after).toBe('yes')
  })

  it('lets messages through while it is busy', async () => {
    let heard = false
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      heard = true
      port1.close()
    }
    port2.postMessage('pause')
    // Work that never leaves the microtask queue, as WASM runs do, a millisecond by its clock.
    let now = performance.now()
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => ++now)
    for (let i = 0; i < 200 && !heard; i++) await exclusive(async () => undefined)
    clock.mockRestore()
    expect(heard).toBe(true)
  })
})

it('is loaded once', async () => {
  expect(await loadOrt('wasm', 1)).toBe(await loadOrt('wasm', 1))
  const { common, web } = (await loadOrt('wasm', 1)).env.versions
  expect([common, web]).toEqual([ORT_VERSION, ORT_VERSION])
})
