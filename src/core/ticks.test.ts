import { describe, expect, it } from 'vitest'
import { ticks } from './ticks'

describe('ticks', () => {
  it.each<[number, number, number[]]>([
    [0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [-1, 1, [-1, -0.5, 0, 0.5, 1]],
    [0.13, 0.87, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [1, 50, [0, 10, 20, 30, 40, 50]],
    [-3000, 12, [-3000, -2000, -1000, 0, 1000]],
    [2, 2, [2]],
  ])('from %d to %d are round and cover both ends', (low, high, expected) => {
    expect(ticks(low, high)).toEqual(expected)
  })
})
