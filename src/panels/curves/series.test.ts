import { describe, expect, it } from 'vitest'
import type { StepSummary } from '../../core/run-record'
import { reduce } from '../../store/reduce'
import { stepMessages } from '../../store/testing/script'
import { TokenLog } from '../../store/token-log'
import { EMPTY_RUN } from '../../store/view'
import { chosenSpecs, curveSpecs } from '../../ui/curve-specs'
import type { RunEvaluation } from '../../core/evaluation'
import { curvesCsv } from './curves-csv'
import { type DrawnRun, linesOf, nearest, placesOf, smooth, tellsTime, viewOf } from './series'

const messages = [stepMessages(1), stepMessages(2)].flat()
const { history } = messages.reduce((v, m) => reduce(v, m, new TokenLog(), 0), EMPTY_RUN)
const [first] = history
if (!first) throw new Error('no step')

const step = (step: number, metrics: StepSummary['metrics'], more: Partial<StepSummary> = {}): StepSummary => ({ ...first, step, rewardMin: null, rewardMax: null, metrics, ...more })
const run = (history: readonly StepSummary[], id = 'present'): DrawnRun => ({ id, name: id, short: id, color: 'red', dash: '', history })
const spec = (id: string, ...histories: (readonly StepSummary[])[]) => chosenSpecs(curveSpecs(histories), [id])[0] ?? expect.fail(id)
const plain = { axis: 'step', smoothing: 0, log: false, range: null } as const
const view = (id: string, runs: readonly DrawnRun[], options = {}) => viewOf(spec(id, ...runs.map(({ history }) => history)), runs, 0, { ...plain, ...options })

describe('places', () => {
  const two = [step(3, {}, { episodes: 8, seconds: { sampling: 1, training: 0.5 } }), step(4, {}, { episodes: 4, seconds: { sampling: 2, training: 0 } })]
  it('are steps, episodes so far or seconds so far', () => {
    expect([placesOf(two, 'step'), placesOf(two, 'episodes'), placesOf(two, 'time')]).toEqual([[3, 4], [8, 12], [1.5, 3.5]])
  })
  it('are no times where a run tells none', () => {
    expect([tellsTime([run(two)]), tellsTime([run(two), run([step(1, {}, { seconds: { sampling: 0, training: 0 } })])])]).toEqual([true, false])
  })
  it('are found by the nearest', () => {
    expect([-5, 1.4, 1.6, 99].map((x) => nearest([1, 2, 3], x))).toEqual([0, 0, 1, 2])
    expect(nearest([], 1)).toBe(-1)
  })
})

describe('smoothing', () => {
  it('is corrected for its start: a constant stays itself', () => {
    for (const value of smooth([5, 5, 5], 0.9)) expect(value).toBeCloseTo(5)
  })
  it('weighs what came before: 0.5 of 0 and 1 is a third and two thirds', () => {
    expect(smooth([0, 1], 0.5)[1]).toBeCloseTo(2 / 3)
  })
  it('leaves gaps and goes on after them', () => {
    expect(smooth([1, null, 1], 0.6)).toEqual([1, null, expect.closeTo(1)])
  })
  it('of 0 changes nothing', () => {
    expect(smooth([1, null, 3], 0)).toEqual([1, null, 3])
  })
  it('leaves what was measured in view as a second line', () => {
    const { rows } = view('loss', [run([step(1, { loss: 0 }), step(2, { loss: 1 })])], { smoothing: 0.5 })
    expect(rows.map(({ y, raw }) => [y[0], raw[0]])).toEqual([[0, 0], [expect.closeTo(2 / 3), 1]])
  })
})

describe('what a chart draws', () => {
  it('is a band for the reward, between its lowest and highest', () => {
    expect(view('reward', [run(history)]).rows.map(({ x, band }) => [x, band])).toEqual([[1, [0, 1]], [2, [0, 1]]])
    expect(view('entropy', [run(history)]).rows.every(({ band, y }) => band === null && (y[0] ?? 0) > 0)).toBe(true)
  })
  it('has a gap where nothing was measured, and marks a point that no line reaches', () => {
    const { rows } = view('kl', [run([step(1, { kl: 0.1 }), step(2, { kl: null }), step(3, { kl: 0.3 })])])
    expect(rows.map(({ y, lone }) => [y[0], lone])).toEqual([[0.1, [0]], [null, []], [0.3, [0]]])
  })
  it('has components of the reward where there are several', () => {
    const parts = [step(1, { reward: 3, 'rewards/form/mean': 1, 'rewards/answer/mean': 2 })]
    expect(linesOf(spec('reward', parts), [run(parts)], 0, plain).map(({ label }) => label)).toEqual(['reward', 'form', 'answer'])
    const one = [step(1, { reward: 3, 'rewards/lane/mean': 3 })]
    expect(linesOf(spec('reward', one), [run(one)], 0, plain)).toHaveLength(1)
  })
  it('lays runs over each other, each with its own steps and a straight line between them', () => {
    const other = [step(1, { reward: 1 }, { episodes: 4 }), step(2, { reward: 3 }, { episodes: 8 })]
    const own = [step(1, { reward: 0 }, { episodes: 8 }), step(2, { reward: 1 }, { episodes: 8 })]
    const { rows, lines } = view('reward', [run(own), run(other, 'other')], { axis: 'episodes' })
    expect(rows.map(({ x, y }) => [x, ...y])).toEqual([[4, null, 1], [8, 0, 2], [12, 0.5, 3], [16, 1, null]])
    expect(lines.map(({ label }) => label)).toEqual(['present', 'other'])
  })
  it('stacks the reasons that occurred, each as a share', () => {
    const steps = [step(1, { 'exit/env_done': 0.5, 'exit/turn_limit': 0.5, 'exit/answered': 0 })]
    const { lines, scale } = view('exit', [run(steps), run(steps, 'other')])
    expect(lines.map(({ label, run }) => [label, run])).toEqual([['env_done', 0], ['turn_limit', 0]])
    expect(scale.yTicks.at(-1)?.at).toBe(1)
  })
  it('keeps one point beyond each side of the range, so that lines run to the edge', () => {
    const steps = [1, 2, 3, 4, 5].map((n) => step(n, { reward: n }))
    const { rows, scale } = view('reward', [run(steps)], { range: [2.5, 3.5] })
    expect([rows.map(({ x }) => x), scale.x]).toEqual([[2, 3, 4], [2.5, 3.5]])
  })
  it('leaves 0 and less out of a logarithm, and counts them', () => {
    const steps = [step(1, { grad_norm: 0 }), step(2, { grad_norm: 0.01 }), step(3, { grad_norm: 1 })]
    const { rows, leftOut } = view('grad_norm', [run(steps)], { log: true })
    expect([rows.map(({ y }) => y[0]), leftOut]).toEqual([[null, -2, 0], 1])
    expect(view('exit', [run([step(1, { 'exit/env_done': 0 })])], { log: true }).leftOut).toBe(0)
  })
  it('can be any recorded number, and one that nobody records', () => {
    expect(view('my/own', [run([step(1, { 'my/own': -7 })])]).rows[0]?.y).toEqual([-7])
    expect(view('nothing', [run(history)]).lines[0]?.values).toEqual([null, null])
  })
  it('is the useful share of groups also for runs that were kept before it was a metric', () => {
    const groups = [true, false].map((signal, group) => ({ group, mean: 0, std: 0, unscorable: 0, signal }))
    expect(view('groups/useful', [run([step(1, {}, { groups })])]).rows[0]?.y).toEqual([0.5])
  })
})

describe('evaluations that the run made itself', () => {
  const evaluation = (step: number, solved: number): RunEvaluation => ({ step, split: 'heldout', solved, scorable: 10, reward: solved / 10, precision: 'float32', metrics: { eval_success: solved / 10, eval_reward: solved / 10, eval_reward_std: 0.5 } })
  const steps = [1, 2, 3, 4].map((n) => step(n, { success: 0.5, reward: 0.5, entropy: 1 }, { episodes: 8 }))
  const evaluated = { ...run(steps), evaluations: [evaluation(0, 1), evaluation(2, 5), evaluation(4, 10)] }
  const line = (id: string, options = {}) => {
    const seen = view(id, [evaluated], options)
    return { ...seen, line: seen.lines[1], i: 1 }
  }

  it('are points on their own places, from before the first step on, with intervals', () => {
    const { line: own, rows } = line('success')
    expect(own).toMatchObject({ label: 'held out', metric: 'eval_success', places: [0, 2, 4], values: [0.1, 0.5, 1] })
    expect(rows.map(({ x, y }) => [x, ...y])).toEqual([[0, null, 0.1], [1, 0.5, expect.closeTo(0.3)], [2, 0.5, 0.5], [3, 0.5, 0.75], [4, 0.5, 1]])
    expect(rows.map(({ whiskers }) => whiskers[1]?.map((end) => Number(end.toFixed(2))) ?? null)).toEqual([[0.02, 0.4], null, [0.24, 0.76], null, [0.72, 1]])
    // Where a point stands at an end, there is room for it.
    expect([line('success').scale.x, view('entropy', [evaluated]).scale.x]).toEqual([[expect.closeTo(-0.08), expect.closeTo(4.08)], [1, 4]])
    expect(line('reward').rows[2]?.whiskers[1]?.[0]).toBeCloseTo(0.5 - (1.96 * 0.5) / Math.sqrt(10), 3)
  })
  it('follow the axis, are not smoothed, and are no part of curves that nobody evaluated', () => {
    expect(line('success', { axis: 'episodes' }).line?.places).toEqual([0, 16, 32])
    expect(line('success', { smoothing: 0.9 }).line?.drawn).toEqual([0.1, 0.5, 1])
    expect(view('entropy', [evaluated]).lines).toHaveLength(1)
    expect(view('success', [run(steps)]).rows.every(({ x, whiskers }) => x > 0 && whiskers[0] === null)).toBe(true)
  })
  it('stand beside the steps in the CSV, the first before step 1', () => {
    const [head, ...lines] = curvesCsv([evaluated]).trim().split('\n').map((row) => row.split(','))
    const cells = (name: string) => lines.map((row) => row[head?.indexOf(name) ?? -1])
    expect([cells('step'), cells('eval_success'), cells('success')]).toEqual([['0', '1', '2', '3', '4'], ['0.1', '', '0.5', '', '1'], ['', '0.5', '0.5', '0.5', '0.5']])
  })
})
