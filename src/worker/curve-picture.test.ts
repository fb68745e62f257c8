/** What of a run's reward is drawn. The picture itself is looked at in Chromium, with the publication. */

import { describe, expect, it } from 'vitest'
import { sampleHistory } from '../hub/testing/episodes'
import { curvePicture, curvePoints } from './curve-picture'

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
