import { describe, expect, it } from 'vitest'
import { hash, RandomStream, uniform } from './random'

it('a draw is a function of its keys, their order and their number', () => {
  expect(uniform(1, 2, 3)).toBe(uniform(1, 2, 3))
  expect(new Set([hash(1, 2), hash(2, 1), hash(1, 2, 0), hash(1), hash(0, 1)]).size).toBe(5)
  const draws = Array.from({ length: 4000 }, (_, i) => uniform(7, i))
  expect(Math.min(...draws)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...draws)).toBeLessThan(1)
  expect(draws.reduce((a, b) => a + b, 0) / draws.length).toBeCloseTo(0.5, 1)
})

describe('a stream', () => {
  it('gives the same numbers from the same keys, one after the other', () => {
    const [a, b] = [new RandomStream(3, 4), new RandomStream(3, 4)]
    expect(Array.from({ length: 5 }, () => a.next())).toEqual(Array.from({ length: 5 }, () => b.next()))
    expect(new RandomStream(3, 5).next()).not.toBe(new RandomStream(3, 4).next())
  })

  it('draws whole numbers below n, normal numbers, and shuffles without losing one', () => {
    const random = new RandomStream(9)
    expect(new Set(Array.from({ length: 200 }, () => random.int(4)))).toEqual(new Set([0, 1, 2, 3]))
    const normal = Array.from({ length: 4000 }, () => random.normal())
    expect(Math.abs(normal.reduce((a, b) => a + b, 0) / 4000)).toBeLessThan(0.1)
    expect(normal.reduce((a, b) => a + b * b, 0) / 4000).toBeCloseTo(1, 0)
    const items = Array.from({ length: 30 }, (_, i) => i)
    const shuffled = random.shuffle(items)
    expect(shuffled).not.toEqual(items)
    expect([...shuffled].sort((x, y) => x - y)).toEqual(items)
    expect(() => random.pick([])).toThrow('the list is empty')
  })
})
