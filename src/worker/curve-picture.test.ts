/** What of a run's reward is drawn. The picture itself is looked at in Chromium, with the publication. */

import { describe, expect, it } from 'vitest'
import { sampleHistory } from '../hub/testing/episodes'
import { curvePicture, curvePoints, ticks } from './curve-picture'

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

describe('points', () => {
  it('are the steps that have a mean, with their band', () => {
    const [first, second] = sampleHistory()
    if (!first || !second) throw new Error('two steps')
    const unscored = { ...second, metrics: { reward: null } }
    expect(curvePoints([first, unscored])).toEqual([{ step: 1, mean: 1 / 3, low: 0, high: 1 }])
    expect(curvePoints([{ ...first, rewardMin: null, rewardMax: null }])).toEqual([{ step: 1, mean: 1 / 3, low: 1 / 3, high: 1 / 3 }])
  })
})

it('there is no picture of nothing, nor where nothing can be drawn', async () => {
  expect(await curvePicture([])).toBeNull()
  expect(await curvePicture(sampleHistory())).toBeNull()
})
