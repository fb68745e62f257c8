import { describe, expect, it } from 'vitest'
import { changeMember, memberNames, memberOf, readWeight, shares, startMix, withMember, withoutMember } from './mix'

const LANE = { kind: 'builtin', name: 'lane' } as const
const CATCH = { kind: 'builtin', name: 'catch' } as const
const SERVER = { kind: 'openenv', url: 'openenv/echo_env' } as const
const weighed = (...weights: number[]) => weights.map((weight) => ({ weight }))

describe('several environments as a person puts them together', () => {
  it('begin with the present one', () => {
    const names = (spec: Parameters<typeof startMix>[0]) => startMix(spec).members.map(({ environment }) => environment)
    expect(names(LANE)).toEqual([LANE, CATCH])
    expect(names(CATCH)).toEqual([CATCH, LANE])
    expect(names(SERVER)).toEqual([SERVER, LANE])
    expect(startMix(startMix(LANE))).toEqual(startMix(LANE))
  })

  it('have shares that sum to a hundred', () => {
    expect(shares(weighed(1, 1))).toEqual([50, 50])
    expect(shares(weighed(1, 1, 1))).toEqual([34, 33, 33])
    expect(shares(weighed(0.5, 2.5, 3))).toEqual([8, 42, 50])
    expect(shares(weighed(7))).toEqual([100])
  })

  it('take only weights above 0', () => {
    expect(['2', ' 0.5 ', '1,5', '0', '-1', '', 'x', '1e9', 'Infinity'].map(readWeight)).toEqual([2, 0.5, 1.5, null, null, null, null, null, null])
  })

  it('change one by one, and two of one name are told apart', () => {
    const two = withMember(withMember({ kind: 'mix', members: [memberOf(LANE)], dataset: null }, LANE), SERVER)
    expect(memberNames(two.members)).toEqual(['lane', 'lane_2', 'openenv/echo_env'])
    const changed = changeMember(two, 1, { weight: 3 })
    expect(changed.members.map(({ weight }) => weight)).toEqual([1, 3, 1])
    expect(withoutMember(changed, 0).members.map(({ weight }) => weight)).toEqual([3, 1])
  })
})
