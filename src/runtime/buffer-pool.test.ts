import { describe, expect, it } from 'vitest'
import { BufferPool } from './buffer-pool'

describe('BufferPool', () => {
  it('rounds up to buckets, and above the largest to 16 bytes', () => {
    const pool = new BufferPool()
    expect([1, 64, 65, 9_000_000, 200_000_001].map((bytes) => pool.take(bytes))).toEqual([64, 64, 128, 12_582_912, 200_000_016])
    expect(pool.largest).toBe(200_000_016)
  })

  it('uses what was given back again, but only after a flush', () => {
    const pool = new BufferPool()
    pool.give(pool.take(100))
    pool.take(100)
    expect(pool.total).toBe(256)
    pool.flush()
    pool.take(128)
    expect(pool.total).toBe(256)
  })

  it('flushes by itself every 16 dispatches', () => {
    const pool = new BufferPool()
    pool.give(pool.take(100))
    for (let i = 0; i < 15; i++) pool.dispatch()
    const second = pool.take(100)
    expect(pool.total).toBe(256)
    pool.give(second)
    pool.dispatch()
    expect([pool.take(100), pool.take(100), pool.total]).toEqual([128, 128, 256])
  })

  it('keeps no more than a bucket’s limit, and nothing above the largest', () => {
    const pool = new BufferPool()
    const sizes = [1, 2, 3].map(() => pool.take(40_000_000))
    pool.take(300_000_000)
    expect(pool.total).toBe(3 * 44_236_800 + 300_000_000)
    for (const size of [...sizes, 300_000_000]) pool.give(size)
    pool.flush()
    expect(pool.total).toBe(2 * 44_236_800)
  })
})
