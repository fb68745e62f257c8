/** Advantages against values that TRL's own code printed. */
import { describe, expect, it } from 'vitest'
import { advantages, advantagesByFunction, groupStatistics } from './advantages'
import { standardDeviation } from './statistics'

const close = (actual: Float64Array, expected: number[], digits = 4) => {
  expect(actual.length).toBe(expected.length)
  expected.forEach((value, i) => expect(actual[i]).toBeCloseTo(value, digits))
}

describe('advantages', () => {
  it('equals TRL on its checked groups', () => {
    close(advantages([1, 0], 2, 'group'), [0.707, -0.707])
    close(advantages([1, 0, 0, 0], 4, 'group'), [1.4997, -0.4999, -0.4999, -0.4999])
    close(advantages([1, 0, 0, 0, 0, 0, 0, 0], 8, 'group'), [2.474, ...Array<number>(7).fill(-0.3535)], 3)
    close(advantages([0.2, 0.5, 0.9, 0.4], 4, 'group'), [-1.0187, 0, 1.3583, -0.3396])
  })

  it('normalises each group by its own mean', () => {
    const both = advantages([1, 0, 11, 10], 2, 'group')
    expect(both[0]).toBeCloseTo(both[2] as number, 12)
    close(both, [0.707, -0.707, 0.707, -0.707])
  })

  it("divides by the step's deviation with 'batch', keeping the group's mean", () => {
    const rewards = [1, 0, 5, 2]
    const std = standardDeviation(rewards) as number
    close(advantages(rewards, 2, 'batch'), [0.5, -0.5, 1.5, -1.5].map((x) => x / (std + 1e-4)), 12)
  })

  it("does not divide with 'none'", () => {
    close(advantages([1, 0, 5, 2], 2, 'none'), [0.5, -0.5, 1.5, -1.5], 12)
  })

  it('leaves unscorable episodes out of mean and deviation and gives them 0', () => {
    const withHole = advantages([1, null, 0, 0], 4, 'group')
    const without = advantages([1, 0, 0], 3, 'group')
    close(withHole, [without[0] as number, 0, without[1] as number, without[2] as number], 12)
  })

  it('gives 0 to a group with one scorable member or none', () => {
    for (const scale of ['group', 'batch', 'none'] as const) {
      close(advantages([3, null, null, null, 1, 0], 2, scale).subarray(0, 4), [0, 0, 0, 0], 15)
    }
  })

  it('gives exactly 0 to equal rewards, also where their mean is not representable', () => {
    for (const scale of ['group', 'batch', 'none'] as const) {
      expect([...advantages([0.1, 0.1, 0.1], 3, scale)]).toEqual([0, 0, 0])
    }
  })

  it('refuses rewards that do not divide into groups', () => {
    expect(() => advantages([1, 2, 3], 2, 'group')).toThrow('3 rewards do not divide into groups of 2')
  })
})

describe('advantagesByFunction', () => {
  const eight = (...groups: number[]): number[] => groups.flatMap((reward) => Array<number>(8).fill(reward))

  it('is exactly 0 where every function gives a group one reward, however that is rounded', () => {
    // The mean of eight times 0.1 is not 0.1, and that of eight times 0.7 not 0.7.
    expect([...advantagesByFunction([eight(0.1, 0.7), eight(0.3, 0.3)], [1, 1], 8)]).toEqual(eight(0, 0))
    const beside = [...eight(0.1), 0, 0, 0, 1, 1, 1, 1, 1]
    const [silent, useful] = [0, 8].map((from) => [...advantagesByFunction([beside], [1], 8)].slice(from, from + 8)) as [number[], number[]]
    expect(silent).toEqual(eight(0))
    expect(useful.every((advantage) => Math.abs(advantage) > 0.5)).toBe(true)
  })
})

describe('groupStatistics', () => {
  it('says mean, deviation, holes and signal per group', () => {
    const [first, second, third] = groupStatistics([1, 0, null, 2, 2, 2, null, null, 4], 3)
    expect(first).toEqual({ group: 0, mean: 0.5, std: Math.SQRT1_2, unscorable: 1, signal: true })
    expect(second).toEqual({ group: 1, mean: 2, std: 0, unscorable: 0, signal: false })
    expect(third).toEqual({ group: 2, mean: 4, std: null, unscorable: 2, signal: false })
  })
})
