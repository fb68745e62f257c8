import { expect, it } from 'vitest'
import { statistics } from './_frames'

it('counts frames: median, 95 %, longest, and the share under 50 ms', () => {
  const times = [...Array.from({ length: 19 }, () => 16), 60]
  expect(statistics(times)).toEqual({ count: 20, median: 16, p95: 60, longest: 60, under50: 0.95 })
  expect(statistics([])).toEqual({ count: 0, median: NaN, p95: NaN, longest: NaN, under50: NaN })
})
