import { describe, expect, it } from 'vitest'
import { Heap } from './heap'
import { Scratch } from './scratch'
import { ALONE, share } from './team'

describe('places', () => {
  it('do not overlap, are given again once free, and neighbours become one', () => {
    const heap = Heap.make(1)
    const [a, b, c] = [heap.allocate(100), heap.allocate(200), heap.allocate(50)]
    expect(b - a).toBeGreaterThanOrEqual(400)
    expect(c - b).toBeGreaterThanOrEqual(800)
    heap.release(a, b)
    expect(heap.allocate(290)).toBe(a)
    expect(() => heap.release(b)).toThrow('Nothing was allocated')
    const used = heap.allocatedBytes
    Scratch.during(heap, (scratch) => expect(scratch.rows(7, 9).at).toBeGreaterThan(0))
    expect(heap.allocatedBytes).toBe(used)
  })

  it('keep what was written when the memory grows', () => {
    const heap = Heap.make(1)
    const at = heap.put([1, 2, 3])
    heap.allocate(4_000_000)
    expect([...heap.floats(at, 3)]).toEqual([1, 2, 3])
  })

  it('that the browser refuses are said in words', () => {
    const heap = Heap.make(1)
    expect(() => heap.allocate(600_000_000)).toThrow(/asked for 240\d MB/)
    expect(heap.floats(heap.put([5]), 1)[0]).toBe(5)
  })

  it('may be read three wide rows past their end', () => {
    const heap = Heap.make(1)
    const rows = 4096
    const [q, k, out] = [heap.put(new Float32Array(8)), heap.allocate(rows), heap.allocate(8)]
    expect(() => heap.kernels.scores(q, k, 4 * rows, out, 1, 8, 1)).not.toThrow()
  })

  it('are given back when the work fails', () => {
    const heap = Heap.make(1)
    const fail = (): void => Scratch.during(heap, (scratch) => {
      scratch.floats([1])
      throw new Error('stopped')
    })
    expect(fail).toThrow('stopped')
    expect(heap.allocatedBytes).toBe(0)
  })
})

it('shares cover everything once, in whole steps', () => {
  expect(share(ALONE, 10)).toEqual([0, 10])
  for (const [count, step, threads] of [[10, 4, 2], [3, 4, 2], [1, 1, 4], [17, 8, 3]] as const) {
    const parts = Array.from({ length: threads }, (_, index) => share({ ...ALONE, threads, index }, count, step))
    expect(parts[0]?.[0]).toBe(0)
    expect(parts[threads - 1]?.[1]).toBe(count)
    parts.forEach(([from, to], i) => {
      expect(from % step === 0 || from === count).toBe(true)
      expect(to).toBeGreaterThanOrEqual(from)
      if (i > 0) expect(from).toBe(parts[i - 1]?.[1])
    })
  }
})
