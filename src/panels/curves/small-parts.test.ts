import { describe, expect, it } from 'vitest'
import { restoredMessage } from '../../store/testing/kept'
import { LANE } from '../../store/testing/script'
import { curveSpecs } from '../../ui/curve-specs'
import { configDifferences } from './config-differences'
import { matches } from './CurveChoice'
import { curvesCsv } from './curves-csv'
import { readRange } from './focus-store'
import { moveByKey } from './move'
import { spreadLabels } from './plot'

it('labels are moved apart, keep their order and stay in the plot', () => {
  expect(spreadLabels([0.5, 0.9], 0.1)).toEqual([0.5, 0.9])
  const moved = spreadLabels([1, 0.98, 0.99], 0.1)
  expect(moved.map((at) => Number(at.toFixed(2)))).toEqual([1, 0.8, 0.9])
  expect(spreadLabels([0, 0], 0.1)).toEqual([0, 0.1])
})

it('keys lead along a curve and not beyond it', () => {
  expect(['ArrowRight', 'ArrowLeft', 'PageDown', 'Home', 'End', 'x'].map((key) => moveByKey(key, 1, 30))).toEqual([2, 0, 0, 0, 30, null])
  expect(moveByKey('ArrowRight', 30, 30)).toBe(30)
})

it('a range is two numbers, the first below the second; an empty field is the end', () => {
  expect([readRange('2', '5', [1, 9]), readRange('', '5', [1, 9]), readRange('4', '', [1, 9])]).toEqual([[2, 5], [1, 5], [4, 9]])
  expect([readRange('5', '2', [1, 9]), readRange('a', '2', [1, 9]), readRange('3', '3', [1, 9])]).toEqual([null, null, null])
  expect(readRange('1,5', '2,5', [1, 9])).toEqual([1.5, 2.5])
})

it('a metric is found by any part of its name or label', () => {
  const found = (text: string) => curveSpecs([]).filter((spec) => matches(spec, text)).map(({ id }) => id)
  expect(found('turn_limit')).toEqual(['exit'])
  expect(found('Completion length')).toContain('completions/mean_length')
  expect(found('no such')).toEqual([])
})

describe('settings that differ', () => {
  it('are told with the other value first', () => {
    const other = { ...LANE, grpo: { ...LANE.grpo, learning_rate: 3e-4, seed: LANE.grpo.seed + 1 }, precision: 'int8' as const }
    expect(configDifferences({ ...LANE, grpo: { ...LANE.grpo, learning_rate: 1e-3 } }, other)).toEqual([
      'precision int8 against float32',
      `seed ${LANE.grpo.seed + 1} against ${LANE.grpo.seed}`,
      'learning_rate 0.0003 against 0.001',
    ])
  })
  it('are none of two equal runs, and only named where they are long', () => {
    expect(configDifferences(LANE, structuredClone(LANE))).toEqual([])
    expect(configDifferences(LANE, { ...LANE, user_prompt: 'Drive.' })).toEqual(['other prompts'])
  })
})

it('the CSV has a line for every step of every run, with all metrics of any of them', () => {
  const { history } = restoredMessage(2)
  const own = history.map((step) => ({ ...step, metrics: { ...step.metrics, extra: null } }))
  const lines = curvesCsv([{ name: 'this run', history: own }, { name: 'a, b', history }]).trimEnd().split('\n')
  expect(lines).toHaveLength(5)
  const names = lines[0]?.split(',') ?? []
  expect(names.slice(0, 2)).toEqual(['run', 'step'])
  expect(names).toEqual(expect.arrayContaining(['reward', 'extra', 'reward_min', 'seconds_training']))
  expect(lines[4]?.startsWith('"a, b",2,')).toBe(true)
  expect(Number(lines[1]?.split(',')[names.indexOf('reward')])).toBe(history[0]?.metrics['reward'])
})
