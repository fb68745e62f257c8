import { describe, expect, it } from 'vitest'
import type { StepView } from '../../store/view'
import { axisOf, rewardParts, spanOf, stackParts } from './axis'

const answer = (turn: number, reward: number | null) => ({ turn, reward, done: false, ms: 1 })
const step = (...rewards: (number | null)[]) => ({ episodes: rewards.map((reward) => ({ reward, answers: [] })) }) as unknown as StepView

describe('the axis of rewards', () => {
  it('has zero on it, and both ends', () => {
    expect(axisOf(step(0.2, 1, null))).toMatchObject({ low: 0, high: 1 })
    expect(axisOf(step(-1, -3))).toMatchObject({ low: -3, high: 0 })
    const axis = axisOf(step(-1, 3))
    expect([axis.at(-1), axis.at(0), axis.at(3)]).toEqual([0, 25, 100])
  })
  it('stands when every reward is 0', () => {
    expect(axisOf(step(0, 0)).at(0)).toBe(0)
  })
  it('draws a negative reward to the left of zero', () => {
    const axis = axisOf(step(-1, 3))
    expect(spanOf(axis, 0, -1)).toEqual({ left: '0%', width: '25%' })
    expect(spanOf(axis, 0, 3)).toEqual({ left: '25%', width: '75%' })
  })
})

describe('the pieces of a reward', () => {
  it('are what each turn brought, if they add up to it', () => {
    expect(rewardParts({ reward: 0.9, answers: [answer(0, 0.2), answer(1, -0.3), answer(2, 1)] })).toHaveLength(3)
    expect(rewardParts({ reward: 1, answers: [answer(0, 0.2), answer(1, 1)] })).toEqual([])
    expect(rewardParts({ reward: 1, answers: [answer(0, null), answer(1, 0), answer(2, 1)] })).toEqual([])
    expect(rewardParts({ reward: null, answers: [answer(0, 0.2), answer(1, 1)] })).toEqual([])
  })
  it('go on from each other, gains to the right and losses to the left', () => {
    expect(stackParts([{ reward: 2 }, { reward: -1 }, { reward: 0 }, { reward: 1 }])).toEqual([{ from: 0, to: 2 }, { from: 0, to: -1 }, { from: 2, to: 3 }])
    const mixed = { episodes: [{ reward: 1, answers: [answer(0, 3), answer(1, -2)] }] } as unknown as StepView
    expect(axisOf(mixed)).toMatchObject({ low: -2, high: 3 })
  })
})
