/** Words become runs, runs become rows. */

import { describe, expect, it } from 'vitest'
import { countFrom, learnRow, selectLearnRuns, stepRows, usualSteps } from './_rows'

describe('selectLearnRuns', () => {
  const select = (...words: string[]) => selectLearnRuns(words, ['lane', 'catch'], [1, 2, 3])

  it.each([
    [[], ['lane', 'catch'], [1, 2, 3]],
    [['catch'], ['catch'], [1, 2, 3]],
    [['lane', '2'], ['lane'], [2]],
    [['7', '1', '7'], ['lane', 'catch'], [7, 1]],
  ])('reads %j', (words, presets, seeds) => {
    expect(select(...words)).toEqual({ presets, seeds })
  })

  it.each(['echo', 'seed', '-1'])('refuses %s', word => {
    expect(() => select(word)).toThrow(`learn has no row ${word}. Rows: lane, catch.`)
  })
})

describe('learnRow', () => {
  const before = { train: 0.375, heldOut: 0.3125, episodes: 256 }
  const after = { train: 0.984375, heldOut: 0.96875, episodes: 256 }

  it('keeps the rates apart: before and after, training and held-out', () => {
    expect(learnRow({ preset: 'lane', seed: 2, before, after, steps: 50, seconds: 61.26 })).toEqual({
      bench: 'learn',
      row: 'lane',
      seed: 2,
      before: 0.375,
      after: 0.984375,
      heldOutBefore: 0.3125,
      heldOutAfter: 0.96875,
      steps: 50,
      seconds: 61.3,
    })
  })

  it('refuses a run without held-out scenarios', () => {
    const run = { preset: 'lane' as const, seed: 1, before, after: { ...after, heldOut: null }, steps: 1, seconds: 1 }
    expect(() => learnRow(run)).toThrow('no held-out scenarios')
  })
})

describe('stepRows', () => {
  it('gives medians and ranges of the whole and of its two parts', () => {
    const steps = [
      { sampling: 2, training: 4 },
      { sampling: 1, training: 3 },
      { sampling: 6, training: 1 },
      { sampling: 3, training: 2 },
    ]
    expect(stepRows('catch', steps)).toEqual([
      { bench: 'step', row: 'catch', value: 5.5, unit: 's', spread: [4, 7] },
      { bench: 'step', row: 'catch/sampling', value: 2.5, unit: 's', spread: [1, 6] },
      { bench: 'step', row: 'catch/training', value: 2.5, unit: 's', spread: [1, 4] },
    ])
    expect(stepRows('lane', steps.slice(0, 3))[1]?.value).toBe(2)
  })

  it('refuses to make up a number', () => {
    expect(() => stepRows('lane', [])).toThrow('No step of lane was measured.')
  })
})

it('reads counts for a short trial, and nothing else', () => {
  expect(countFrom({}, 'N', 256)).toBe(256)
  expect(countFrom({ N: '8' }, 'N', 256)).toBe(8)
  for (const N of ['0', '-1', '8.5', 'many']) expect(() => countFrom({ N }, 'N', 256)).toThrow('N must be a whole number')
  expect(usualSteps('lane')).toBeGreaterThan(1)
})
