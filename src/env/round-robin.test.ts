import { describe, expect, it } from 'vitest'
import { RoundRobin } from './round-robin'

const turns = (weights: number[], n: number) => {
  const robin = new RoundRobin(weights)
  return Array.from({ length: n }, (_, prompt) => robin.turn(prompt).member)
}
const countsOf = (members: readonly number[], of: number) => Array.from({ length: of }, (_, i) => members.filter((m) => m === i).length)

describe('whose turn a prompt is', () => {
  it.each([[[1, 1]], [[3, 1]], [[5, 2, 1]], [[7]], [[1, 4, 4, 2]]])('with weights %j every window has the exact shares', (weights) => {
    const total = weights.reduce((a, b) => a + b)
    const order = turns(weights, total * 5)
    for (let start = 0; start + total <= order.length; start++) expect(countsOf(order.slice(start, start + total), weights.length)).toEqual(weights)
  })

  it('spreads turns out instead of playing one after the other', () => {
    expect(turns([1, 1], 4)).toEqual([0, 1, 0, 1])
    expect(turns([3, 1], 8)).toEqual([0, 0, 1, 0, 0, 0, 1, 0])
  })

  it('with other weights no member is ever off its share by a whole turn', () => {
    const weights = [0.7, 0.3]
    const order = turns(weights, 2000)
    for (let n = 1; n <= order.length; n++) {
      const [first = 0] = countsOf(order.slice(0, n), 2)
      expect(Math.abs(first - 0.7 * n)).toBeLessThan(1)
    }
  })

  it('is a function of the number alone, asked in any order, and counts each member’s prompts', () => {
    const [forwards, backwards] = [new RoundRobin([2, 1]), new RoundRobin([2, 1])]
    const numbers = Array.from({ length: 50 }, (_, i) => i)
    expect([...numbers].reverse().map((n) => backwards.turn(n)).reverse()).toEqual(numbers.map((n) => forwards.turn(n)))
    expect(numbers.slice(0, 6).map((n) => forwards.turn(n))).toEqual([
      { member: 0, rank: 0 },
      { member: 1, rank: 0 },
      { member: 0, rank: 1 },
      { member: 0, rank: 2 },
      { member: 1, rank: 1 },
      { member: 0, rank: 3 },
    ])
  })

  it('draws by seed in about the same shares where there is no number', () => {
    const robin = new RoundRobin([3, 1])
    const drawn = Array.from({ length: 2000 }, (_, seed) => robin.drawn(seed))
    expect(drawn.filter((member) => member === 1).length / 2000).toBeCloseTo(0.25, 1)
    expect(robin.drawn(7)).toBe(new RoundRobin([3, 1]).drawn(7))
  })
})
